"""Families of processes by name. To add one, write a class here: as a ``Family`` it is known by its name everywhere.

The paper never states the autocovariance behind its figures, so the families are the book's choice; ``PowerLaw(0.5)``
is the default because its losses fall in the paper's range.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from capcore.checks.arguments import finite_number, one_of, plain_fields, positive_number
from capcore.processes.base import Process

REGISTRY: dict[str, type[Process]] = {}
"""Every family that :func:`make_process` knows, by name."""


class Family(Process):
    """A process with parameters and a name, under which ``capcore`` and :func:`make_process` offer it.

    Parameters are positive numbers, but for a family that has its own ``__post_init__``.
    """

    def __init_subclass__(cls) -> None:
        REGISTRY[cls.__name__] = cls

    def __post_init__(self) -> None:
        plain_fields(self)
        for field in fields(self):  # type: ignore[arg-type]  # its subclasses are dataclasses
            positive_number(getattr(self, field.name), field.name)


@dataclass(frozen=True)
class PowerLaw(Family):
    """c_τ = (1 + τ)^(−exponent): long memory; convex and decreasing, so positive definite (Pólya).

    Parameters
    ----------
    exponent : float
        Positive: the autocovariance decays.

    Examples
    --------
    >>> PowerLaw(exponent=0.5).autocovariance(4).round(4).tolist()
    [1.0, 0.7071, 0.5774, 0.5]
    """

    exponent: float = 0.5

    def _sequence(self, n: int) -> np.ndarray:
        return (1.0 + np.arange(n)) ** -float(self.exponent)


@dataclass(frozen=True)
class FractionalGaussianNoise(Family):
    """Increments of fractional Brownian motion: c_τ = ½(|τ+1|^2H − 2|τ|^2H + |τ−1|^2H).

    Parameters
    ----------
    hurst : float
        H, strictly between 0 and 1; ½ is white noise, more than ½ long memory.

    Examples
    --------
    >>> FractionalGaussianNoise(hurst=0.5).autocovariance(3).tolist()
    [1.0, 0.0, 0.0]
    """

    hurst: float = 0.75

    def __post_init__(self) -> None:
        plain_fields(self)
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
class AR1(Family):
    """First-order autoregression of unit variance: c_τ = phi^τ.

    Parameters
    ----------
    phi : float
        Strictly between −1 and 1.

    Examples
    --------
    >>> AR1(phi=0.5).predictor(3)[0].tolist()
    [0.5, 0.0, 0.0]
    """

    phi: float = 0.9

    def __post_init__(self) -> None:
        plain_fields(self)
        if not abs(finite_number(self.phi, "phi", "a number strictly between -1 and 1")) < 1:
            raise ValueError(f"phi: found {self.phi!r}, expected a number strictly between -1 and 1 (stationarity).")

    def _sequence(self, n: int) -> np.ndarray:
        return float(self.phi) ** np.arange(n)


@dataclass(frozen=True)
class DampedCosine(Family):
    """c_τ = exp(−τ/decay) cos(2πτ/period): an oscillation that loses its phase.

    Parameters
    ----------
    decay : float
        In samples, positive.
    period : float
        In samples, positive.

    Examples
    --------
    >>> DampedCosine(decay=10.0, period=4.0).autocovariance(3).round(4).tolist()
    [1.0, 0.0, -0.8187]
    """

    decay: float = 20.0
    period: float = 8.0

    def _sequence(self, n: int) -> np.ndarray:
        lags = np.arange(n)
        if n * np.finfo(float).eps > 1e-7 * self.period:
            raise ValueError(f"period: found {self.period:.3g} for {n:,} lags, expected a longer one: phases are lost.")
        return np.exp(-lags / self.decay) * np.cos(2 * np.pi * lags / self.period)


@dataclass(frozen=True)
class RationalQuadratic(Family):
    """c_τ = (1 + τ²/(2·alpha·scale²))^(−alpha): smooth.

    The spectrum falls like exp(−√(2·alpha)·scale·ω), so a large scale makes Σ numerically singular and is refused.

    Parameters
    ----------
    scale : float
        In samples, positive.
    alpha : float
        Positive: c_τ decays like τ^(−2·alpha).

    Examples
    --------
    >>> RationalQuadratic(scale=1.0, alpha=0.5).autocovariance(3).round(4).tolist()
    [1.0, 0.7071, 0.4472]
    """

    scale: float = 1.0
    alpha: float = 1.0

    def _sequence(self, n: int) -> np.ndarray:
        with np.errstate(over="ignore", under="ignore"):
            square = np.square(np.arange(n) / self.scale) / (2 * self.alpha)
            return np.exp(-self.alpha * np.log1p(square))


FAMILIES: dict[str, type[Process]] = {
    family.__name__: family for family in (PowerLaw, FractionalGaussianNoise, AR1, DampedCosine, RationalQuadratic)
}
"""The five families of the book's studies and claims. Stored results depend on them, and on no other family."""


def make_process(name: str, **parameters: float) -> Process:
    """A process of the family ``name`` (which the notebooks take as a parameter).

    Parameters
    ----------
    name : str
        One of :data:`REGISTRY`.
    **parameters : float
        Parameters of that family; those left out have their defaults.

    Raises
    ------
    ValueError
        If the family or a parameter is unknown, or a parameter is invalid.

    Examples
    --------
    >>> make_process("AR1", phi=0.5)
    AR1(phi=0.5)
    """
    family = REGISTRY[one_of(name, "process", REGISTRY)]
    for key in parameters:
        one_of(key, f"parameter of {name}", getattr(family, "__dataclass_fields__", {}))
    return family(**parameters)
