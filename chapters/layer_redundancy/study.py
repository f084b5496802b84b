"""The long runs of the chapter on redundancy: what freezing costs, draw by draw, from random starts.

``python -m chapters run layer_redundancy`` makes it again, in about ten minutes on one core.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from capcore.architectures.hierarchical import Hierarchical
from capcore.processes import PowerLaw
from chapters.layer_redundancy.freezing import Refits, freeze_layers, freeze_single_weights

SETTINGS: dict[str, Any] = {
    "n_layers": 6,
    "weights": {"channels": 4, "n_draws": 50, "n_starts": 5, "max_iterations": 300},
    "layers": {"channels": [3, 5], "n_draws": 10, "n_starts": 5, "max_iterations": 300},
    "seed": 0,
}
QUICK: dict[str, Any] = {
    "n_layers": 4,
    "weights": {"channels": 2, "n_draws": 1, "n_starts": 1, "max_iterations": 5},
    "layers": {"channels": [2], "n_draws": 1, "n_starts": 1, "max_iterations": 5},
}


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Excesses and offsets of single weights frozen, and of layers frozen at further widths; power law, plain types."""
    weights, layers, seed = settings["weights"], settings["layers"], settings["seed"]
    arch = Hierarchical(weights["channels"], settings["n_layers"])
    single = freeze_single_weights(
        arch, PowerLaw(), weights["n_draws"], seed, weights["n_starts"], max_iterations=weights["max_iterations"]
    )
    found: dict[str, Any] = {"weights": _plain(single), "layers": {}}
    for c in tqdm(layers["channels"], unit="model", disable=not progress):
        arch = Hierarchical(c, settings["n_layers"])
        sets = freeze_layers(
            arch, PowerLaw(), layers["n_draws"], seed, layers["n_starts"], max_iterations=layers["max_iterations"]
        )
        found["layers"][str(c)] = [{"frozen": list(names), **_plain(each)} for names, each in sets.items()]
    return found


def _plain(refits: Refits) -> dict[str, list[float]]:
    return {"excess": refits.excess.tolist(), "offset": refits.offset.tolist()}
