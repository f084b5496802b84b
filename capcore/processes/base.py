"""What every process has: autocovariance, covariance and optimal linear predictor (paper 1, Appendix B).

A process knows its autocovariance sequence; everything else follows from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh, toeplitz

from capcore.checks.arguments import finite_array, finite_number, of_kind, plain_fields, plain_number, positive_integer
from capcore.checks.memory import check_covariance, check_lags, covariance_bytes, fits
from capcore.processes.toeplitz import condition_bound, levinson_durbin

ADVICE = "Add white noise with process.with_nugget(variance), use fewer lags, or choose a rougher process."
DENSE_LIMIT = 1024  # lags up to which the eigenvalues of Σ are checked


class Process(ABC):
    """A zero-mean stationary Gaussian process y_t, by default in one dimension."""

    input_dim = 1

    @abstractmethod
    def _sequence(self, n: int) -> np.ndarray:
        """(n,) c_0, …, c_{n−1}, unchecked; (n, d, d) blocks for d components."""

    def autocovariance(self, n: int) -> np.ndarray:
        """(n,) autocovariances c_0, …, c_{n−1} at lags 0 … n−1 (paper 1, Eq. 30), or (n, d, d) blocks E[x_t x_{t−τ}ᵀ].

        Raises
        ------
        ValueError
            If n is not a positive whole number, or a value comes out NaN or infinite.
        TooLargeError
            If n lags do not fit into memory.
        """
        n = plain_number(n, "n")
        check_lags(n, self.input_dim)
        return finite_array(self._sequence(positive_integer(n, "n")), "autocovariance", (1, 3))

    def covariance(self, n: int) -> np.ndarray:
        """(n, n) covariance matrix Σ of n successive samples, Σ_ij = c_|i−j| (paper 1, Eq. 30).

        Raises
        ------
        ValueError
            If the sequence is not positive definite, or numerically singular.
        TooLargeError
            If the matrix does not fit into memory.
        """
        n = plain_number(n, "n")
        check_covariance(n)
        c = self.autocovariance(n)
        check_positive_definite(c)
        return toeplitz(c)

    def predictor(self, n: int) -> tuple[np.ndarray, float]:
        """Best linear prediction of the next sample from the last n (paper 1, Eq. 31).

        The paper prints v* with 1 in place of c_0, and the covariances in an order that depends on the
        direction of time; here c_0 may be anything, and lag 0 comes first.

        Returns
        -------
        target : (n,) array
            Coefficients A*, lag 0 (the most recent sample) first.
        variance : float
            v* = c_0 − A*·(c_1, …, c_n), the variance of the prediction error.

        Raises
        ------
        ValueError
            If the sequence is not positive definite, or numerically singular.

        Examples
        --------
        >>> from capcore.processes import PowerLaw

        >>> PowerLaw(0.5).predictor(2)[0].round(4)
        array([0.5977, 0.1547])
        """
        return check_positive_definite(self.autocovariance(positive_integer(n, "n") + 1))

    def with_nugget(self, variance: float) -> WithNugget:
        """The process plus independent white noise of the given variance: only c_0 grows."""
        return WithNugget(self, variance)


@dataclass(frozen=True)
class WithNugget(Process):
    """A process plus independent white noise.

    Parameters
    ----------
    process : Process
        A process with one component.
    nugget : float
        Variance of the noise, at least 0.

    Examples
    --------
    >>> from capcore.processes import AR1
    >>> WithNugget(AR1(0.5), 0.1).autocovariance(2).tolist()
    [1.1, 0.5]
    """

    process: Process
    nugget: float

    def __post_init__(self) -> None:
        plain_fields(self)
        of_kind(self.process, "process", Process)
        if self.process.input_dim != 1:
            raise TypeError("process: found several components, expected one. Add the noise to each of them.")
        finite_number(self.nugget, "nugget", "a variance of at least 0", least=0)

    def _sequence(self, n: int) -> np.ndarray:
        c = self.process.autocovariance(n)
        c[0] += self.nugget
        return c


def block_toeplitz(blocks: np.ndarray) -> np.ndarray:
    """(n·d, n·d) symmetric matrix whose block (i, k) is that of lag |i − k|, from blocks (n, d, d)."""
    lags = np.arange(len(blocks))
    return blocks[np.abs(lags[:, None] - lags)].transpose(0, 2, 1, 3).reshape(blocks.shape[0] * blocks.shape[1], -1)


def check_positive_definite(autocovariance: np.ndarray) -> tuple[np.ndarray, float]:
    """Optimal predictor and its variance; raises if the sequence defines no usable covariance.

    A covariance is numerically singular if a prediction-error variance is lost in rounding, or if the condition
    number exceeds 1/(n·eps), so that a linear solve with Σ has no correct digit: computed from the eigenvalues up to
    1,024 lags, and from the lower bound :func:`~capcore.processes.toeplitz.condition_bound` for longer sequences.

    Parameters
    ----------
    autocovariance : (n + 1,) array
        c_0, …, c_n.

    Returns
    -------
    target : (n,) array
        The predictor of order n.
    variance : float
        Variance of its error.

    Raises
    ------
    ValueError
        If the covariance has an eigenvalue that is negative beyond rounding, or is numerically singular.
    """
    c = np.asarray(autocovariance, dtype=float)
    size, eps = c.size, np.finfo(float).eps
    target, variances, reflections = levinson_durbin(c)
    order = variances.size - 1
    # Round-off in the recursion is about eps·c_0 per order: a variance this small has no reliable sign.
    noise = 10 * size * eps * c[0]
    if not c[0] > 0:
        raise ValueError(f"autocovariance: found c_0 = {c[0]:g}, expected a positive variance at lag 0.")
    if order < size - 1 or not variances[-1] > noise:
        # The recursion amplifies rounding on its way to a singular order; eigenvalues do not.
        listed = fits(covariance_bytes(order + 1))
        if listed and eigvalsh(toeplitz(c[: order + 1]))[0] < -noise:
            raise ValueError(
                f"autocovariance: not positive definite. Found reflection coefficient {reflections[-1]:.6g} at lag "
                f"{order}, expected one strictly between -1 and 1. Check the values up to that "
                "lag, or use estimate_process."
            )
        raise ValueError(
            f"autocovariance: numerically singular{'' if listed else ' or not positive definite'}. Found an error "
            f"variance of {max(variances[-1], 0) / c[0]:.1e} c_0 at lag {order:,}, expected at least "
            f"{noise / c[0]:.1e} in double precision. {ADVICE}"
        )
    condition = condition_bound(c, target, variances[-1])
    if size <= DENSE_LIMIT:
        eigenvalues = eigvalsh(toeplitz(c))
        condition = max(condition, eigenvalues[-1] / max(eigenvalues[0], np.finfo(float).tiny))
    if condition > 1 / (size * eps):
        raise ValueError(
            f"autocovariance: numerically singular. Found condition number {condition:.1e} for {size} lags, "
            f"expected at most {1 / (size * eps):.1e}. {ADVICE}"
        )
    return target, float(variances[-1])
