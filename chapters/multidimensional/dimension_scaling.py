"""Does capacity depend on channels and dimension through c²/d alone? Paper 1, section 6.1, Figure 13."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from capcore.architectures.hierarchical import Hierarchical
from chapters.multidimensional.component_runs import Run, Runs
from chapters.shared.profiles import roughness


def scaled_channels(base: float, input_dim: int) -> int:
    """c = c₀√d, rounded to a whole number, at least 1.

    >>> scaled_channels(2, 16), scaled_channels(1, 2)
    (8, 1)
    """
    return max(1, round(base * input_dim**0.5))


def scaled_runs(runs: Runs, base: int, dims: Iterable[int]) -> list[Run]:
    """The models with c = c₀√d channels, one for each d."""
    return [runs.at(d, scaled_channels(base, d)) for d in dims]


def mean_difference(group: Sequence[Run]) -> float:
    """Largest, over pairs of models, mean over positions of the absolute difference of κ_i/d; 0 for one model."""
    pairs = combinations(group, 2)
    return max((float(np.abs(a.normalised - b.normalised).mean()) for a, b in pairs), default=0.0)


def least_difference(group: Sequence[Run]) -> float:
    """What :func:`mean_difference` is at least, whatever the profiles: the difference of the exact totals κ/(nd)."""
    density = [run.generic_total / (run.arch.n_inputs * run.arch.input_dim) for run in group]
    return max(density) - min(density)


def fixed_over_scaled(runs: Runs, base: int, few: int, many: int) -> float:
    """The :func:`mean_difference` between ``few`` and ``many`` components at the same channels, over that with c₀√d.

    1 where neither differs by more than rounding: then all positions are at their ceilings.
    """
    first = runs.at(few, scaled_channels(base, few))
    fixed = mean_difference([first, runs.at(many, first.arch.channels[0])]) if first.arch.channels else 0.0
    scaled = mean_difference([first, runs.at(many, scaled_channels(base, many))])
    return fixed / scaled if max(fixed, scaled) > 1e-9 else 1.0


def gets_smoother(group: Sequence[Run]) -> bool:
    """Whether the roughness of the profile falls from each model to the next."""
    return bool(np.all(np.diff([roughness(run.normalised) for run in group]) < 0))


def exact_densities(base: int, dims: Iterable[int], n_layers: int, kernel_size: int) -> np.ndarray:
    """(len(dims),) exact κ/(nd) with c = c₀√d channels: the mean of κ_i/d over positions, by closed form.

    >>> exact_densities(1, [1, 1024], 6, 2).tolist()
    [0.109375, 1.0]
    """
    models = [Hierarchical(scaled_channels(base, d), n_layers, kernel_size, input_dim=d) for d in dims]
    return np.array([arch.generic_capacity() / (arch.n_inputs * arch.input_dim) for arch in models])


def parameters_per_component(base: int, dims: Iterable[int], n_layers: int, kernel_size: int) -> np.ndarray:
    """(len(dims),) number of parameters divided by d, with c = c₀√d channels."""
    models = [Hierarchical(scaled_channels(base, d), n_layers, kernel_size, input_dim=d) for d in dims]
    return np.array([arch.n_params / arch.input_dim for arch in models])
