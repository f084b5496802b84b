"""Numbers that summarise a profile: a non-negative quantity spread over the inputs, lag 0 first.

All functions work along the last axis, so a stack of profiles (layers, runs, …) is summarised at once.
"""

from __future__ import annotations

import numpy as np

from capcore.validation import finite_array, positive_integer


def recent(n_inputs: int) -> slice:
    """The most recent eighth of the inputs, at least one: lags 0–7 of 64.

    >>> recent(64)
    slice(0, 8, None)
    """
    return slice(0, max(1, positive_integer(n_inputs, "n_inputs") // 8))


def distant(n_inputs: int) -> slice:
    """The further half of the inputs: lags 32–63 of 64.

    >>> distant(64)
    slice(32, 64, None)
    """
    return slice(positive_integer(n_inputs, "n_inputs") // 2, n_inputs)


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
