"""Curves through input space on which a piecewise linear network can be followed exactly: segments and ellipses.

A curve is written in a small basis of functions of its parameter t, (1, t) or (1, cos t, sin t). Affine maps act on
the coefficients, so that every pre-activation of the network has an exact formula between two breakpoints.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True, eq=False)
class Curves:
    """A batch of curves in one input space.

    Attributes
    ----------
    coefficients : array
        (n, 2, d) for segments, x = c₀ + c₁ t; (n, 3, d) for ellipses, x = c₀ + c₁ cos t + c₂ sin t.
    shape : str
        "straight" with t from 0 to 1, or "ellipse" with t from 0 to 2π.
    """

    coefficients: np.ndarray
    shape: Literal["straight", "ellipse"]

    @property
    def period(self) -> float:
        """The parameter t runs from 0 to this number."""
        return 1.0 if self.shape == "straight" else 2 * np.pi

    def basis(self, t: np.ndarray) -> np.ndarray:
        """(…, n_basis) basis functions at parameters t of any shape."""
        ones = np.ones_like(t)
        return np.stack([ones, t] if self.shape == "straight" else [ones, np.cos(t), np.sin(t)], axis=-1)

    def points(self, which: np.ndarray, t: np.ndarray) -> np.ndarray:
        """(k, d) points of curves ``which`` (k,) at parameters ``t`` (k,)."""
        return np.einsum("kb,kbd->kd", self.basis(t), self.coefficients[which])

    def __len__(self) -> int:
        return len(self.coefficients)


def segments(starts: object, ends: object) -> Curves:
    """Straight segments from starts to other ends, each (n, d), or a single one from (d,) to (d,).

    >>> segments([0.0, 0.0], [3.0, 4.0]).points(np.array([0]), np.array([0.5])).tolist()
    [[1.5, 2.0]]
    """
    first, last = np.atleast_2d(np.asarray(starts, float)), np.atleast_2d(np.asarray(ends, float))
    return Curves(np.stack([first, last - first], axis=1), "straight")


def ellipse(centre: object, cosine: object, sine: object) -> Curves:
    """The ellipse centre + cosine·cos t + sine·sin t of three vectors (d,).

    >>> len(ellipse([0.0, 0.0], [2.0, 0.0], [0.0, 1.0]))
    1
    """
    return Curves(np.array([[centre, cosine, sine]], float), "ellipse")


def circle_through(first: object, second: object, third: object) -> Curves:
    """The circle through three points (d,) that are not on one line; it meets them at t = 0 and twice later.

    >>> circle_through([1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]).coefficients[0, 0].round(12).tolist()
    [0.0, 0.0]
    """
    a, b, c = np.array([first, second, third], float)
    sides = np.array([b - a, c - a])
    gram = sides @ sides.T
    centre = a + np.linalg.solve(gram, np.diag(gram) / 2) @ sides
    cosine = a - centre
    across = (b - centre) - ((b - centre) @ cosine) / (cosine @ cosine) * cosine
    if np.linalg.norm(across) < 1e-9 * np.linalg.norm(cosine):  # b is opposite of a
        across = (c - centre) - ((c - centre) @ cosine) / (cosine @ cosine) * cosine
    return ellipse(centre, cosine, across * (np.linalg.norm(cosine) / np.linalg.norm(across)))
