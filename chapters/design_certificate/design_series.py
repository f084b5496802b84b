"""What a design says of three real series, which Matplotlib brings along for its own examples.

``python -m chapters run design_series`` makes it again, in some ten seconds.
"""

from typing import Any

import numpy as np

from capcore.checks.arguments import quiet
from capcore.designs.choosing import design
from chapters.kit.witness import Witness

SETTINGS: dict[str, Any] = {"n_inputs": 64, "max_params": 32}
QUICK: dict[str, Any] = {"n_inputs": 16, "max_params": 8}
WITNESS = Witness([""], elsewhere={"": 1e-5}, reason="Newton's method ends where a step would gain less than 1e-8.")
PACKAGES = ("matplotlib",)


def run(settings: dict[str, Any] = SETTINGS) -> dict[str, dict[str, Any]]:
    """Series → the recommended model and the stack of least loss; losses, and the cost of estimation, over v*."""
    return {name: said(values, settings) for name, values in series().items()}


def series() -> dict[str, np.ndarray]:
    """Shares traded in a day, as logarithms; a recording at a membrane; one trace of an electroencephalogram."""
    from matplotlib.cbook import get_sample_data

    prices = np.load(get_sample_data("goog.npz", asfileobj=False))["price_data"]
    membrane = np.fromfile(get_sample_data("membrane.dat", asfileobj=False), np.float32)
    traces = np.fromfile(get_sample_data("eeg.dat", asfileobj=False), float).reshape(-1, 4)
    return {
        "shares traded in a day": np.log(prices["volume"].astype(float)),
        "recording at a membrane": membrane.astype(float),
        "electroencephalogram": traces[:, 0],
    }


def said(values: np.ndarray, settings: dict[str, Any]) -> dict[str, Any]:
    """What a design says of one series."""
    with quiet():
        plan = design(values, **settings)
    stack = min((model for model in plan.candidates if model.family == "stacks"), key=lambda one: one.loss)
    return {
        "values": len(values),
        "agree": not any("two halves" in note for note in plan.notes),
        "best": model(plan.best, plan),
        "stack": model(stack, plan),
    }


def model(model_: Any, plan: Any) -> dict[str, Any]:
    """A candidate in words, its loss and the cost of its estimation, both over v*."""
    return {"words": model_.words, "loss": model_.loss / plan.variance, "cost": model_.cost}
