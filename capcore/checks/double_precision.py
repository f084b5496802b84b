"""How large the numbers of a product are, and powers of two that keep it within double precision."""

from collections.abc import Sequence

import numpy as np

UNDERFLOW = -950  # binary exponent: products below 2^-950 have begun to lose entries that matter


def to_even_scale(values: np.ndarray) -> np.ndarray:
    """``values`` times the power of two that brings their largest entry into [½, 1); zeros stay.

    >>> to_even_scale(np.array([3.0, -12.0])).tolist()
    [0.1875, -0.75]
    """
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    half = exponent // 2  # in two steps: 2^1074 is no number
    return np.ldexp(np.ldexp(values, -half), half - exponent)


def underflows(kernels: Sequence[np.ndarray]) -> bool:
    """Whether the product of some successive layers is lost in underflow, none of them being zero.

    >>> underflows([np.full((1, 2, 1), 1e-160)] * 2), underflows([np.zeros((1, 2, 1))] * 2)
    (True, False)
    """
    squares = min((float(np.vdot(kernel, kernel)) for kernel in kernels), default=1.0)
    if squares > 0 and len(kernels) * min(0.0, np.log2(squares)) > UNDERFLOW:  # ordinary layers, at little cost
        return False
    largest = np.array([np.abs(kernel).max(initial=0.0) for kernel in kernels])
    if not largest.all():
        return False
    sums = np.concatenate([[0.0], np.cumsum(np.frexp(largest)[1])])
    return bool((sums - np.maximum.accumulate(sums)).min() < UNDERFLOW)
