"""Rank correlations within groups of networks, with intervals that resample the networks of each group.

The resamples are the same for all columns of a table, so that a difference between two metrics has an interval too.
Without resamples ``family_correlations`` gives the same means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from capcore.validation import one_of, positive_integer


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number with its resamples: ``value``, ``draws`` (B,)."""

    value: float
    draws: np.ndarray

    @property
    def low(self) -> float:
        """Lower end of the 95 % percentile interval."""
        return float(np.percentile(self.draws, 2.5))

    @property
    def high(self) -> float:
        """Upper end."""
        return float(np.percentile(self.draws, 97.5))

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference of two estimates from the same resamples."""
        return Estimate(self.value - other.value, self.draws - other.draws)

    def __abs__(self) -> Estimate:
        """The size of the number, and of each resample's."""
        return Estimate(abs(self.value), np.abs(self.draws))

    def __str__(self) -> str:
        """The number with its interval, two decimals."""
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def lesser(first: Estimate, second: Estimate) -> Estimate:
    """The smaller of two numbers, also in every resample."""
    return Estimate(min(first.value, second.value), np.minimum(first.draws, second.draws))


def within(
    table: pd.DataFrame,
    metric: str,
    outcome: str = "test",
    *,
    given: Sequence[str] = (),
    by: Sequence[str] = ("family",),
    n_resamples: int = 2_000,
    seed: int = 0,
) -> Estimate:
    """Mean over groups of the rank correlation of a metric with an outcome, at fixed ``given`` columns.

    The rows of a group are resampled with replacement, in the same way for the same table, groups and seed. Resamples
    in which a column is constant count as zero. ``by`` : columns whose values make the groups.

    >>> table = pd.DataFrame({"family": list("aaabbb"), "test": [1, 2, 3, 1, 2, 3], "alpha": [3, 2, 1, 3, 2, 1]})
    >>> round(within(table, "alpha", n_resamples=10).value, 6)
    -1.0
    """
    for name in (metric, outcome, *given, *by):
        one_of(name, "column", table.columns)
    rng = np.random.default_rng(seed)
    n_resamples = positive_integer(n_resamples, "n_resamples")
    found = []
    for _, group in table.groupby(list(by), sort=True):
        values = group[[metric, outcome, *given]].to_numpy(float).T
        chosen = rng.integers(len(group), size=(n_resamples, len(group)))
        rows = np.vstack([np.arange(len(group)), chosen])
        found.append(_correlations(np.moveaxis(values[:, rows], 1, 0)))
    mean = np.mean(found, axis=0)
    return Estimate(float(mean[0]), mean[1:])


def _correlations(samples: np.ndarray) -> np.ndarray:
    """(B,) correlation of the ranks of the first two columns at fixed others, of samples (B, columns, n)."""
    ranks = rankdata(samples, axis=-1)
    ranks -= ranks.mean(axis=-1, keepdims=True)
    scale = np.sqrt((ranks**2).sum(axis=-1, keepdims=True))
    ranks = np.divide(ranks, scale, out=np.zeros_like(ranks), where=scale > 0)
    matrix = ranks @ ranks.swapaxes(-1, -2)
    if matrix.shape[-1] == 2:
        return np.clip(matrix[:, 0, 1], -1, 1)
    fixed = np.linalg.pinv(matrix[:, 2:, 2:], rcond=1e-10, hermitian=True)
    left = matrix[:, :2, :2] - matrix[:, :2, 2:] @ fixed @ matrix[:, 2:, :2]
    size = left[:, 0, 0] * left[:, 1, 1]
    good = np.minimum(left[:, 0, 0], left[:, 1, 1]) > 1e-10
    return np.where(good, np.clip(left[:, 0, 1] / np.sqrt(np.where(good, size, 1.0)), -1, 1), 0.0)
