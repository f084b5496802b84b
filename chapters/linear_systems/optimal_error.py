"""The error of a trained model, input by input, beside its capacity (paper 1, section 3.3, Eq. 7).

At an optimum the error lies in 𝒦^⊥, so that x_i² ≤ ‖X‖²(1 − κ_i) at every input, with equality when κ = n − 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.allocation import allocate
from capcore.architectures.base import Architecture
from capcore.optimum import Problem, fit
from capcore.processes import Process
from capcore.validation import finite_array


def relative_squares(error: object) -> np.ndarray:
    """(n,) x_i² / ‖X‖²: the share of the squared error on each input.

    Raises ``ValueError`` for an error of zeros, of which there are no shares.
    """
    array = finite_array(error, "error", 1)
    largest = np.abs(array).max()
    if largest == 0:
        raise ValueError("error: found only zeros, expected an error (the model attains its target exactly).")
    return np.square(array / largest) / np.sum(np.square(array / largest))


@dataclass(frozen=True, eq=False)
class OptimalError:
    """The error Â − A* of a trained model beside its capacity, for Eq. 7 and the limit behind it.

    Attributes
    ----------
    shares : (n,) x_i² / ‖X‖². free : (n,) 1 − κ_i, which no share can exceed. total : κ.
    loss : excess variance of the fit.
    """

    shares: np.ndarray
    free: np.ndarray
    total: int
    loss: float

    @property
    def mean_shares(self) -> np.ndarray:
        """(n,) (1 − κ_i)/(n − κ), the share that Eq. 6 gives to the mean over random errors in 𝒦^⊥."""
        return self.free / (self.free.size - self.total)

    @property
    def ratio(self) -> np.ndarray:
        """(n,) share over free dimension, at most 1 at an optimum; 0 where both are rounding."""
        rounding = (self.free < 1e-12) & (self.shares < 1e-12)
        return np.where(rounding, 0.0, self.shares) / np.where(rounding, 1.0, np.maximum(self.free, 1e-16))


def optimal_error(arch: Architecture, process: Process | Problem) -> OptimalError | None:
    """How the error of a fitted model is spread over the inputs, or None when it attains A* and has no error.

    A loss below 1e-20 of that of A = 0 counts as attained: the error then consists of rounding.

    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import AR1, PowerLaw
    >>> arch = Hierarchical(channels=1, n_layers=2)
    >>> optimal_error(arch, PowerLaw()).total, optimal_error(arch, AR1(0.5))
    (3, None)
    """
    if arch.input_dim != 1:
        raise ValueError(f"arch: found input_dim = {arch.input_dim}, expected 1 (one error per input).")
    problem = Problem.of(arch, process)
    found = fit(arch, problem)
    if found.loss <= 1e-20 * problem.loss(np.zeros(arch.n_inputs)):
        return None
    alloc = allocate(arch, found.params, problem)
    return OptimalError(
        relative_squares(found.coefficients - problem.target), 1 - alloc.per_input, alloc.total, found.loss
    )
