"""How far the trained coefficients of 64 inputs move when one coefficient of their target does, input by input.

``python -m chapters run optimum_responses`` makes it again, in seconds.
"""

from typing import Any

import numpy as np

from capcore.processes import PowerLaw
from chapters.gaussian_prediction.response import answers
from chapters.gaussian_prediction.study import models_by_channels
from chapters.kit.witness import Witness
from chapters.shared.survey import case

SETTINGS: dict[str, Any] = {"channels": [1, 2, 4], "n_layers": 6, "kernel_size": 2, "seed": 0}
QUICK: dict[str, Any] = {"channels": [1, 2], "n_layers": 3}
WITNESS = Witness(["channels"], elsewhere={"": 2e-4}, reason="Values have four decimals.")


def run(settings: dict[str, Any] = SETTINGS) -> dict[str, Any]:
    """Model → what it does when a coefficient of its target moves by one, to first order; plain types.

    ``columns`` holds for each input the move of all trained coefficients, lag 0 first, to four decimals; ``squares``
    its squared length, ``capacities`` the inputs' own, and ``bounds`` the range of the one over the other.
    """
    values = {}
    for label, model in models_by_channels(settings["channels"], settings["n_layers"], settings["kernel_size"]).items():
        trained = case(model, PowerLaw(), settings["seed"])
        answer = answers(model, trained)
        values[label] = {
            "total": trained.allocation.total,
            "bounds": plain(answer.bounds),
            "capacities": plain(answer.capacities),
            "squares": plain(answer.squares),
            "columns": (answer.matrix.T.round(4) + 0.0).tolist(),
        }
    return values


def plain(value: Any, digits: int = 6) -> Any:
    """Arrays as lists, floats to so many significant digits, also inside; None for infinity, which JSON does not know.

    >>> plain({"losses": np.array([1 / 3, np.inf]), "steps": 3}, 2)
    {'losses': [0.33, None], 'steps': 3}
    """
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, dict):
        return {key: plain(item, digits) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item, digits) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if np.isfinite(value) else None
    return value
