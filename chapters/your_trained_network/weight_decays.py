"""The chapter's network at one weight decay after another: how much it uses, where, and what it reads.

From the weakest decay to the strongest, each optimum is the start of the next: the other way round a network that
a strong decay has emptied stays at a saddle. ``python -m chapters run weight_decays`` makes it again, in about two
minutes on one core.
"""

from typing import Any

import numpy as np
from scipy.special import logsumexp
from tqdm import tqdm

import capcore as cc
from chapters.kit.witness import CHAOTIC, Witness
from chapters.your_trained_network.study import Reading, extremes, network

SETTINGS: dict[str, Any] = {
    "n_images": 500,
    "width": 10,
    "seeds": [0, 1, 2],
    "decays": [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0],
    "n_shown": 4,
}
QUICK: dict[str, Any] = {"n_images": 100, "width": 2, "seeds": [0], "decays": [3.0, 10.0]}
WITNESS = Witness(["seeds"], fixed={"decays": [0.03]}, **CHAOTIC)
PACKAGES = ("jax", "scikit-learn")


def right(params: Any, images: np.ndarray, labels: np.ndarray) -> float:
    """Share of the images whose largest logit is that of their label."""
    return round(float(np.mean(network(params, images).argmax(axis=1) == labels)), 4)


def losses(params: Any, data: Reading, options: dict[str, Any]) -> dict[str, float]:
    """Mean losses on the training images, left out and on the test images, and what Akaike foretells for these.

    Leaving out and the total of Akaike's criterion are those of the Gauss–Newton form.
    """
    found = cc.allocate_network(network, params, data.x, data.y, subspaces={}, **options)
    left = found.leave_one_out()
    logits = np.asarray(network(params, data.x_test))
    tests = np.mean(logsumexp(logits, axis=1) - logits[np.arange(len(logits)), data.y_test])
    akaike = left.training_loss + found.total / len(data.x)
    named = {"training": left.training_loss, "left out": left.mean_loss, "tests": tests, "total over N": akaike}
    return {name: round(float(each), 4) for name, each in named.items()}


def look(data: Reading, start: Any, decay: float, n_shown: int) -> tuple[Any, dict[str, Any]]:
    """The optimum from ``start`` at a weight decay, and what it shows, of plain types."""
    options: dict[str, Any] = {"loss": "cross-entropy", "weight_decay": decay}
    end = cc.networks.polish(network, start, data.x, data.y, **options)
    found = cc.allocate_network(network, end.params, data.x, data.y, curvature="full", **options)
    shown = dict(zip(("most", "least"), extremes(found.per_example, n_shown), strict=True))
    return end.params, {
        "converged": end.converged,
        "total": round(found.total, 2),
        "training": right(end.params, data.x, data.y),
        "tests": right(end.params, data.x_test, data.y_test),
        "losses": losses(end.params, data, options),
        "pixels": found.per_subspace["inputs"].ravel().round(3).tolist(),
        **{name: [[int(i), round(float(found.per_example[i]), 3)] for i in which] for name, which in shown.items()},
    }


def run(settings: dict[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """``decays``; ``starts``: for each, :func:`look` at each decay; ``images``: number → label and grey levels."""
    starts = []
    for seed in tqdm(settings["seeds"], unit="start", disable=not progress):
        data = Reading(settings["n_images"], settings["width"], seed)
        params, course = data.params, []
        for decay in settings["decays"]:
            params, seen = look(data, params, decay, settings["n_shown"])
            course.append(seen)
        starts.append(course)
    shown = {i for course in starts for seen in course for i, _ in (*seen["most"], *seen["least"])}
    low, high = data.x.min(), data.x.max()
    greys = np.rint(16 * (data.x - low) / (high - low)).astype(int)
    images = {str(i): {"label": int(data.y[i]), "greys": greys[i].tolist()} for i in sorted(shown)}
    return {"decays": list(settings["decays"]), "starts": starts, "images": images}
