"""Rank correlation of a metric with an outcome within families, averaged, across them, and with all thrown together.

The three can differ in sign (Simpson's paradox): families of larger networks may be better and have a larger metric,
while within each family the better networks have the smaller one. The average has an interval over families and a test
within them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from chapters.shared.correlation import RankCorrelation, fisher_interval, rank_correlation, rank_scores
from chapters.shared.rank_statistics import share_as_extreme

SMALLEST = 3  # members of a family: two points have ρ = ±1, whatever they are
_LIMIT = 1 - 1e-9  # of a correlation whose Fisher z is taken


class AveragedCorrelation(NamedTuple):
    """A weighted mean of the families' correlations.

    ``rho`` : Σ (n_f − 1) ρ_f / Σ (n_f − 1); under no association Spearman's ρ has variance 1/(n − 1).
    ``low``, ``high`` : Student's interval over families, from how much they differ; one family has its own.
    ``p_value`` : two-sided, from shuffling the outcome within every family. ``n_families``, ``n`` : families and
    points behind it. ``n_positive`` : families with ρ above zero.
    """

    rho: float
    low: float
    high: float
    p_value: float
    n_families: int
    n: int
    n_positive: int


def average_correlations(families: Sequence[RankCorrelation], p_value: float) -> AveragedCorrelation:
    """The ``AveragedCorrelation`` of the correlations of families.

    The interval is about further families like these. It is too short if all families agree exactly, as few small
    ones can by chance; the p-value is not.

    >>> from chapters.shared.correlation import rank_correlation
    >>> families = [rank_correlation([1, 2, 3], y) for y in ([1, 2, 3], [1, 3, 2], [2, 1, 3])]
    >>> average = average_correlations(families, 0.1)
    >>> round(average.rho, 3), round(average.low, 3), average.n_positive
    (0.667, -0.05, 3)
    """
    rho = np.array([family.rho for family in families])
    mean, low, high = weighted_interval(rho, family_weights(families))
    if len(families) == 1:
        low, high = families[0].low, families[0].high
    n, n_positive = sum(family.n for family in families), int((rho > 0).sum())
    return AveragedCorrelation(mean, max(-1.0, low), min(1.0, high), p_value, len(families), n, n_positive)


def weighted_interval(values: np.ndarray, weights: np.ndarray) -> tuple[float, float, float]:
    """Mean of ``values`` (k,) with ``weights`` (k,) that sum to one, and the ends of Student's 95 % interval.

    From how much the values differ; with equal weights it is the usual interval of a mean. Infinite for one value.

    >>> [round(number, 2) for number in weighted_interval(np.array([1.0, 2.0, 3.0]), np.full(3, 1 / 3))]
    [2.0, -0.48, 4.48]
    """
    mean, count = float(weights @ values), len(values)
    if count == 1:
        return mean, -np.inf, np.inf
    error = np.sqrt(count / (count - 1) * ((weights**2) @ (values - mean) ** 2))
    half = float(stats.t.ppf(0.975, count - 1) * error)
    return mean, mean - half, mean + half


def family_weights(families: Sequence[RankCorrelation]) -> np.ndarray:
    """(n_families,) weights n_f − 1, less the quantities held fixed, that sum to one."""
    weights = np.array([family.n - family.n_given - 1 for family in families], dtype=float)
    return np.asarray(weights / weights.sum())


def shuffled_p_value(
    parts: Sequence[np.ndarray], families: Sequence[RankCorrelation], rng: np.random.Generator, n_shuffles: int
) -> float:
    """Two-sided p-value of no association within any family, (k + 1)/(n + 1) from shuffles within families.

    ``parts`` : for each family x, y and what is given, (2 + k, n). At given quantities their residuals are shuffled,
    which is close and not exact.
    """
    weights, null = family_weights(families), np.zeros(n_shuffles)
    for weight, (x, y, *given) in zip(weights, parts, strict=True):
        first, second = rank_scores(x, y, given)
        null += weight * (rng.permuted(np.tile(second, (n_shuffles, 1)), axis=1) @ first)
    rho = float(weights @ [family.rho for family in families])
    return (share_as_extreme(null, rho) * n_shuffles + 1) / (n_shuffles + 1)


class FamilyCorrelations(NamedTuple):
    """Correlations of one metric with one outcome, by family and over all.

    ``families`` : name → correlation; members of a family that has none count nowhere.
    ``within`` : average over families. ``across`` : correlation of the family means, None where there are too few.
    ``pooled`` : of all points as if there were no families, with an interval from leaving out one family at a time,
    since members of one family are no independent points; its p-value still takes them for that.
    """

    families: dict[str, RankCorrelation]
    within: AveragedCorrelation
    across: RankCorrelation | None
    pooled: RankCorrelation


def family_correlations(
    x: object, y: object, family: list[str], rng: np.random.Generator, given: Sequence = (), n_shuffles: int = 1_999
) -> FamilyCorrelations:
    """The ``FamilyCorrelations`` of x with y, each (n,). Raises ``ValueError`` if no family has a correlation.

    Parameters
    ----------
    family : sequence of str
        n names.
    rng : Generator
        Of shuffles.
    given : (k, n) array_like
        Quantities held fixed everywhere; families with fewer than k + 3 members are left out.
    n_shuffles : int
        For the p-value of the average.

    Examples
    --------
    >>> x, y = [1, 2, 3, 4, 5, 6, 7, 8], [4, 5, 6, 7, 0, 1, 2, 3]
    >>> correlations = family_correlations(x, y, ["a"] * 4 + ["b"] * 4, np.random.default_rng(0))
    >>> round(correlations.within.rho, 2), round(correlations.pooled.rho, 2)
    (1.0, -0.52)
    """
    data, labels = np.array([x, y, *given], float), np.array(family)
    families: dict[str, RankCorrelation] = {}
    parts, reasons = [], []
    for name in dict.fromkeys(family):
        part = data[:, labels == name]
        try:
            if part.shape[1] < SMALLEST:
                raise ValueError(f"{name}: found {part.shape[1]} members, expected at least {SMALLEST}.")
            families[str(name)] = rank_correlation(part[0], part[1], part[2:])
            parts.append(part)
        except ValueError as error:
            reasons.append(str(error))
    if not families:
        raise ValueError(f"family: found no family with a correlation ({reasons}), expected at least one.")
    correlations = list(families.values())
    p_value = shuffled_p_value(parts, correlations, rng, n_shuffles) if parts[1:] else correlations[0].p_value
    within = average_correlations(correlations, p_value)
    means = np.array([part.mean(axis=1) for part in parts]).T
    across = rank_correlation(means[0], means[1], means[2:]) if len(parts) >= len(given) + 3 else None
    return FamilyCorrelations(families, within, across, _pooled(parts))


def _pooled(parts: Sequence[np.ndarray]) -> RankCorrelation:
    """Correlation of all points; its interval by the jackknife over families, of Fisher's z and with Student's t."""
    count, (x, y, *given) = len(parts), np.hstack(parts)
    pooled = rank_correlation(x, y, given)
    if count < 3:
        low, high = fisher_interval(pooled.rho, pooled.n - pooled.n_given)
        return pooled._replace(low=low, high=high)
    others = [np.hstack([*parts[:i], *parts[i + 1 :]]) for i in range(count)]
    rho = [np.dot(*rank_scores(x, y, given)) for x, y, *given in others]
    z = np.arctanh(np.clip([pooled.rho, *rho], -_LIMIT, _LIMIT))
    error = np.sqrt((count - 1) / count * ((z[1:] - z[1:].mean()) ** 2).sum())
    half = stats.t.ppf(0.975, count - 1) * error
    return pooled._replace(low=float(np.tanh(z[0] - half)), high=float(np.tanh(z[0] + half)))
