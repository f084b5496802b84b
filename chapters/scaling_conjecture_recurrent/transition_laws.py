"""What the mean gain of N transitions 1 + N^−a A is, in closed form: the second route to what products of draws show.

Both are logarithms of the mean of ‖P‖²_F/n, the gain of a squared state, over draws of A.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp


def fresh_log_gain(n_steps: int, exponent: float) -> float:
    """Log of the mean gain with fresh A: (1 + N^−2a)^N, exact for every structure at any width.

    >>> round(fresh_log_gain(1024, 0.5), 4)
    0.9995
    """
    return float(n_steps * np.log1p(float(n_steps) ** (-2 * exponent)))


def shared_log_gain(n_steps: int, exponent: float) -> float:
    """Log of the mean gain with one dense A in the limit of many units: Σ_j C(N, j)² N^−2aj.

    The binomial expansion of (1 + N^−a A)^N, and tr A^j (Aᵀ)^k/n → δ_jk for entries of variance 1/n.
    As N grows the sum tends to I₀(2N^{1−a}) for a > ½, and to 1/e of that at a = ½.

    >>> round(float(np.exp(shared_log_gain(4096, 1.0))), 3)  # I₀(2)
    2.279
    """
    j = np.arange(n_steps + 1)
    log_binomial = gammaln(n_steps + 1) - gammaln(j + 1) - gammaln(n_steps - j + 1)
    return float(logsumexp(2 * log_binomial - 2 * exponent * j * np.log(n_steps)))
