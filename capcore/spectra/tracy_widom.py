"""How far the largest eigenvalue of noise strays from the edge of the bulk: the law of Tracy and Widom.

For an N × M matrix of independent standard normal entries, (λ_max(WᵀW) − centre)/width follows it as N and M grow, with
the centre and the width of Johnstone (2001). The tests compute the quantiles by a determinant of Ferrari and Spohn.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

QUANTILES: Mapping[float, float] = {0.9: 0.4501, 0.95: 0.9793, 0.99: 2.0234, 0.999: 3.2722}
"""Quantiles for real matrices (β = 1), rounded to four places."""


def edge(n: float, m: float, level: float = 0.99) -> float:
    """What λ_max(WᵀW) of n × m standard normal entries exceeds with probability 1 − ``level``, about.

    n, m : either may be the larger. level : 0.9, 0.95, 0.99 or 0.999. Raises ``ValueError`` for others.

    >>> round(edge(100, 100), 1)
    421.6
    """
    if level not in QUANTILES:
        raise ValueError(f"level: found {level!r}, expected one of {', '.join(map(str, QUANTILES))}.")
    root, side = np.sqrt(max(n - 1, m - 1, 0.5)), np.sqrt(min(n, m))
    width = (root + side) * (1 / root + 1 / side) ** (1 / 3)
    return float((root + side) ** 2 + QUANTILES[level] * width)
