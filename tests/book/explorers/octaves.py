"""Capacity of each octave, against models fitted and allocated here with their inputs listed; the page's are not."""

from functools import cache

import numpy as np

import capcore as cc
from chapters.audio_scale.halves import hidden_channels

PAGES = ["notebooks/audio_scale"]
POINT = (0.9, 0.3)
TOLERANCE = {  # capacities have four decimals and are above one half, losses four digits; two routes agree to 1e-4
    **{name: {"rtol": 4e-4} for name in ("per_octave", "per_input", "chosen", "far")},
    "loss": {"rtol": 1e-3},
}
STATES = [
    {"layers": 6, "lower": 1, "upper": 1, "octave": 0},
    {"layers": 6, "lower": 4, "upper": 4, "octave": 1},
    {"layers": 6, "lower": 1, "upper": 4, "octave": 2},
    {"layers": 8, "lower": 2, "upper": 2, "octave": 3},
    {"layers": 8, "lower": 4, "upper": 1, "octave": 4},
    {"layers": 8, "lower": 1, "upper": 3, "octave": 5},
    {"layers": 8, "lower": 3, "upper": 4, "octave": 6},
    {"layers": 10, "lower": 2, "upper": 1, "octave": 7},
    {"layers": 10, "lower": 1, "upper": 2, "octave": 8},
    {"layers": 10, "lower": 2, "upper": 4, "octave": 9},
]


@cache
def model(layers, lower, upper):
    """One optimum, found and allocated with all its inputs listed."""
    stack = cc.Hierarchical(hidden_channels(layers, lower, upper), layers)
    fitted = cc.fit(stack, cc.PowerLaw())
    return stack, fitted, cc.allocate(stack, fitted, cc.PowerLaw(), method="dense")


def expected(state):
    """Numbers of the design, and of the octave that is chosen."""
    stack, fitted, capacity = model(state["layers"], state["lower"], state["upper"])
    per_input, edges = capacity.per_input, [0, *(2**i for i in range(state["layers"] + 1))]
    per_octave = np.add.reduceat(per_input, edges[:-1])
    return {
        "per_octave": per_octave,
        "per_input": per_octave / np.diff(edges),
        "total": capacity.total,
        "n_params": stack.n_params,
        "loss": fitted.loss,
        "far": per_input[stack.n_inputs // 2 :].sum() / capacity.total * 2,
        "chosen": per_octave[state["octave"]],
    }
