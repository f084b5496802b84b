"""Prediction from fixed features of a Gaussian process: paper 1, §6.2, as a process with d components.

The paper replaces Σ by Σ_φ = E[φ(Y)φ(Y)ᵀ] (paper 1, Eqs 24–25). With features of single inputs (Eq. 27), Σ_φ is exact
by Mehler's formula, and so is the covariance of the features with a function of the next value, whose best linear
prediction is the target A*.
"""

from collections.abc import Callable

import numpy as np
from numpy.polynomial.polynomial import polyval
from scipy.linalg import cho_factor, cho_solve, eigvalsh

from capcore.checks.arguments import all_of_kind, of_kind, positive_integer
from capcore.checks.memory import check_covariance
from capcore.processes.base import Process, block_toeplitz
from capcore.processes.features import Features
from capcore.processes.hermite import ORDER, hermite_coefficients
from capcore.processes.kernels import as_task

TRUNCATION = 1e-9  # covariance that Mehler's sum may leave out at non-zero lags, relative to the variance
MAX_ORDER = 4096  # what the quadrature of capcore.processes.hermite resolves


class FeatureProcess(Process):
    """The features φ_1, …, φ_d of every sample of a Gaussian process; the target is a function g of the next value.

    Its fits and allocations are those in the feature space of paper 1, Eqs 22–26; the capacity of an input is the sum
    over its features (Eq. 28). The means of the features and of g are subtracted. The predictor is the best *linear in
    the features*; it is not the conditional expectation of g unless that is a sum of functions of single inputs in the
    span of φ.

    Parameters
    ----------
    process : Process
        A one-dimensional process; its samples are divided by their standard deviation √c_0 before φ and g are applied.
    features : Features
        The map φ.
    target : callable
        g, a vectorised function of the (standardised) next value.
    kinks : tuple of float
        Points where g is not smooth, or jumps.
    order : int
        Number of terms of Mehler's sum.

    Attributes
    ----------
    input_dim : int
        Number d of features.
    target_variance : float
        Variance of g, which is the loss of predicting its mean.

    Raises
    ------
    ValueError
        If features are collinear, g is constant, or the sum needs more terms.
    TypeError
        If the process has several components.

    Examples
    --------
    >>> from capcore import AR1, Hermite
    >>> FeatureProcess(AR1(0.5), Hermite(2)).predictor(1)[0].round(4).tolist()[1]
    0.3536
    """

    def __init__(
        self,
        process: Process,
        features: Features,
        target: Callable[[np.ndarray], np.ndarray] = np.square,
        kinks: tuple[float, ...] = (),
        order: int = ORDER,
    ) -> None:
        all_of_kind(kinks, "kinks", float | int | np.floating | np.integer, "numbers")
        process = as_task(process, "process")
        of_kind(process, "process", Process)
        if process.autocovariance(1).ndim != 1:
            raise TypeError(f"process: found {type(process).__name__}, expected a one-dimensional Process.")
        of_kind(features, "features", Features)
        features.check_independent()
        self.process, self.features, self.target, self.kinks = process, features, target, tuple(kinks)
        self.order = positive_integer(order, "order")
        if self.order > MAX_ORDER:
            raise ValueError(f"order: found {order}, expected at most {MAX_ORDER} (what the quadrature resolves).")
        self.input_dim = features.count
        self._target_coefficients, self.target_variance = self._expand_target()
        self._coefficients = features.hermite_coefficients(self.order)

    def __repr__(self) -> str:
        return f"FeatureProcess({self.process!r}, {self.features!r})"

    def correlation(self, n: int) -> np.ndarray:
        """(n,) ρ_τ = c_τ/c_0 of the Gaussian process, at lags 0 … n−1."""
        c = self.process.autocovariance(n)
        return c / c[0]

    def _sequence(self, n: int) -> np.ndarray:
        """(n, d, d) blocks Σ_k a_k a_kᵀ ρ_τ^k, with a_k the Hermite coefficients; the one at lag 0 by quadrature."""
        rho = self.correlation(n)
        products = np.einsum("ik,jk->kij", self._coefficients, self._coefficients)
        blocks = np.moveaxis(polyval(rho, products), -1, 0)
        blocks[0] = self.features.second_moment()
        rest = np.diag(blocks[0]) - np.square(self._coefficients).sum(axis=1)
        self._check_truncation(np.max(rest / np.diag(blocks[0])), rho, "features")
        return blocks

    def covariance(self, n: int) -> np.ndarray:
        """(n·d, n·d) Σ_φ of the features of n successive samples, position-major (paper 1, Eq. 24).

        Raises
        ------
        ValueError
            If it is numerically singular.
        """
        check_covariance(n, self.input_dim)
        self.process.covariance(n)  # raises if it is not a covariance
        sigma = block_toeplitz(self.autocovariance(n))
        scale = np.sqrt(np.diag(sigma))
        smallest = eigvalsh(sigma / np.outer(scale, scale), subset_by_index=[0, 0])[0]
        expected = 10 * sigma.shape[0] * np.finfo(float).eps
        if smallest < expected:
            raise ValueError(
                f"features: numerically singular. Found the eigenvalue {smallest:.1e}, expected at least "
                f"{expected:.1e}. Use fewer features or inputs, or add white noise by with_nugget."
            )
        return sigma

    def predictor(self, n: int) -> tuple[np.ndarray, float]:
        """Best prediction of g(next) that is linear in the features of the last n samples.

        Returns
        -------
        target : (n·d,) array
            A*, position-major, lag 0 first.
        variance : float
            v*, the variance of its error.

        Raises
        ------
        ValueError
            If Σ_φ is numerically singular.
        """
        sigma = self.covariance(n)
        self.process.covariance(n + 1)
        rho = self.correlation(n + 1)
        self._check_truncation(1 - np.square(self._target_coefficients).sum() / self.target_variance, rho, "target")
        moments = polyval(rho[1:], (self._target_coefficients * self._coefficients).T).T.ravel()
        target = cho_solve(cho_factor(sigma), moments)
        return target, float(self.target_variance - target @ moments)

    def _expand_target(self) -> tuple[np.ndarray, float]:
        if not callable(self.target):
            raise TypeError(f"target: found {self.target!r}, expected a function of the next value, such as np.square.")
        coefficients = hermite_coefficients(self.target, self.order, self.kinks, "target")
        if coefficients.ndim != 1:
            raise ValueError(f"target: found {coefficients.shape[1]} values per argument, expected one.")
        square = hermite_coefficients(lambda y: np.square(self.target(y)), 0, self.kinks, "target")[0]
        variance = float(square - coefficients[0] ** 2)
        if not variance > 1e-12 * square:
            raise ValueError("target: found a constant, expected a function that varies: there is nothing to predict.")
        coefficients[0] = 0.0
        return coefficients, variance

    def _check_truncation(self, rest: float, rho: np.ndarray, name: str) -> None:
        """Refuse a sum that leaves out too much; the bound is the share of variance that it misses, times ρ^order."""
        left_out = max(rest, 0.0) * float(np.max(np.abs(rho[1:]), initial=0.0)) ** self.order
        if left_out > TRUNCATION:
            raise ValueError(
                f"{name}: Mehler's sum of {self.order} terms leaves out up to {left_out:.1e} of the variance, expected "
                f"at most {TRUNCATION:.0e}. Give a larger order (up to {MAX_ORDER}) or smoother functions."
            )
