"""Layer profiles over many parameter vectors: the same model written differently, other runs, no training at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from capcore.architectures.hierarchical import Hierarchical
from capcore.optimum import Problem, fit
from capcore.validation import positive_integer
from chapters.hierarchical_layers.fibre import same_coefficients
from chapters.shared.layers import LayerProfiles
from chapters.shared.survey import allocate_quietly


def profiles_at(arch: Hierarchical, params: Iterable[np.ndarray], problem: Problem) -> list[LayerProfiles]:
    """The layer profiles at each parameter vector."""
    return [LayerProfiles.of(allocate_quietly(arch, w, problem)) for w in params]


def same_model(
    arch: Hierarchical, params: np.ndarray, problem: Problem, n_draws: int, seed: int = 0
) -> list[LayerProfiles]:
    """The same coefficients from other parameters (``same_coefficients``)."""
    return profiles_at(arch, same_coefficients(arch, params, n_draws, np.random.default_rng(seed)), problem)


def random_starts(
    arch: Hierarchical, problem: Problem, n_runs: int, seed: int = 0, **options: Any
) -> list[LayerProfiles]:
    """Trained from random parameters; ``options`` go to :func:`capcore.optimum.fit`. Run i is seeded by (seed, i)."""
    rngs = [np.random.default_rng([seed, i]) for i in range(positive_integer(n_runs, "n_runs"))]
    return profiles_at(arch, (fit(arch, problem, rng=rng, start="random", **options).params for rng in rngs), problem)


def untrained(arch: Hierarchical, problem: Problem, n_draws: int, seed: int = 0) -> list[LayerProfiles]:
    """Random parameters, not trained at all."""
    rngs = [np.random.default_rng([seed, i]) for i in range(positive_integer(n_draws, "n_draws"))]
    return profiles_at(arch, (arch.init(rng) for rng in rngs), problem)


def stack(ensemble: list[LayerProfiles], view: str) -> np.ndarray:
    """(n_draws, L, n_inputs) one view of all profiles of an ensemble."""
    return np.array([getattr(profiles, view) for profiles in ensemble])


def largest_change(ensemble: list[LayerProfiles], view: str) -> np.ndarray:
    """(L,) for each layer the largest range of its profile over the ensemble, at any input."""
    return np.ptp(stack(ensemble, view), axis=0).max(axis=1)
