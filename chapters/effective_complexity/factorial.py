"""What moves a measure: a factorial of four factors at two levels each, with F-tests against the scatter of seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import f as fisher_distribution

FACTORS: dict[str, tuple[Any, Any]] = {
    "framework": ("relu", "tanh"),
    "size": (16, 64),
    "optimisation": (0.001, 0.01),
    "data": ("right", "shuffled"),
}
"""Factor → its two levels: activation, units of both hidden layers, learning rate, labels."""
STRUCTURE = ("framework", "size")


@dataclass(frozen=True, eq=False)
class Factorial:
    """Logarithms of measures in all cells of a 2 × 2 × 2 × 2 design.

    Attributes
    ----------
    values : measure → (2, 2, 2, 2, n_seeds), axes in the order of ``FACTORS``.
    """

    values: Mapping[str, np.ndarray]

    def moved(self, factor: str, level: float = 0.001) -> list[str]:
        """The measures that the factor moves, alone or with others, by an F-test against the scatter of seeds."""
        return [name for name, values in self.values.items() if p_value(values, _axis(factor)) < level]

    def structure_share(self) -> dict[str, float]:
        """Measure → sum of squares between structures over that of all networks."""
        axes = [_axis(name) for name in STRUCTURE]
        sets = [{axes[0]}, {axes[1]}, set(axes)]
        return {name: sum(_square(v, s) for s in sets) / _total(v) for name, v in self.values.items()}

    def shares(self) -> dict[str, dict[str, float]]:
        """Measure → share of variance of every factor alone, of all interactions, and of seeds; they add up to one."""
        shares = {}
        for name, v in self.values.items():
            single = {factor: _square(v, {_axis(factor)}) / _total(v) for factor in FACTORS}
            joint = sum(_square(v, s) for s in _effects() if len(s) > 1) / _total(v)
            shares[name] = {**single, "interactions": joint, "seeds": _within(v) / _total(v)}
        return shares

    def ratio_within_structure(self) -> dict[str, float]:
        """Measure → smallest over structures of the largest over the smallest cell mean (geometric) of the others."""
        cells = {name: v.mean(axis=-1).reshape(4, 4) for name, v in self.values.items()}  # structures × the other two
        return {name: float(np.exp(np.ptp(means, axis=1).min())) for name, means in cells.items()}


def p_value(values: np.ndarray, axis: int) -> float:
    """Of no effect of the factor on ``axis`` of (2, …, 2, n_seeds), with all its interactions: an F-test.

    >>> noise = np.random.default_rng(0).normal(size=(2, 2, 6))
    >>> noise[0] += 5
    >>> p_value(noise, 0) < 1e-6 < p_value(noise, 1)
    True
    """
    n_factors, n_seeds = values.ndim - 1, values.shape[-1]
    among = [s for s in _effects(n_factors) if axis in s]
    free = 2**n_factors * (n_seeds - 1)
    ratio = sum(_square(values, s) for s in among) / len(among) / (_within(values) / free)
    return float(fisher_distribution.sf(ratio, len(among), free))


def _axis(factor: str) -> int:
    return list(FACTORS).index(factor)


def _effects(n_factors: int = 4) -> list[set[int]]:
    """All sets of factors but the empty one: main effects and interactions, one degree of freedom each."""
    return [set(s) for k in range(1, n_factors + 1) for s in combinations(range(n_factors), k)]


def _square(values: np.ndarray, effect: set[int]) -> float:
    """Sum of squares of one effect of a balanced two-level design, from its contrast."""
    contrast = values
    for axis in effect:
        sign = np.array([-1.0, 1.0]).reshape([2 if a == axis else 1 for a in range(values.ndim)])
        contrast = contrast * sign
    return float(values.size * contrast.mean() ** 2)


def _total(values: np.ndarray) -> float:
    return float(((values - values.mean()) ** 2).sum())


def _within(values: np.ndarray) -> float:
    return float(((values - values.mean(axis=-1, keepdims=True)) ** 2).sum())
