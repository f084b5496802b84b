"""Stationary Gaussian processes: autocovariance, covariance and optimal linear predictor.

A process knows its autocovariance sequence; everything else follows from it (paper 1, Appendix B).
The paper never states the autocovariance behind its figures, so the families here are the book's
choice; ``PowerLaw(0.5)`` is the default because its losses fall in the paper's range.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh, toeplitz

from capcore.memory import covariance_bytes, covariance_too_large, fits, lags_bytes, lags_too_large
from capcore.toeplitz import (
    autocovariance_from_predictor,
    condition_bound,
    levinson_durbin,
    reflection_coefficients,
)
from capcore.validation import finite_array, finite_number, one_of, positive_integer

DENSE_LIMIT = 1024  # lags up to which the eigenvalues of Σ are looked at before it is trusted


class Process(ABC):
    """A zero-mean stationary Gaussian process y_t in one dimension."""

    input_dim = 1

    @abstractmethod
    def _sequence(self, n: int) -> np.ndarray:
        """(n,) c_0, …, c_{n−1}, unchecked."""

    def autocovariance(self, n: int) -> np.ndarray:
        """(n,) autocovariances c_0, …, c_{n−1} at lags 0 … n−1 (paper 1, Eq. 30).

        Raises ``ValueError`` when n is not a positive whole number, does not fit into memory, or a value comes out NaN
        or infinite.
        """
        if not fits(lags_bytes(n)):
            raise lags_too_large(n)
        return finite_array(self._sequence(positive_integer(n, "n")), "autocovariance", 1)

    def covariance(self, n: int) -> np.ndarray:
        """(n, n) covariance matrix Σ of n successive samples, Σ_ij = c_|i−j| (paper 1, Eq. 30).

        Raises ``ValueError`` when the sequence is not positive definite or numerically singular, and
        :class:`~capcore.memory.TooLargeError` when the matrix would not fit into memory.
        """
        if not fits(covariance_bytes(n)):
            raise covariance_too_large(n)
        c = self.autocovariance(n)
        check_positive_definite(c)
        return toeplitz(c)

    def predictor(self, n: int) -> tuple[np.ndarray, float]:
        """Best linear prediction of the next sample from the last n (paper 1, Eq. 31).

        Returns
        -------
        target : (n,) coefficients A*, lag 0 (the most recent sample) first.
        variance : v* = c_0 − A*·(c_1, …, c_n), the variance of the prediction error.

        Raises ``ValueError`` when the sequence is not positive definite or numerically singular.
        The paper prints v* with 1 in place of c_0, and the covariances in an order that depends on the
        direction of time; here c_0 may be anything, and lag 0 comes first.

        >>> PowerLaw(0.5).predictor(2)[0].round(4)
        array([0.5977, 0.1547])
        """
        target, variance = check_positive_definite(self.autocovariance(positive_integer(n, "n") + 1))
        return target, variance

    def with_nugget(self, variance: float) -> WithNugget:
        """The process plus independent white noise of the given variance: c_0 grows, the rest stays."""
        return WithNugget(self, variance)


def check_positive_definite(autocovariance: np.ndarray) -> tuple[np.ndarray, float]:
    """Optimal predictor and its variance, or a refusal if the sequence defines no usable covariance.

    Parameters
    ----------
    autocovariance : (n + 1,) c_0, …, c_n.

    Returns
    -------
    target : (n,) and variance : float, of the predictor of order n.

    Refuses a sequence whose covariance has an eigenvalue that is negative beyond rounding (not positive
    definite), and one whose covariance is numerically singular. The latter shows in a prediction-error
    variance that is lost in rounding, or in a condition number beyond 1/(n·eps), where a linear solve with Σ has
    no correct digit left: from the eigenvalues up to 1,024 lags, from the lower bound
    :func:`~capcore.toeplitz.condition_bound` for longer sequences.
    """
    c = np.asarray(autocovariance, dtype=float)
    size = c.size
    eps = np.finfo(float).eps
    target, variances, reflections = levinson_durbin(c)
    order = variances.size - 1
    # Round-off in the recursion is about eps·c_0 per order: a variance this small has no reliable sign.
    noise = 10 * size * eps * c[0]
    advice = "Add white noise with process.with_nugget(variance), use fewer lags, or choose a rougher process."
    if not c[0] > 0:
        raise ValueError(f"autocovariance: found c_0 = {c[0]:g}, expected a positive variance at lag 0.")
    if order < size - 1 or not variances[-1] > noise:
        # The recursion amplifies rounding on its way to a singular order; eigenvalues do not.
        if not fits(covariance_bytes(order + 1)):
            raise ValueError(
                f"autocovariance: numerically singular or not positive definite at lag {order:,} (too many to tell "
                f"which). Found reflection coefficient {reflections[-1]:.6g}, expected a value strictly between -1 and "
                f"1. {advice}"
            )
        if eigvalsh(toeplitz(c[: order + 1]))[0] < -noise:
            raise ValueError(
                f"autocovariance: not positive definite. Found reflection coefficient {reflections[-1]:.6g} at lag "
                f"{order}, expected a value strictly between -1 and 1: no stationary process has this sequence. "
                "Check the values up to that lag (an estimate with the 1/N normalisation is always valid)."
            )
        raise ValueError(
            f"autocovariance: numerically singular. Found prediction-error variance {max(variances[-1], 0) / c[0]:.1e} "
            f"of c_0 at lag {order}, expected more than {noise / c[0]:.1e} (double precision). {advice}"
        )
    condition = condition_bound(c, target, variances[-1])
    if size <= DENSE_LIMIT:
        eigenvalues = eigvalsh(toeplitz(c))
        condition = max(condition, eigenvalues[-1] / max(eigenvalues[0], np.finfo(float).tiny))
    if condition > 1 / (size * eps):
        raise ValueError(
            f"autocovariance: numerically singular. Found a condition number of at least {condition:.1e} for "
            f"{size} lags, expected less than {1 / (size * eps):.1e} (double precision). {advice}"
        )
    return target, float(variances[-1])


@dataclass(frozen=True)
class PowerLaw(Process):
    """c_τ = (1 + τ)^(−exponent): long memory; convex and decreasing, so positive definite (Pólya).

    >>> PowerLaw(exponent=0.5).autocovariance(4).round(4).tolist()
    [1.0, 0.7071, 0.5774, 0.5]
    """

    exponent: float = 0.5

    def __post_init__(self) -> None:
        if not finite_number(self.exponent, "exponent", "a positive number") > 0:
            raise ValueError(f"exponent: found {self.exponent!r}, expected a positive number (c_τ must decay).")

    def _sequence(self, n: int) -> np.ndarray:
        return (1.0 + np.arange(n)) ** -float(self.exponent)


@dataclass(frozen=True)
class FractionalGaussianNoise(Process):
    """Increments of fractional Brownian motion: c_τ = ½(|τ+1|^2H − 2|τ|^2H + |τ−1|^2H).

    ``hurst`` H in (0, 1); H = ½ is white noise, H > ½ has long memory.

    >>> FractionalGaussianNoise(hurst=0.5).autocovariance(3).tolist()
    [1.0, 0.0, 0.0]
    """

    hurst: float = 0.75

    def __post_init__(self) -> None:
        if not 0 < finite_number(self.hurst, "hurst", "a number strictly between 0 and 1") < 1:
            raise ValueError(f"hurst: found {self.hurst!r}, expected a number strictly between 0 and 1.")

    def _sequence(self, n: int) -> np.ndarray:
        power = 2.0 * self.hurst
        # The second difference cancels; its binomial series τ^2H Σ_j C(2H, 2j) τ^−2j, all of one sign, does not.
        lags = np.arange(2.0, max(n, 2))
        factors = [(power - 2 * j + 2) * (power - 2 * j + 1) / ((2 * j - 1) * (2 * j)) for j in range(1, 28)]
        series = np.zeros_like(lags)
        for factor in reversed(factors):  # Horner; 27 terms, since 2^(−2·27) is below eps
            series = factor * (1 + series) / lags**2
        return np.concatenate([[1.0, np.expm1((power - 1) * np.log(2.0))], lags**power * series])[:n]


@dataclass(frozen=True)
class AR1(Process):
    """First-order autoregression of unit variance: c_τ = phi^τ, with |phi| < 1.

    >>> AR1(phi=0.5).predictor(3)[0].tolist()
    [0.5, 0.0, 0.0]
    """

    phi: float = 0.9

    def __post_init__(self) -> None:
        if not abs(finite_number(self.phi, "phi", "a number strictly between -1 and 1")) < 1:
            raise ValueError(f"phi: found {self.phi!r}, expected a number strictly between -1 and 1 (stationarity).")

    def _sequence(self, n: int) -> np.ndarray:
        return float(self.phi) ** np.arange(n)


@dataclass(frozen=True)
class DampedCosine(Process):
    """c_τ = exp(−τ/decay) cos(2πτ/period): an oscillation that loses its phase; both in samples.

    >>> DampedCosine(decay=10.0, period=4.0).autocovariance(3).round(4).tolist()
    [1.0, 0.0, -0.8187]
    """

    decay: float = 20.0
    period: float = 8.0

    def __post_init__(self) -> None:
        for name in ("decay", "period"):
            if not finite_number(getattr(self, name), name, "a positive number of samples") > 0:
                raise ValueError(f"{name}: found {getattr(self, name)!r}, expected a positive number of samples.")

    def _sequence(self, n: int) -> np.ndarray:
        lags = np.arange(n)
        if n * np.finfo(float).eps > 1e-7 * self.period:
            raise ValueError(
                f"period: found {self.period:.3g} samples for {n:,} lags, expected at least "
                f"{n * np.finfo(float).eps / 1e-7:.1e}: the phase at the last lag is lost in rounding."
            )
        return np.exp(-lags / self.decay) * np.cos(2 * np.pi * lags / self.period)


@dataclass(frozen=True)
class RationalQuadratic(Process):
    """c_τ = (1 + τ²/(2·alpha·scale²))^(−alpha): smooth; ``scale`` in samples.

    The spectrum falls like exp(−√(2·alpha)·scale·ω), so a large scale is numerically singular and refused.

    >>> RationalQuadratic(scale=1.0, alpha=0.5).autocovariance(3).round(4).tolist()
    [1.0, 0.7071, 0.4472]
    """

    scale: float = 1.0
    alpha: float = 1.0

    def __post_init__(self) -> None:
        for name in ("scale", "alpha"):
            if not finite_number(getattr(self, name), name, "a positive number") > 0:
                raise ValueError(f"{name}: found {getattr(self, name)!r}, expected a positive number.")

    def _sequence(self, n: int) -> np.ndarray:
        with np.errstate(over="ignore", under="ignore"):
            square = np.square(np.arange(n) / self.scale) / (2 * self.alpha)
            return np.exp(-self.alpha * np.log1p(square))


class FromAutocovariance(Process):
    """A process given by its own autocovariance sequence c_0, c_1, … (a measured one, say).

    Parameters
    ----------
    values : (m,) autocovariances, lag 0 first; must be positive definite and not numerically singular.

    A predictor of order n needs the lags 0 … n, so n is at most m − 1.

    >>> FromAutocovariance([1.0, 0.5, 0.25]).predictor(2)[0].tolist()
    [0.5, 0.0]
    """

    def __init__(self, values: Any) -> None:
        self.values = finite_array(values, "autocovariance", 1)
        self.values.setflags(write=False)
        check_positive_definite(self.values)

    def __repr__(self) -> str:
        return f"FromAutocovariance(<{self.values.size} lags>)"

    def _sequence(self, n: int) -> np.ndarray:
        if n > self.values.size:
            raise ValueError(
                f"autocovariance: found {self.values.size} lags, expected at least {n} (a covariance of n samples "
                "needs lags 0 … n−1, a predictor of order n needs lags 0 … n). Give a longer sequence."
            )
        return self.values[:n]


class AutoRegressive(Process):
    """The process y_{t+1} = Σ_i a_i y_{t−i} + η with η ~ N(0, v): back from (A, v) to c (paper 1, App. B.1).

    Parameters
    ----------
    coefficients : (m,) A, lag 0 first; the model must be stable.
    variance : v, the variance of the driving noise, positive.

    With A = A*(n) and v = v* of another process, the first n + 1 autocovariances are that process's own.

    >>> AutoRegressive([0.5], 0.75).autocovariance(3).tolist()
    [1.0, 0.5, 0.25]
    """

    def __init__(self, coefficients: Any, variance: float = 1.0) -> None:
        self.coefficients = finite_array(coefficients, "coefficients", 1)
        self.coefficients.setflags(write=False)
        self.variance = finite_number(variance, "variance", "a positive number")
        if not self.variance > 0:
            raise ValueError(f"variance: found {variance!r}, expected a positive number (of the driving noise).")
        reflections = reflection_coefficients(self.coefficients)
        unstable = np.flatnonzero(np.abs(reflections) >= 1)
        if unstable.size:
            order = int(unstable[-1])
            raise ValueError(
                f"coefficients: the autoregression is unstable. Found reflection coefficient {reflections[order]:.6g} "
                f"at order {order + 1}, expected a value strictly between -1 and 1: it has no stationary "
                "autocovariance. Shrink the coefficients, or fit them by a method that guarantees stability."
            )

    def __repr__(self) -> str:
        return f"AutoRegressive(<{self.coefficients.size} coefficients>, variance={self.variance:g})"

    def _sequence(self, n: int) -> np.ndarray:
        return autocovariance_from_predictor(self.coefficients, self.variance, n)


@dataclass(frozen=True)
class WithNugget(Process):
    """A process plus independent white noise of variance ``nugget``.

    >>> WithNugget(AR1(0.5), 0.1).autocovariance(2).tolist()
    [1.1, 0.5]
    """

    process: Process
    nugget: float

    def __post_init__(self) -> None:
        if finite_number(self.nugget, "nugget", "a variance of at least 0") < 0:
            raise ValueError(f"nugget: found {self.nugget!r}, expected a variance of at least 0.")

    def _sequence(self, n: int) -> np.ndarray:
        c = self.process.autocovariance(n)
        c[0] += self.nugget
        return c


FAMILIES: dict[str, type[Process]] = {
    family.__name__: family for family in (PowerLaw, FractionalGaussianNoise, AR1, DampedCosine, RationalQuadratic)
}
"""The five families over which the book's studies and claims run: a sixth would make them say something else."""


def make_process(name: str, **parameters: float) -> Process:
    """The process family called ``name`` with the given parameters (what the notebooks' parameters name).

    Raises ``ValueError`` for an unknown family or an unknown or invalid parameter.

    >>> make_process("AR1", phi=0.5)
    AR1(phi=0.5)
    """
    family = FAMILIES[one_of(name, "process", FAMILIES)]
    known = getattr(family, "__dataclass_fields__", {})
    for key in parameters:
        if key not in known:
            raise ValueError(f"process {name}: found parameter {key!r}, expected {', '.join(map(repr, known))}.")
    return family(**parameters)
