"""What the dense route will take before it starts, and a budget for what can be stopped.

The model counts multiplications and additions of matrices, numbers that pass through memory, and gradients over all
examples; one small product and one gradient of the network at hand are timed. With N·K outputs and p parameters:

======================= ========================================================================================
Jacobian                K gradients; 4 N·K·p numbers
Gauss–Newton            N·K·p² for JᵀWJ, p³/3 for its Cholesky root, N·K·p² for a triangular solve
full Hessian            2.5 p gradients more, and again p³/3 and N·K·p²
a stopping time         10 p³ for eigenvectors and 2 N·K·p² for J times them, in the place of Cholesky and its solve
======================= ========================================================================================

A singular or indefinite H needs eigenvectors that are not counted. So an estimate is good to a factor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf

import numpy as np

MOVED = 16.0
"""Operations of a matrix product in the time in which memory delivers one number."""
EIGENVECTORS = 10.0
"""Operations that eigenvalues and eigenvectors take, over p³."""
RESIDUAL = 2.5
"""Gradients that a product with the residual curvature takes."""
SIDE = 384
"""Rows of the matrix whose product is timed."""

clock: Callable[[], float] = time.perf_counter
"""Seconds since some moment."""


def dense_operations(n: int, k: int, p: int, *, full: bool, stopped: bool) -> float:
    """Operations of the dense route of N examples with K outputs and p parameters: see the table above.

    >>> round(dense_operations(1000, 10, 1000, full=False, stopped=False) / 1e10, 3)
    2.097
    """
    outputs, size = float(n * k), float(p)
    root, solve = size**3 / 3, outputs * size**2
    if stopped:
        root, solve = EIGENVECTORS * size**3, 2 * outputs * size**2
    again = 2 if full else 1
    return outputs * size**2 + again * (root + solve) + outputs * size * 4 * MOVED


def dense_seconds(
    n: int, k: int, p: int, gradient: Callable[[], object], *, full: bool = False, stopped: bool = False
) -> float:
    """How long that takes here, from a product of matrices and one gradient, which has been taken before."""
    matrix = np.random.default_rng(0).normal(size=(SIDE, SIDE))
    product = min(_seconds(lambda: matrix @ (matrix + 1.0)) for _ in range(3))
    operations = dense_operations(n, k, p, full=full, stopped=stopped)
    return operations * product / (2.0 * SIDE**3) + (k + RESIDUAL * p * full) * _seconds(gradient)


def _seconds(function: Callable[[], object]) -> float:
    start = clock()
    function()
    return clock() - start


class Budget:
    """Seconds that may still be spent; without limit for None."""

    def __init__(self, seconds: float | None = None) -> None:
        self.end = inf if seconds is None else clock() + seconds

    @property
    def limited(self) -> bool:
        """Whether there is a limit."""
        return self.end < inf

    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.limited and clock() >= self.end

    def share(self, part: float) -> Budget:
        """A budget of this share of what is left; what it does not spend stays."""
        return Budget(part * max(self.end - clock(), 0.0)) if self.limited else self
