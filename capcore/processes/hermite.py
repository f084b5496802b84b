"""Functions of a standard normal variable in the Hermite basis.

The normalised polynomials He_k/√k! are orthonormal under N(0, 1), and diagonalise correlation: for jointly normal y, z
of unit variance and correlation ρ, Cov(f(y), g(z)) = Σ_{k≥1} f_k g_k ρ^k (Mehler's formula).
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from capcore.checks.arguments import finite_array, positive_integer

ORDER = 256  # highest coefficient computed by default
SPAN = 13.0  # the normal density beyond is below 1e-37


def hermite_values(y: object, order: int) -> np.ndarray:
    """(…, order + 1) the polynomials He_k(y)/√k!, k = 0 … order.

    >>> hermite_values(2.0, 2).round(4).tolist()
    [1.0, 2.0, 2.1213]
    """
    y = np.asarray(y, dtype=float)
    values = [np.ones_like(y), y]
    for k in range(1, order):
        values.append((y * values[k] - np.sqrt(k) * values[k - 1]) / np.sqrt(k + 1))
    return np.stack(values[: order + 1], axis=-1)


@lru_cache(maxsize=32)
def normal_quadrature(kinks: tuple[float, ...] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (m,) and weights (m,) for expectations under N(0, 1) of functions that are smooth except at ``kinks``.

    Gauss–Legendre with 128 nodes on each of eight panels of (−13, 13), cut again at the kinks.

    >>> nodes, weights = normal_quadrature()
    >>> round(float(weights @ nodes**4), 12)
    3.0
    """
    inside = [kink for kink in kinks if abs(kink) < SPAN]
    ends = np.unique(np.concatenate([np.linspace(-SPAN, SPAN, 9), inside]))
    x, w = np.polynomial.legendre.leggauss(128)
    half = np.diff(ends)[:, None] / 2
    nodes = (ends[:-1, None] + half * (1 + x)).reshape(-1)
    weights = (half * w).reshape(-1) * np.exp(-np.square(nodes) / 2) / np.sqrt(2 * np.pi)
    return nodes, weights


@lru_cache(maxsize=32)
def _projection(kinks: tuple[float, ...], order: int) -> np.ndarray:
    """(order + 1, m) matrix from values at the nodes to coefficients."""
    nodes, weights = normal_quadrature(kinks)
    return weights * hermite_values(nodes, order).T


def hermite_coefficients(
    function: Callable[[np.ndarray], np.ndarray],
    order: int = ORDER,
    kinks: tuple[float, ...] = (),
    name: str = "function",
) -> np.ndarray:
    """(order + 1, …) coefficients E[f(y) He_k(y)/√k!], k = 0 … order, for y ~ N(0, 1).

    Parameters
    ----------
    function : callable
        Maps (m,) values to (m, …) values.
    order : int
        Highest k.
    kinks : tuple of float
        Points where it is not smooth, or jumps.
    name : str
        What to call it in an error message.

    Raises
    ------
    ValueError
        If its values are NaN or infinite, or not one per argument.

    Examples
    --------
    >>> hermite_coefficients(np.square, 2).round(4).tolist()[0::2]
    [1.0, 1.4142]
    """
    nodes, _ = normal_quadrature(tuple(kinks))
    values = finite_array(function(nodes), name, (1, 2))
    if len(values) != nodes.size:
        raise ValueError(f"{name}: found {len(values)} values for {nodes.size} arguments, expected as many.")
    return _projection(tuple(kinks), positive_integer(order, "order", 0)) @ values
