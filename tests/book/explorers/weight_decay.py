"""A trained network by weight decay: what the page shows of the stored result, put together again."""

import numpy as np

from chapters.kit.stored import stored

PAGES = ["notebooks/your_trained_network"]
TOLERANCE = 1e-9  # the numbers of the page themselves; what they are worth is tested with the experiment
POINT = (0.12, 0.85)  # within the courses at either width
PLACES = [(0, 0), (8, 0), (7, 1), (6, 2), (1, 2), (2, 1), (4, 0), (5, 1), (8, 2)]
STATES = [{}, *({"at": at, "start": start} for at, start in PLACES)]


def expected(state):
    content = stored("weight_decays")["values"]
    run = content["starts"][state["start"]]
    seen, pixels = run[state["at"]], np.array(run[state["at"]]["pixels"])
    others = [each[state["at"]]["pixels"] for i, each in enumerate(content["starts"]) if i != state["start"]]
    return {
        **{name: seen[name] for name in ("total", "tests", "training", "pixels")},
        "losses": list(seen["losses"].values()),
        "linear": pixels.sum(),
        "others": [np.corrcoef(pixels, each)[0, 1] for each in others],
        "usual": np.corrcoef(pixels, run[content["decays"].index(1.0)]["pixels"])[0, 1],
        "most": np.ravel(seen["most"]),
        "least": np.ravel(seen["least"]),
    }
