"""Fixed features of a standard normal input, and their moments (paper 1, §6.2).

A feature map φ = (φ_1, …, φ_d) acts on each input separately (paper 1, Eq. 27). The mean of every feature
under N(0, 1) is subtracted, so that E[φφᵀ] is a covariance; otherwise the Σ_φ of Eq. 24 would contain the means.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, eigvalsh, solve_triangular
from scipy.special import ndtri

from capcore.checks.arguments import finite_array, moderate, plain_fields, positive_integer, positive_number
from capcore.processes.hermite import ORDER, hermite_coefficients, hermite_values, normal_quadrature

MOST = 1000  # largest number of features of a basis
COLLINEAR = 1e-12  # the smallest eigenvalue of a correlation matrix of features must be larger


class Features(ABC):
    """A map from one standard normal input to features of mean zero: φ^1, …, φ^d of paper 1, Eq. 27.

    A subclass defines ``count`` and ``_values``, and ``kinks`` if its features are not smooth.

    Attributes
    ----------
    count : int
        Number d of features.
    """

    count: int
    kinks: tuple[float, ...] = ()
    """The points where a feature is not smooth, or jumps: quadrature is split there."""

    @abstractmethod
    def _values(self, y: np.ndarray) -> np.ndarray:
        """(…, count) the features at y (…,), before their means are subtracted."""

    def __call__(self, y: object) -> np.ndarray:
        """(…, count) the features at y (…,); each has mean zero under N(0, 1).

        Raises
        ------
        ValueError
            If y contains anything but finite numbers, or a feature overflows.
        """
        y = finite_array(y, "y", tuple(range(32)))
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._values(y) - self._coefficients(0)[:, 0]
        if not np.isfinite(values).all():
            raise ValueError(f"y: found values up to {np.abs(y).max():.1e}, expected some where {self!r} is finite.")
        return values

    def _coefficients(self, order: int) -> np.ndarray:
        return hermite_coefficients(self._values, order, self.kinks, "features").T

    def hermite_coefficients(self, order: int = ORDER) -> np.ndarray:
        """(count, order + 1) coefficients of the features in He_k/√k!, k = 0 … order; those of k = 0 are zero."""
        coefficients = self._coefficients(order)
        coefficients[:, 0] = 0.0
        return coefficients

    def second_moment(self) -> np.ndarray:
        """(count, count) E[φφᵀ] under N(0, 1), by quadrature.

        Raises
        ------
        ValueError
            If features exceed 1e150.
        """
        nodes, weights = normal_quadrature(self.kinks)
        values = self(nodes)
        if values.any():
            moderate(values, "features")
        moment = values.T @ (weights[:, None] * values)
        return (moment + moment.T) / 2

    def check_independent(self) -> None:
        """Raise ``ValueError`` if a feature is constant, or the features are collinear up to rounding."""
        moment = self.second_moment()
        variances = np.diag(moment)
        if not np.all(variances > 0):
            which = f"number {np.argmin(variances) + 1} of {self.count}"
            raise ValueError(f"features: found a constant ({which}), expected functions that vary. Leave it out.")
        smallest = eigvalsh(moment / np.sqrt(np.outer(variances, variances)))[0]
        if smallest < COLLINEAR:
            raise ValueError(
                f"features: collinear. Found the eigenvalue {max(smallest, 0.0):.1e} of their correlations, expected "
                f"at least {COLLINEAR:.0e}. Use fewer features, or a basis such as Hermite."
            )

    def orthonormalised(self) -> Recombined:
        """The same functions in their order, made uncorrelated and of unit variance by Gram–Schmidt.

        The sum of paper 1, Eq. 28, depends on the basis of the functions; in an orthonormal basis it has a meaning.

        Raises
        ------
        ValueError
            If the features are collinear.

        Examples
        --------
        >>> bool(np.allclose(Monomials(3).orthonormalised()([0.5, 2.0]), Hermite(3)([0.5, 2.0])))
        True
        """
        self.check_independent()
        root = cholesky(self.second_moment(), lower=True)
        return Recombined(self, solve_triangular(root, np.eye(self.count), lower=True))


class Recombined(Features):
    """Linear combinations of features: M φ(y).

    Parameters
    ----------
    features : Features
        The features φ.
    matrix : (m, count) array_like
        M, one row per new feature.

    Raises
    ------
    ValueError
        If the matrix is not finite.
    """

    def __init__(self, features: Features, matrix: object) -> None:
        self.features = features
        self.matrix = finite_array(matrix, "matrix", 2)
        self.count = self.matrix.shape[0]
        self.kinks = features.kinks

    def __repr__(self) -> str:
        return f"Recombined({self.features!r}, <{self.matrix.shape[0]} × {self.matrix.shape[1]} matrix>)"

    def _values(self, y: np.ndarray) -> np.ndarray:
        return self.features(y) @ self.matrix.T


@dataclass(frozen=True)
class Basis(Features):
    """A family of features of which any number may be taken; the subclasses define them.

    Parameters
    ----------
    count : int
        How many.
    """

    count: int = 3

    def __post_init__(self) -> None:
        plain_fields(self)
        if positive_integer(self.count, "count") > MOST:
            raise ValueError(f"count: found {self.count:.2e}, expected at most {MOST:,}: no quadrature resolves more.")


class Hermite(Basis):
    """The polynomials He_1, …, He_d, each of unit variance: orthonormal under N(0, 1).

    Parameters
    ----------
    count : int
        d.

    Examples
    --------
    >>> Hermite(2)(2.0).round(4).tolist()
    [2.0, 2.1213]
    """

    def _values(self, y: np.ndarray) -> np.ndarray:
        return hermite_values(y, self.count)[..., 1:]


class Monomials(Basis):
    """The powers y, y², …, y^d, less their means.

    They span the functions of :class:`~capcore.processes.features.Hermite` in another basis.

    Parameters
    ----------
    count : int
        d.

    Examples
    --------
    >>> Monomials(2)(2.0).round(9).tolist()
    [2.0, 3.0]
    """

    def _values(self, y: np.ndarray) -> np.ndarray:
        return y[..., None] ** np.arange(1.0, self.count + 1)


@dataclass(frozen=True)
class Fourier(Basis):
    """sin(2πy/period), cos(2πy/period), sin(4πy/period), …, less their means.

    Parameters
    ----------
    count : int
        How many of them.
    period : float
        In standard deviations, positive.

    Examples
    --------
    >>> Fourier(1, period=8)(2.0).round(9).tolist()
    [1.0]
    """

    period: float = 8.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_number(self.period, "period", "a positive number of standard deviations")

    def _values(self, y: np.ndarray) -> np.ndarray:
        phases = 2 * np.pi / self.period * y[..., None] * np.arange(1, self.count // 2 + 2)
        return np.stack([np.sin(phases), np.cos(phases)], axis=-1).reshape(*y.shape, -1)[..., : self.count]


class PiecewiseLinear(Basis):
    """y and the hinges max(y − q, 0): the continuous functions that are linear between the knots q.

    Parameters
    ----------
    count : int
        One more than there are knots, which are quantiles that cut N(0, 1) into ``count`` parts of equal probability.

    Examples
    --------
    >>> PiecewiseLinear(2).kinks
    (0.0,)
    """

    @property
    def kinks(self) -> tuple[float, ...]:  # type: ignore[override]
        """The knots."""
        return tuple(ndtri(np.arange(1, self.count) / self.count).tolist())

    def _values(self, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[..., None], np.maximum(y[..., None] - np.array(self.kinks), 0)], axis=-1)
