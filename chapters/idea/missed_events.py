"""An event at every lag, for stacks of one to eight channels: the data of the explorer on the first page.

The series is the power law, which the stacks are fitted to before. An event changes the coefficient of one input in the
target by ±β, with β²c_0 a tenth of the least forecast error, as on the page on events; then the stack is fitted again.

``python -m chapters run missed_events`` makes it again, in about three minutes on one core.
"""

from typing import Any

from tqdm import tqdm

import capcore as cc
from chapters.idea.study import refitted
from chapters.kit.witness import Witness

SETTINGS: dict[str, Any] = {"channels": [*range(1, 9)], "lags": [*range(64)], "size": 0.1}
QUICK: dict[str, Any] = {"channels": [1], "lags": [32]}
WITNESS = Witness(["channels lags"], least=2e-4)  # values have four decimals


def run(settings: dict[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Channels → weights, units, and for each lag capacity and missed share before, and cost after the refit."""
    process, values = cc.PowerLaw(), {}
    for channels in tqdm(settings["channels"], "channels", disable=not progress):
        stack = cc.Hierarchical(channels, 6)
        fit = cc.fit(stack, process)
        found, lags = cc.allocate(stack, fit, process), settings["lags"]
        values[str(channels)] = {
            "n_params": stack.n_params,
            "total": found.total,
            "capacity": found.per_input[lags].round(4).tolist(),
            "missed": found.missed[lags].round(4).tolist(),
            "cost": [round(refitted(stack, fit, process, lag, settings["size"]), 4) for lag in lags],
        }
    return values
