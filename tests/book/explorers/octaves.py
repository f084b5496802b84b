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
ENDS = [(6, 1, 1), (6, 4, 4), (6, 1, 4), (8, 2, 2), (8, 4, 1), (8, 1, 3), (8, 3, 4), (10, 2, 1), (10, 1, 2), (10, 2, 4)]
STATES = [{"layers": n, "lower": low, "upper": up, "octave": i} for i, (n, low, up) in enumerate(ENDS)]


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
