"""The stored runs of the chapter on redundancy: reading them, and telling what they describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from capcore.architectures.hierarchical import Hierarchical
from capcore.processes import PowerLaw, Process
from chapters.layer_redundancy.freezing import Refits, freeze_single_weights


def as_refits(values: Mapping[str, Any]) -> Refits:
    """Stored lists ``excess`` and ``offset`` as ``Refits``."""
    return Refits(np.array(values["excess"]), np.array(values["offset"]))


def single_weights(
    content: Mapping[str, Any], arch: Hierarchical, process: Process, n_draws: int, seed: int = 0
) -> Refits:
    """The stored draws where they are of this model and process; otherwise at most three, made now, briefly.

    ``content`` is ``stored("layer_redundancy")``.
    """
    settings = content["settings"]
    made = Hierarchical(settings["weights"]["channels"], settings["n_layers"])
    if process == PowerLaw() and arch.kernel_shapes == made.kernel_shapes and seed == settings["seed"]:
        return as_refits(content["values"]["weights"])
    return freeze_single_weights(arch, process, min(n_draws, 3), seed, 2, max_iterations=50)


def layer_groups(content: Mapping[str, Any]) -> dict[str, Refits]:
    """Label → stored draws with the layers of a redundant set frozen before training, such as "c = 3: 1, 5"."""
    return {
        f"c = {c}: layers {', '.join(name.removeprefix('layer ') for name in case['frozen'])}": as_refits(case)
        for c, cases in content["values"]["layers"].items()
        for case in cases
    }


def worst(refits: Mapping[Any, Refits]) -> float:
    """Largest excess over all sets and draws; 0 where there are none."""
    return max((float(each.excess.max()) for each in refits.values()), default=0.0)
