"""What moves a measure: a factorial of four factors at two levels each, with F-tests against the scatter of seeds."""

from collections.abc import Mapping
from dataclasses import dataclass
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
        axis = list(FACTORS).index(factor)
        return [name for name, values in self.values.items() if p_value(values, axis) < level]

    def structure_share(self) -> dict[str, float]:
        """Measure → sum of squares between structures, the first two factors, over that of all networks."""
        return {name: float(squares(v)[..., 0, 0].sum() / (v.size * v.var())) for name, v in self.values.items()}

    def shares(self) -> dict[str, dict[str, float]]:
        """Measure → share of variance of every factor alone, of all interactions, and of seeds; they add up to one."""
        shares = {}
        for name, v in self.values.items():
            part = squares(v) / (v.size * v.var())
            alone = dict(zip(FACTORS, (float(part[tuple(at)]) for at in np.eye(4, dtype=int)), strict=True))
            among = float(part.sum())
            shares[name] = {**alone, "interactions": among - sum(alone.values()), "seeds": 1 - among}
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
    among = np.take(squares(values), 1, axis)
    free = values.size - values[..., 0].size
    within = values.var(axis=-1).sum() * values.shape[-1]
    return float(fisher_distribution.sf(among.mean() / (within / free), among.size, free))


def squares(values: np.ndarray) -> np.ndarray:
    """(2, …, 2) sums of squares of all effects of a balanced two-level design (2, …, 2, n_seeds), from contrasts.

    Main effects and interactions, one degree of freedom each: index 1 where a factor is in the effect.
    """
    contrasts = values.mean(axis=-1)
    for axis in range(contrasts.ndim):
        low, high = np.split(contrasts, 2, axis)
        contrasts = np.concatenate([high + low, high - low], axis) / 2
    contrasts.flat[0] = 0  # the mean is no effect
    return values.size * contrasts**2
