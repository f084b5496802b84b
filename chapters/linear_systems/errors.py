"""Errors that satisfy the constraints, and how they spread over subspaces (paper 1, section 3.3, Eqs 4–6).

An error X that satisfies KᵀX = 0 lies in 𝒦^⊥: X = Σ λ_j k_j over an orthonormal basis of 𝒦^⊥ (Eq. 4). The
paper asks what the squared error e_S² = ‖SᵀX‖² along a subspace S is on average over random λ (Eqs 5–6).
With M = E[λλᵀ] the answer is tr(SᵀK^⊥ M (K^⊥)ᵀS), which is σ²(n_S − κ_S) if M = σ²I and not otherwise.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from capcore.capacity.constraints import ConstraintSpace

COORDINATE_LAWS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size=shape),
    "two-point": lambda rng, shape: rng.choice([-1.0, 1.0], size=shape),
}
"""Laws of independent coordinates with mean 0 and variance 1."""


def complement(space: ConstraintSpace) -> np.ndarray:
    """(n, n − κ) orthonormal basis of 𝒦^⊥, the vectors k_{κ+1} … k_n of Eq. 4.

    It depends on 𝒦 alone, and not on the basis that ``space`` holds, which rounding can rotate: the columns are those
    of a fixed random matrix, projected onto 𝒦^⊥ and orthonormalised from left to right.

    >>> complement(ConstraintSpace.from_columns([1.0, 0.0, 0.0])).shape
    (3, 2)
    """
    free = qr(space.basis)[0][:, space.dimension :]
    rotation, upper = qr(free.T @ np.random.default_rng(0).normal(size=free.shape))
    signs = np.where(np.diag(upper) < 0, -1.0, 1.0)  # never 0, also where 𝒦 holds one of the random columns
    return free @ (rotation * signs)


def free_dimensions(space: ConstraintSpace, subspaces: Sequence[np.ndarray]) -> np.ndarray:
    """(m,) n_S − κ_S for each S, given by orthonormal columns (n, n_S): what the constraints leave free."""
    return np.array([basis.shape[1] - space.capacity(basis) for basis in map(_columns, subspaces)])


def expected_squares(space: ConstraintSpace, subspaces: list[np.ndarray], mean: object, variance: object) -> np.ndarray:
    """(m,) exact E[e_S²] for independent coordinates λ_j with given means and variances.

    Parameters
    ----------
    subspaces : m arrays (n, n_S) of orthonormal columns, or (n,) unit vectors.
    mean, variance : a number, or (n − κ,) values, one per column of :func:`complement`.

    With mean 0 and one variance this is Eq. 6, σ²(n_S − κ_S), whatever the basis of 𝒦^⊥. Otherwise it depends on that
    basis: E[e_S²] = Σ_j variance_j ‖k_jᵀS‖² + ‖Sᵀ Σ_j mean_j k_j‖².
    """
    basis = complement(space)
    means = np.broadcast_to(np.asarray(mean, dtype=float), basis.shape[1])
    spread = np.column_stack([basis * np.sqrt(np.asarray(variance, dtype=float)), basis @ means])
    return np.array([np.sum(np.square(s.T @ spread)) for s in map(_columns, subspaces)])


def share_ratios(space: ConstraintSpace, mean: object = 0.0, variance: object = 1.0) -> np.ndarray:
    """(n,) exact expected share of the squared error at each input, over the share (1 − κ_i)/(n − κ) of Eq. 6.

    Parameters
    ----------
    mean, variance : as for :func:`expected_squares`. With mean 0 and equal variances every ratio is 1.
    """
    inputs = list(np.eye(space.n_coefficients))
    expected = expected_squares(space, inputs, mean, variance)
    free = free_dimensions(space, inputs)
    return (expected / expected.sum()) / (free / free.sum())


class SimulatedErrors(NamedTuple):
    """Squared errors along m subspaces in a simulation, beside what Eq. 6 says of their mean.

    Attributes
    ----------
    predicted : (m,) σ²(n_S − κ_S), with σ² = 1. mean : (m,) averages of e_S² over the draws.
    standard_error : (m,) of those averages.
    """

    predicted: np.ndarray
    mean: np.ndarray
    standard_error: np.ndarray

    @property
    def z(self) -> np.ndarray:
        """(m,) departure of the mean from Eq. 6, in standard errors; 0 where the two agree to rounding."""
        departure = self.mean - self.predicted
        rounding = np.abs(departure) <= 1e-12 * np.maximum(self.predicted, 1.0)
        with np.errstate(divide="ignore"):  # an infinite z is right for a departure that cannot be chance
            return np.where(rounding, 0.0, departure) / np.where(rounding, 1.0, self.standard_error)

    @property
    def relative_standard_error(self) -> np.ndarray:
        """(m,) standard error of the mean, as a part of what Eq. 6 predicts."""
        return self.standard_error / self.predicted


def simulate(
    space: ConstraintSpace, subspaces: Sequence[np.ndarray], law: str, n_samples: int, rng: np.random.Generator
) -> SimulatedErrors:
    """Squared errors along each subspace for random X in 𝒦^⊥ with i.i.d. coordinates (Eqs 4–6).

    Parameters
    ----------
    subspaces : m arrays (n, n_S) of orthonormal columns, or (n,) unit vectors.
    law : distribution of the λ, see ``COORDINATE_LAWS``. n_samples : draws, at least 2.

    >>> space = ConstraintSpace.from_columns([1.0, 0.0])
    >>> simulate(space, [np.array([0.0, 1.0])], "two-point", 10, np.random.default_rng(0)).mean.tolist()
    [1.0]
    """
    basis = complement(space)
    errors = basis @ COORDINATE_LAWS[law](rng, (basis.shape[1], n_samples))
    squares = np.array([np.square(s.T @ errors).sum(axis=0) for s in map(_columns, subspaces)])
    return SimulatedErrors(
        predicted=free_dimensions(space, subspaces),
        mean=squares.mean(axis=1),
        standard_error=squares.std(axis=1, ddof=1) / np.sqrt(n_samples),
    )


def _columns(subspace: np.ndarray) -> np.ndarray:
    return subspace[:, None] if subspace.ndim == 1 else subspace
