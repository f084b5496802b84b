"""Numbers that summarise a capacity profile: where it lies, how rough it is, how far it fills up from the recent past.

A profile is a non-negative quantity spread over the inputs, lag 0 (the most recent) first.
"""

import numpy as np

from capcore.checks.arguments import finite_array

SATURATED = 0.99  # a capacity of at least this counts as 1


def recent(n_inputs: int) -> slice:
    """The most recent eighth of the inputs, at least one: lags 0–7 of 64.

    >>> recent(64)
    slice(0, 8, None)
    """
    return slice(0, max(1, n_inputs // 8))


def distant(n_inputs: int) -> slice:
    """The further half of the inputs: lags 32–63 of 64.

    >>> distant(64)
    slice(32, 64, None)
    """
    return slice(n_inputs // 2, n_inputs)


def share(profile: object, where: slice) -> np.ndarray:
    """(…,) part of each profile's total that lies on the inputs ``where``.

    >>> float(share([3.0, 1.0, 0.0, 0.0], slice(0, 1)))
    0.75
    """
    return _distribution(profile)[..., where].sum(axis=-1)


def mean_lag(profile: object) -> np.ndarray:
    """(…,) centre of mass of each profile, in lags.

    >>> float(mean_lag([1.0, 0.0, 1.0]))
    1.0
    """
    weights = _distribution(profile)
    return weights @ np.arange(weights.shape[-1], dtype=float)


def effective_number(profile: object) -> np.ndarray:
    """(…,) effective number of inputs, the exponential of the entropy: n for a uniform profile, 1 for one input.

    >>> effective_number([[1.0, 1.0, 1.0, 1.0], [5.0, 0.0, 0.0, 0.0]]).round(12).tolist()
    [4.0, 1.0]
    """
    weights = _distribution(profile)
    return np.exp(-np.sum(weights * np.log(np.where(weights > 0, weights, 1.0)), axis=-1))


def total_variation(first: object, second: object) -> np.ndarray:
    """(…,) total-variation distance between profiles normalised to sum one: 0 if equal, 1 if disjoint.

    It is the part of the one that lies elsewhere than in the other.

    >>> float(total_variation([1.0, 1.0], [2.0, 0.0]))
    0.5
    """
    return 0.5 * np.abs(_distribution(first) - _distribution(second)).sum(axis=-1)


def _distribution(profile: object) -> np.ndarray:
    """Each profile divided by its sum; negative round-off counts as zero. Raises ``ValueError`` for a sum of zero."""
    array = np.maximum(finite_array(profile, "profile", (1, 2, 3)), 0.0)
    totals = array.sum(axis=-1, keepdims=True)
    if not np.all(totals > 0):
        raise ValueError("profile: found one with a total of zero, expected something to distribute over the inputs.")
    return array / totals


def roughness(values: object) -> float:
    """Σ|κᵢ₊₁ − κᵢ| / (max κ − min κ): 1 for a monotone profile, 2 for one bump, and so on; 0 where it is flat.

    >>> roughness([1.0, 0.5, 0.0]), roughness([0.0, 1.0, 0.0])
    (1.0, 2.0)
    """
    profile = np.asarray(values, dtype=float)
    span = float(np.ptp(profile))
    return float(np.abs(np.diff(profile)).sum() / span) if span else 0.0


def roughness_ratio(values: object, other: object) -> float:
    """Roughness of the first profile over that of the second: above 1 where the second is cleaner, 1 where it is flat.

    >>> roughness_ratio([0.0, 1.0, 0.0], [1.0, 0.5, 0.0])
    2.0
    """
    return roughness(values) / roughness(other) if roughness(other) else 1.0


def half_ratio(values: object) -> float:
    """Capacity of the more recent half of the inputs, divided by that of the older half (the middle one in neither).

    >>> half_ratio([1.0, 1.0, 0.5, 0.5])
    2.0
    """
    profile = np.asarray(values, dtype=float)
    half = profile.size // 2
    return float(profile[:half].sum() / profile[-half:].sum())


def octave_means(values: object) -> np.ndarray:
    """Mean capacity of each octave of lags: 0, 1, 2–3, 4–7, …; the last octave may be cut short.

    >>> octave_means([1.0, 0.8, 0.6, 0.4]).tolist()
    [1.0, 0.8, 0.5]
    """
    profile = np.asarray(values, dtype=float)
    starts = [0, *(2**k for k in range((profile.size - 1).bit_length()))]
    return np.array([part.mean() for part in np.split(profile, starts[1:])])


def octave_increases(values: object, margin: float = 0.01) -> int:
    """Number of octaves whose mean capacity exceeds that of the next more recent octave by more than ``margin``."""
    return int(np.count_nonzero(np.diff(octave_means(values)) > margin))


def share_beyond_saturation(values: object, level: float = SATURATED) -> float:
    """Share of the total capacity on lags older than the first one with a capacity below ``level``.

    >>> share_beyond_saturation([1.0, 0.5, 0.5])
    0.25
    """
    profile = np.asarray(values, dtype=float)
    below = np.flatnonzero(profile < level)
    return float(profile[below[0] + 1 :].sum() / profile.sum()) if below.size else 0.0


def largest_inversion(values: object, level: float = SATURATED) -> float:
    """Largest lead in capacity of an older input over a more recent one that is itself below ``level``.

    >>> round(largest_inversion([1.0, 0.2, 0.6, 0.1]), 9)
    0.4
    """
    profile = np.asarray(values, dtype=float)
    lowest = np.minimum.accumulate(np.where(profile < level, profile, np.inf))[:-1]
    leads = profile[1:] - lowest
    return float(max(leads.max(initial=0.0), 0.0))
