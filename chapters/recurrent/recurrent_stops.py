"""The laws of Figures 10 and 11 of paper 1 where L-BFGS-B, its optimiser, stops: one value for each process family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from capcore.architectures.recurrent import Recurrent
from capcore.optimum import Problem
from capcore.processes import FAMILIES
from chapters.recurrent.study import ProfileShape, profile_shape, until_full
from chapters.shared.scaling import fit_power
from chapters.shared.survey import allocate_quietly


def loss_r2(content: Mapping[str, Any]) -> dict[str, float]:
    """Family → R² of a straight line through the median log loss against log κ, up to the first model with κ = n.

    ``content`` is ``stored("recurrent_lbfgs")``.

    >>> losses = {"1": [1.0, 1.0], "2": [0.5, 0.5], "4": [0.25, 0.25]}
    >>> content = {"settings": {"n_inputs": 8}, "values": {"AR1": {"losses": losses}}}
    >>> round(loss_r2(content)["AR1"], 9)
    1.0
    """
    n_inputs = content["settings"]["n_inputs"]
    found = {}
    for name, runs in content["values"].items():
        channels = [int(c) for c in runs["losses"]]
        medians = [float(np.median(losses)) for losses in runs["losses"].values()]
        found[name] = fit_power(*until_full(n_inputs, channels, medians)).r_squared
    return found


def shapes(content: Mapping[str, Any], channels: Sequence[int]) -> dict[str, dict[int, ProfileShape]]:
    """Family → channels → shape of the profile at the lowest of the stored losses.

    Raises ``KeyError`` for a number of channels whose parameters are not stored.
    """
    n_inputs = content["settings"]["n_inputs"]
    found: dict[str, dict[int, ProfileShape]] = {}
    for name, runs in content["values"].items():
        process, found[name] = FAMILIES[name](), {}
        for c in channels:
            arch = Recurrent(n_inputs, c)
            best = np.array(runs["params"][str(c)][int(np.argmin(runs["losses"][str(c)]))])
            profile = allocate_quietly(arch, best, Problem.of(arch, process)).per_input
            found[name][c] = profile_shape(profile)
    return found
