"""How far medians of small groups are known: bootstrap intervals of one, and of the difference of two."""

from __future__ import annotations

import numpy as np
from scipy.stats import bootstrap

from capcore.validation import positive_integer


def median_interval(
    values: np.ndarray, others: np.ndarray | None = None, *, n_resamples: int = 9_999, seed: int = 0
) -> list[float]:
    """Ends of the 95 % interval of the median of values (n,), or of that less the median of others (m,).

    Percentile bootstrap; each group is resampled on its own. Raises ``ValueError`` for a group of fewer than two.

    >>> median_interval(np.array([1.0, 1.0, 1.0]), np.array([3.0, 3.0, 3.0]))
    [-2.0, -2.0]
    """
    samples = (values,) if others is None else (values, others)
    for group in samples:
        positive_integer(len(group), "number of values", 2)

    def statistic(*groups: np.ndarray, axis: int) -> np.ndarray:
        first, *rest = (np.median(group, axis=axis) for group in groups)
        return np.asarray(first - rest[0] if rest else first)

    found = bootstrap(samples, statistic, n_resamples=n_resamples, method="percentile", rng=np.random.default_rng(seed))
    return [float(found.confidence_interval.low), float(found.confidence_interval.high)]
