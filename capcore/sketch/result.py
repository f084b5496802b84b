"""Capacity with an error bar: what the estimators return.

A single input's estimate rests on n independent pairs (y², w²), y being the input's entry in the projection of a
Gaussian vector on the constraint space and w what is left of it. They are independent, y² ~ κ χ² and w² ~ (1 − κ) χ²,
so that the ratio of their sums is κ/(1 − κ) times an F variable: its interval is exact, whatever κ is. For a group,
the sums are weighted χ² with weights λ_j and 1 − λ_j, the squared cosines of the principal angles. Weights in [0, 1] of
sum κ have Σ λ_j² ≤ κ and ≤ κ², and so at least n · max(1, κ) degrees of freedom (Satterthwaite): taking that many is
conservative, and exact where all weights are 0 or 1. Limits invert the test: each is the capacity at which a ratio as
far out as the one found has probability (1 − confidence)/2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import fdtrc, fdtri

from capcore.validation import finite_array

TINY = 1e-100  # instead of nothing in a denominator
BISECTIONS = 40  # leave 1e-12 of the size of a group


@dataclass(frozen=True, eq=False)
class Interval:
    """Estimates with confidence limits, each (k,). Limits hold entry by entry, not for all entries at once."""

    value: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def covers(self, truth: object, slack: float = 1e-9) -> np.ndarray:
        """(k,) whether each truth lies within its limits, ``slack`` being left for rounding in the truth itself.

        >>> Interval(np.array([0.5]), np.array([0.4]), np.array([0.7])).covers([0.6]).tolist()
        [True]
        """
        values = np.asarray(truth, dtype=float)
        return (self.lower - slack <= values) & (values <= self.upper + slack)


@dataclass(frozen=True, eq=False)
class CapacityEstimate:
    """Capacity of inputs, octaves and any other groups, with limits.

    Attributes
    ----------
    method : "range", "whitened" (both exact but for rounding) or "hutchinson" (random).
    n_inputs, input_dim : positions, components each.
    rank : numerical dimension of 𝒦 found by an exact method, None for "hutchinson".
    largest_total : what bounds κ from above: the exact generic capacity where ``generic_total`` is known; otherwise the
        numerical rank of an exact method, or min(n, p) for "hutchinson".
    generic_total : exact generic capacity, None where it is not known.
    confidence : of the limits, input by input and group by group.
    inside, outside : (n_inputs · input_dim,) sums over the probes of y² and w²; exact methods: κ_i and 1 − κ_i.
    error : bound on the Euclidean norm of all the probes' solver errors; exact methods: bound, to first order, on what
        rounding does to the capacity of any group.
    n_probes : number of probes, 0 for exact methods.
    ridge : relative to the largest singular value; 0 for exact methods.
    singular_values : of the sketch, descending; those above the tolerance were kept.
    """

    method: str
    n_inputs: int
    input_dim: int
    rank: int | None
    largest_total: int
    generic_total: int | None
    confidence: float
    inside: np.ndarray = field(repr=False)
    outside: np.ndarray = field(repr=False)
    error: float
    n_probes: int = 0
    ridge: float = 0.0
    singular_values: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)

    @cached_property
    def per_input(self) -> Interval:
        """(n_inputs,) capacity of each position, lag 0 first."""
        return self.of_groups(np.arange(self.n_inputs))

    @cached_property
    def per_octave(self) -> Interval:
        """Capacity of each octave of lags, 0, 1, 2–3, 4–7, …: sums, the last one perhaps cut short."""
        return self.of_groups(self.octaves)

    @property
    def octaves(self) -> np.ndarray:
        """(n_inputs,) octave of each lag: 0 for lag 0, 1 for lag 1, 2 for lags 2–3, …"""
        return np.frexp(np.arange(self.n_inputs))[1]

    @cached_property
    def total(self) -> Interval:
        """(1,) capacity of all inputs, κ."""
        return self.of_groups(np.zeros(self.n_inputs, int))

    def of_groups(self, labels: object) -> Interval:
        """Capacity of groups of positions: ``labels`` (n_inputs,) holds a group number 0 … k − 1 per position.

        The limits are for the capacity itself, without any ridge. A ridge, and a rank decision that falls below the
        generic rank, only ever *lose* capacity, and lose no more than what is missing in total: a group has at least
        what was found in it, and at most κ minus what was found in all the others.
        """
        groups = self._checked(labels)
        found, rest = self._ridge_sums(groups)
        if self.n_probes == 0:
            rank, sizes = self.rank or 0, self._sizes(groups)
            missing = max(self.largest_total - rank, 0)
            found = np.minimum(found, sizes)
            if len(found) == 1:  # all scores: their sum is the rank, which the sum as computed may miss by rounding
                return Interval(found, np.minimum(found, rank), np.maximum(found, rank + missing))
            spread = min(self.error, float(self.largest_total))
            return Interval(found, np.maximum(found - spread, 0), np.minimum(found + spread + missing, sizes))
        own = self.ridge_capacity(groups)
        others = self._limits(found.sum() - found, rest.sum() - rest, self._sizes(groups, complement=True))
        upper = np.maximum(np.minimum(self._sizes(groups), self.largest_total - others.lower), own.lower)
        return Interval(np.clip(own.value, own.lower, upper), own.lower, upper)

    def ridge_capacity(self, labels: object) -> Interval:
        """Capacity with the ridge, Σ_i [B(BᵀB + μ)⁻¹Bᵀ]_ii over a group: what the probes estimate without a bound.

        It is below the capacity, and the closer the smaller the ridge. For an exact method there is no ridge.
        """
        groups = self._checked(labels)
        if self.n_probes == 0:
            return self.of_groups(groups)
        found, rest = self._ridge_sums(groups)
        return self._limits(found, rest, self._sizes(groups))

    def _ridge_sums(self, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        by_row = np.repeat(groups, self.input_dim)
        return np.bincount(by_row, self.inside), np.bincount(by_row, self.outside)

    def _sizes(self, groups: np.ndarray, complement: bool = False) -> np.ndarray:
        counts = self.input_dim * np.bincount(groups).astype(float)
        return counts.sum() - counts if complement else counts

    def _limits(self, found: np.ndarray, rest: np.ndarray, sizes: np.ndarray) -> Interval:
        """F limits, widened by the solver's error."""
        share = found / np.maximum(found + rest, TINY)
        tail = (1 - self.confidence) / 2
        limits = []
        for sign, level in ((-1, tail), (1, 1 - tail)):
            first = np.square(np.maximum(np.sqrt(found) + sign * self.error, 0))
            second = np.square(np.maximum(np.sqrt(rest) - sign * self.error, 0))
            limits.append(f_limit(first, second, sizes, self.n_probes, level))
        return Interval(sizes * share, *limits)

    def _checked(self, labels: object) -> np.ndarray:
        values = finite_array(labels, "labels", 1)
        groups = values.astype(int)
        if values.size != self.n_inputs or (groups != values).any() or groups.min() < 0:
            raise ValueError(
                f"labels: found {labels!r}, expected {self.n_inputs} group numbers 0, 1, …, one per position."
            )
        if (np.bincount(groups) == 0).any():
            raise ValueError("labels: found a group number without positions, expected 0, 1, … without gaps.")
        return groups


def f_limit(inside: np.ndarray, outside: np.ndarray, sizes: np.ndarray, n_probes: int, level: float) -> np.ndarray:
    """(k,) the capacity at which a ratio of sums this large or larger has the probability ``level``.

    Parameters
    ----------
    inside, outside : (k,) sums of y² and w² over groups of ``sizes`` (k,) entries and ``n_probes`` probes.

    The degrees of freedom go with the capacity that is tried, not with the estimate: a limit inverts a test.

    >>> f_limit(np.array([3.0]), np.array([3.0]), np.array([1.0]), 4, 0.5).round(12).tolist()
    [0.5]
    """
    ratio = inside / np.maximum(outside, TINY)
    if np.all(sizes <= 1):
        quantile = float(fdtri(n_probes, n_probes, 1 - level))
        return sizes * inside / np.maximum(inside + quantile * outside, TINY)
    low, high = np.zeros_like(sizes), sizes.copy()
    for _ in range(BISECTIONS):
        tried = (low + high) / 2
        odds = np.maximum(tried, TINY) / np.maximum(sizes - tried, TINY)
        degrees = (n_probes * np.maximum(1, k) for k in (tried, sizes - tried))
        too_small = fdtrc(*degrees, ratio / odds) < level
        low, high = np.where(too_small, tried, low), np.where(too_small, high, tried)
    return high if level > 0.5 else low
