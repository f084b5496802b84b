"""Rank correlation of a metric with an outcome within families, averaged, across them, and with all thrown together.

The three can differ in sign (Simpson's paradox): families of larger networks may be better and have a larger metric,
while within each family the better networks have the smaller one. The average has an interval over families and a test
within them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from capcore.checks.arguments import finite_array, positive_integer
from chapters.shared.correlation import RankCorrelation, rank_correlation, rank_scores
from chapters.shared.rank_statistics import rank_statistics, share_as_extreme

_LIMIT = 1 - 1e-9  # of a correlation whose Fisher z is taken


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


if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class FamilyCorrelations:
    """Correlations of one metric with one outcome, by family and over all.

    ``families`` : name → correlation. ``left_out`` : name → why a family has none; its members count nowhere.
    ``within`` : average over families. ``across`` : correlation of the family means, None where there are too few.
    ``pooled`` : of all points as if there were no families, with an interval from leaving out one family at a time,
    since members of one family are no independent points; its p-value still takes them for that.
    """

    families: dict[str, RankCorrelation]
    left_out: dict[str, str]
    within: AveragedCorrelation
    across: RankCorrelation | None
    pooled: RankCorrelation

    @property
    def reversed(self) -> bool:
        """Whether the pooled or the across-family correlation has the sign opposite to the one within families."""
        others = [self.pooled.rho] + ([self.across.rho] if self.across else [])
        return min(others) < 0 < self.within.rho or self.within.rho < 0 < max(others)

    def to_frame(self) -> pandas.DataFrame:
        """One row per family, then ``within families``, ``across families`` and ``pooled``."""
        import pandas as pd

        last = {"within families": self.within, "across families": self.across, "pooled": self.pooled}
        columns = ("n", "rho", "low", "high", "p_value")
        rows = {name: row for name, row in {**self.families, **last}.items() if row is not None}
        table = {name: {column: getattr(row, column) for column in columns} for name, row in rows.items()}
        return pd.DataFrame.from_dict(table, orient="index").astype({"n": int}).rename_axis("family")


def family_correlations(
    x: object,
    y: object,
    family: Sequence[str],
    rng: np.random.Generator,
    *,
    given: object = None,
    min_size: int = 3,
    n_shuffles: int = 1_999,
    **options: Any,
) -> FamilyCorrelations:
    """The ``FamilyCorrelations`` of x with y, each (n,).

    Parameters
    ----------
    x, y : (n,) array_like
        The quantities.
    family : sequence of str
        n names.
    rng : Generator
        Of shuffles and bootstraps.
    given : (n,) or (k, n) array_like, optional
        Quantities held fixed everywhere; families with fewer than k + 3 members are left out.
    min_size : int
        Members below which a family has no correlation of its own. Two points have ρ = ±1, whatever they are.
    n_shuffles : int
        For the p-value of the average.
    **options : object
        ``kind``, ``interval`` and ``level`` of ``rank_correlation``.

    Raises
    ------
    ValueError
        If no family has a correlation, and for columns of different lengths.

    Examples
    --------
    >>> x, y = [1, 2, 3, 4, 5, 6, 7, 8], [4, 5, 6, 7, 0, 1, 2, 3]
    >>> found = family_correlations(x, y, ["a"] * 4 + ["b"] * 4, np.random.default_rng(0))
    >>> round(found.within.rho, 2), round(found.pooled.rho, 2), found.reversed
    (1.0, -0.52, True)
    """
    columns = [finite_array(x, "x", 1), finite_array(y, "y", 1)]
    labels = np.asarray([str(name) for name in family])
    if not len(columns[0]) == len(columns[1]) == len(labels):
        counts = f"{len(labels)} names beside {len(columns[0])} x and {len(columns[1])} y"
        raise ValueError(f"family: found {counts}, expected as many of each.")
    fixed = None if given is None else np.atleast_2d(finite_array(given, "given", (1, 2)))
    options = {"rng": rng, **options}
    data = _Data(columns[0], columns[1], fixed)
    members = {str(name): np.flatnonzero(labels == name) for name in dict.fromkeys(labels)}
    families: dict[str, RankCorrelation] = {}
    left_out: dict[str, str] = {}
    for name, rows in members.items():
        if len(rows) < positive_integer(min_size, "min_size", 2):
            left_out[name] = f"{len(rows)} member(s), expected at least {min_size}."
            continue
        try:
            families[name] = data.at(rows).correlation(**options)
        except ValueError as error:
            left_out[name] = str(error)
    if not families:
        raise ValueError(f"family: found no family with a correlation ({left_out}), expected at least one.")
    parts = [data.at(members[name]) for name in families]
    found = list(families.values())
    p_value = (
        found[0].p_value
        if len(found) == 1
        else shuffled_p_value([part.columns for part in parts], found, rng, n_shuffles)
    )
    within = average_correlations(found, p_value, found[0].level)
    return FamilyCorrelations(families, left_out, within, _across(parts, options), _pooled(parts, options))


@dataclass(frozen=True)
class _Data:
    """x (n,), y (n,) and given (k, n) or None."""

    x: np.ndarray
    y: np.ndarray
    given: np.ndarray | None

    @property
    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        return self.x, self.y, self.given

    def at(self, rows: np.ndarray) -> _Data:
        return _Data(self.x[rows], self.y[rows], None if self.given is None else self.given[:, rows])

    def correlation(self, **options: Any) -> RankCorrelation:
        return rank_correlation(self.x, self.y, given=self.given, **options)

    @staticmethod
    def together(parts: Sequence[_Data]) -> _Data:
        given = None if parts[0].given is None else np.concatenate([part.given for part in parts], axis=1)
        return _Data(np.concatenate([part.x for part in parts]), np.concatenate([part.y for part in parts]), given)

    def mean(self) -> _Data:
        given = None if self.given is None else self.given.mean(axis=1, keepdims=True)
        return _Data(np.array([self.x.mean()]), np.array([self.y.mean()]), given)


def _across(parts: Sequence[_Data], options: dict[str, Any]) -> RankCorrelation | None:
    """Correlation of the family means, if there are enough of them."""
    n_given = 0 if parts[0].given is None else len(parts[0].given)
    return _Data.together([part.mean() for part in parts]).correlation(**options) if len(parts) >= n_given + 3 else None


def _pooled(parts: Sequence[_Data], options: dict[str, Any]) -> RankCorrelation:
    """Correlation of all points; its interval by the jackknife over families, of Fisher's z and with Student's t."""
    pooled = _Data.together(parts).correlation(**{**options, "interval": "fisher"})
    if len(parts) < 3:
        return pooled
    rest = [[*parts[:i], *parts[i + 1 :]] for i in range(len(parts))]
    rho = [_Data.together(others).correlation(**{**options, "interval": "fisher"}).rho for others in rest]
    z = np.arctanh(np.clip([pooled.rho, *rho], -_LIMIT, _LIMIT))
    count = len(parts)
    error = np.sqrt((count - 1) / count * ((z[1:] - z[1:].mean()) ** 2).sum())
    half = stats.t.ppf((1 + pooled.level) / 2, count - 1) * error
    return replace(pooled, low=float(np.tanh(z[0] - half)), high=float(np.tanh(z[0] + half)), interval="families")
