"""Which measures of the same networks go together: over both kinds of labels, and within one kind.

The rule of ``study`` was written down before the numbers: :func:`agreement`. It asks for
two clear intervals of ten networks each, which only strong correlations pass. :class:`Within` pools the two kinds
instead, and was thought of after that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from chapters.along_training.along_summaries import Interval, Kinds
from chapters.shared.rank_correlation import spearman
from chapters.shared.rank_intervals import copula_interval


def correlation(kinds: Kinds, first: str, second: str, of: Sequence[str] = ("right", "shuffled")) -> Interval:
    """Spearman's ρ of two measures over the final networks of some kinds of labels, with its 95 % interval.

    The interval is the one of ``copula_interval``, for 20 networks or fewer.
    """
    x, y = (np.concatenate([kinds[kind][name][-1] for kind in of]) for name in (first, second))
    rho = spearman(x, y)
    return (rho, *copula_interval(rho, len(x)))


def sign(found: Interval) -> int:
    """1 or −1 where the interval of a correlation excludes 0, and otherwise 0."""
    return int(found[1] > 0) - int(found[2] < 0)


def agreement(kinds: Kinds, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(k, k) matrices: ρ over all final networks, its sign where that is clear, and the sign beyond the labels.

    The last is 1 or −1 where the intervals within the right *and* within the shuffled labels exclude 0 on that side.
    """
    k = len(names)
    rho, clear, beyond = np.eye(k), np.zeros((k, k), int), np.zeros((k, k), int)
    for i in range(k):
        for j in range(i):
            found = correlation(kinds, names[i], names[j])
            within = [sign(correlation(kinds, names[i], names[j], [kind])) for kind in kinds]
            rho[i, j] = rho[j, i] = found[0]
            clear[i, j] = clear[j, i] = sign(found)
            beyond[i, j] = beyond[j, i] = within[0] if within[0] == within[1] else 0
    return rho, clear, beyond


@dataclass(frozen=True, eq=False)
class Within:
    """Rank correlations of measures among networks of one kind of labels, both kinds pooled.

    Attributes
    ----------
    names : of the k measures.
    rho : (k, k) Spearman's ρ of ranks that were taken within each kind; 0 for a measure that is constant.
    draws : (n_draws, k, k) the same after the seeds of one side were exchanged at random, for both kinds alike: what
        chance makes of measures that have nothing to do with one another.
    """

    names: tuple[str, ...]
    rho: np.ndarray
    draws: np.ndarray

    @property
    def chance(self) -> np.ndarray:
        """(k, k) share of the draws that are as far from 0: the two-sided p-value of each pair."""
        return (np.abs(self.draws) >= np.abs(self.rho) - 1e-9).mean(axis=0)

    @property
    def largest(self) -> float:
        """The largest \\|ρ\\| of all pairs exceeds this in 5 % of the draws: what a single pair must pass."""
        i, j = np.tril_indices(len(self.names), -1)
        return float(np.quantile(np.abs(self.draws[:, i, j]).max(axis=1), 0.95))

    def pair(self, first: str, second: str) -> tuple[float, float]:
        """ρ of two measures, and its p-value."""
        at = self.names.index(first), self.names.index(second)
        return float(self.rho[at]), float(self.chance[at])

    def block(self, first: Sequence[str], second: Sequence[str]) -> tuple[np.ndarray, float]:
        """ρ of each of the first measures with each of the second, and the p-value of their mean."""
        at = np.ix_([self.names.index(name) for name in first], [self.names.index(name) for name in second])
        drawn = np.array([draw[at].mean() for draw in self.draws])
        return self.rho[at], float(np.mean(np.abs(drawn) >= abs(self.rho[at].mean()) - 1e-9))


def within_labels(kinds: Kinds, names: Sequence[str], n_draws: int = 10_000) -> Within:
    """Rank correlations of the final networks within their kind of labels, with what chance makes of them.

    A seed stands for two networks that share a start, so seeds are exchanged and not networks.

    >>> a, b = np.array([[1.0, 2.0, 3.0]]), np.array([[3.0, 2.0, 1.0]])  # against each other, in both kinds
    >>> round(within_labels({"right": {"a": a, "b": b}, "shuffled": {"a": a + 9, "b": b + 9}}, ["a", "b"]).rho[0, 1])
    -1
    """
    ranks = np.stack([[rankdata(kinds[kind][name][-1]) for kind in kinds] for name in names])  # (k, n_kinds, n_seeds)
    ranks = ranks - ranks.mean(axis=2, keepdims=True)
    size = np.sqrt(np.square(ranks).sum(axis=(1, 2), keepdims=True))
    ranks = np.divide(ranks, size, out=np.zeros_like(ranks), where=size > 0)
    flat, rng, n_seeds = ranks.reshape(len(names), -1), np.random.default_rng(0), ranks.shape[2]
    draws = [ranks[:, :, rng.permutation(n_seeds)].reshape(flat.shape) @ flat.T for _ in range(n_draws)]
    return Within(tuple(names), flat @ flat.T, np.array(draws))
