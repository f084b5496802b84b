"""What an allocation will take before it starts, and a budget for what can be stopped.

The model counts multiplications and additions of matrices, numbers that pass through memory, and gradients over all
examples; one small product and one gradient of the network at hand are timed. With N·K outputs and p parameters:

======================= ========================================================================================
dense, Jacobian         K gradients; 4 N·K·p numbers
dense, Gauss–Newton     N·K·p² for JᵀWJ, p³/3 for its Cholesky root, N·K·p² for a triangular solve
dense, full Hessian     2.5 p gradients more, and again p³/3 and N·K·p²
dense, a stopping time  10 p³ for eigenvectors and 2 N·K·p² for J times them, in the place of Cholesky and its solve
dense, M columns        2 N·K·p·M for the capacities of subspaces
sketch                  a solve for each of c columns, of 60 steps: 1.5 gradients a step, 2.5 with the full Hessian
======================= ========================================================================================

A singular or indefinite H needs eigenvectors that are not counted, and the number of steps of a solve depends on the
condition of H: a few tens where weight decay is strong, hundreds where it is weak. So an estimate is good to a factor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

MOVED = 16.0
"""Operations of a matrix product in the time in which memory delivers one number."""
EIGENVECTORS = 10.0
"""Operations that eigenvalues and eigenvectors take, over p³."""
RESIDUAL = 2.5
"""Gradients that a product with the full Hessian takes; 1.5 without the residual curvature."""
PLAIN = 1.5
GRADIENT = 6.0
"""Operations of a gradient for each example and parameter."""
STEPS = 60
"""Steps that a solve of the sketch is thought to take."""
SMALL = 2e11
"""Operations up to which the dense route is taken without timing anything: some ten seconds of one core."""
PATIENCE = 60.0
"""Seconds up to which the dense route is taken although the sketch may be faster: it is exact."""
SIDE = 384
"""Rows of the matrix whose product is timed."""

clock: Callable[[], float] = time.perf_counter
"""Seconds since some moment."""


@dataclass(frozen=True)
class Cost:
    """Operations of matrix products, or what takes as long; gradients over all examples, and operations of one."""

    operations: float
    gradients: float
    gradient: float = 0.0

    def seconds(self, speed: Speed) -> float:
        """How long it takes.

        >>> Cost(2e9, 3.0).seconds(Speed(operations=1e9, gradient=0.5))
        3.5
        """
        return self.operations / speed.operations + self.gradients * speed.gradient


@dataclass(frozen=True)
class Speed:
    """Operations of matrix products a second, and seconds that one gradient over all examples takes."""

    operations: float
    gradient: float

    @classmethod
    def of(cls, gradient: Callable[[], object]) -> Speed:
        """Time one product of matrices, and one call of a function that has been called before."""
        matrix = np.random.default_rng(0).normal(size=(SIDE, SIDE))
        product = min(_seconds(lambda: matrix @ (matrix + 1.0)) for _ in range(3))
        return cls(2.0 * SIDE**3 / max(product, 1e-9), max(_seconds(gradient), 0.0))


def _seconds(function: Callable[[], object]) -> float:
    start = clock()
    function()
    return clock() - start


def dense_cost(n: int, k: int, p: int, *, full: bool, stopped: bool, columns: int) -> Cost:
    """The dense route of N examples with K outputs, p parameters and all ``columns`` of subspaces: see the table above.

    >>> gauss_newton = dense_cost(1000, 10, 1000, full=False, stopped=False, columns=0)
    >>> round(gauss_newton.operations / 1e10, 3), gauss_newton.gradients
    (2.097, 10.0)
    """
    outputs, size = float(n * k), float(p)
    root, solve = size**3 / 3, outputs * size**2
    if stopped:
        root, solve = EIGENVECTORS * size**3, 2 * outputs * size**2
    again = 2 if full else 1
    operations = outputs * size**2 + again * (root + solve) + outputs * size * (4 * MOVED + 2 * columns)
    return Cost(operations, k + (RESIDUAL * size if full else 0.0), GRADIENT * n * p)


def sketch_cost(p: int, rank: int, solves: int, *, full: bool) -> Cost:
    """The sketched route: ``rank`` products for the preconditioner, then ``solves`` columns of solves.

    >>> sketch_cost(10**6, 64, 20, full=False).gradients
    1896.0
    """
    operations = float(p) * (STEPS * solves * (8 * MOVED + 4 * rank) + 2 * rank**2)
    return Cost(operations, (RESIDUAL if full else PLAIN) * (rank + STEPS * solves))


def route(
    method: str, dense: Cost, sketch: Cost, *, fits: bool, timed: Callable[[], Speed], seconds: float | None
) -> str:
    """The route to take: "dense" or "sketch".

    Parameters
    ----------
    method : str
        "auto", "dense" or "sketch".
    dense, sketch : Cost
    fits : bool
        Whether the dense route fits into memory.
    timed : callable
        Times this machine, and this network.
    seconds : float or None
        The budget.

    Raises
    ------
    ValueError
        If the dense route was asked for and does not fit into the budget: once begun it does not stop.
    """
    if method == "sketch" or (method == "dense" and seconds is None):
        return method
    if method == "auto" and not fits:
        return "sketch"
    if seconds is None and dense.operations + dense.gradients * dense.gradient <= SMALL:
        return "dense"
    speed = timed()
    expected = dense.seconds(speed)
    limit = max(PATIENCE, sketch.seconds(speed)) if seconds is None else seconds
    if expected <= limit:
        return "dense"
    if method == "dense":
        raise ValueError(
            f"seconds: found {seconds:g}, expected at least {expected:.2g} for the dense route, which is not "
            "cut short. Use method='sketch', or fewer examples."
        )
    return "sketch"


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
