"""The average of several families' rank correlations, with an interval over families and a test within them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from capcore.validation import positive_integer
from chapters.shared.correlation import RankCorrelation, rank_scores
from chapters.shared.permutations import rank_statistics, share_as_extreme


@dataclass(frozen=True)
class AveragedCorrelation:
    """A weighted mean of the families' correlations.

    ``rho`` : Σ (n_f − 1) ρ_f / Σ (n_f − 1); under no association Spearman's ρ has variance 1/(n − 1).
    ``low``, ``high`` : Student's interval over families, from how much they differ; one family has its own.
    ``p_value`` : two-sided, from shuffling the outcome within every family. ``n_families``, ``n`` : families and
    points behind it. ``n_positive`` : families with ρ above zero. ``level`` : of the interval.
    """

    rho: float
    low: float
    high: float
    p_value: float
    n_families: int
    n: int
    n_positive: int
    level: float

    @property
    def sign(self) -> int:
        """+1 or −1 if the whole interval lies on that side of zero, else 0."""
        return int(self.low > 0) - int(self.high < 0)


def average_correlations(found: Sequence[RankCorrelation], p_value: float, level: float = 0.95) -> AveragedCorrelation:
    """The ``AveragedCorrelation`` of correlations ``found``, one per family.

    The interval is about further families like these. It is too short if all families agree exactly, as few small
    ones can by chance; the p-value is not.

    >>> from chapters.shared.correlation import rank_correlation
    >>> found = [rank_correlation([1, 2, 3], y) for y in ([1, 2, 3], [1, 3, 2], [2, 1, 3])]
    >>> average = average_correlations(found, 0.1)
    >>> round(average.rho, 3), round(average.low, 3), average.n_positive
    (0.667, -0.05, 3)
    """
    if not found:
        raise ValueError("found: no correlation to average, expected at least one.")
    rho = np.array([one.rho for one in found])
    mean, low, high = weighted_interval(rho, family_weights(found), level)
    if len(found) == 1:
        low, high = found[0].low, found[0].high
    n, n_positive = sum(one.n for one in found), int((rho > 0).sum())
    return AveragedCorrelation(mean, max(-1.0, low), min(1.0, high), p_value, len(found), n, n_positive, level)


def weighted_interval(values: np.ndarray, weights: np.ndarray, level: float = 0.95) -> tuple[float, float, float]:
    """Mean of ``values`` (k,) with ``weights`` (k,) that sum to one, and the ends of Student's interval.

    From how much the values differ; with equal weights it is the usual interval of a mean. Infinite for one value.

    >>> [round(number, 2) for number in weighted_interval(np.array([1.0, 2.0, 3.0]), np.full(3, 1 / 3))]
    [2.0, -0.48, 4.48]
    """
    mean, count = float(weights @ values), len(values)
    if count == 1:
        return mean, -np.inf, np.inf
    error = np.sqrt(count / (count - 1) * ((weights**2) @ (values - mean) ** 2))
    half = float(stats.t.ppf((1 + level) / 2, count - 1) * error)
    return mean, mean - half, mean + half


def family_weights(found: Sequence[RankCorrelation]) -> np.ndarray:
    """(n_families,) weights n_f − 1, less the quantities held fixed, that sum to one."""
    weights = np.array([one.n - one.n_given - 1 for one in found], dtype=float)
    return np.asarray(weights / weights.sum())


def shuffled_p_value(
    families: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray | None]],
    found: Sequence[RankCorrelation],
    rng: np.random.Generator,
    n_shuffles: int = 1_999,
) -> float:
    """Two-sided p-value of no association within any family, (k + 1)/(n + 1) from shuffles within families.

    ``families`` : x (n,), y (n,) and given (k, n) or None of each. At given quantities their residuals are shuffled,
    which is close and not exact.
    """
    count = positive_integer(n_shuffles, "n_shuffles", 19)
    weights, kind = family_weights(found), found[0].kind
    null = np.zeros(count)
    for weight, (x, y, given) in zip(weights, families, strict=True):
        if kind == "kendall":
            shuffled = rng.permuted(np.tile(y, (count, 1)), axis=1)
            null += weight * rank_statistics(np.broadcast_to(x, shuffled.shape), shuffled, kind)
        else:
            first, second = rank_scores(x, y, given)
            null += weight * (rng.permuted(np.tile(second, (count, 1)), axis=1) @ first)
    rho = float(weights @ [one.rho for one in found])
    return (share_as_extreme(null, rho, "two-sided") * count + 1) / (count + 1)
