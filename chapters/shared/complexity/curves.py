"""Curves through input space on which a piecewise linear network can be followed exactly: straight pieces and ellipses.

A curve is written in a small basis of functions of its parameter t, (1, t) or (1, cos t, sin t). Affine maps act on
the coefficients, so that every pre-activation of the network has an exact formula between two breakpoints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from capcore.checks.arguments import finite_array


@dataclass(frozen=True, eq=False)
class Curves:
    """A batch of curves in one input space.

    Attributes
    ----------
    coefficients : array
        (n, 2, d) for straight pieces, x = c₀ + c₁ t; (n, 3, d) for ellipses, x = c₀ + c₁ cos t + c₂ sin t.
    shape : str
        "straight" with t from 0 to 1, or "ellipse" with t from 0 to 2π.
    joined : bool
        Whether the pieces follow each other as one polyline.
    """

    coefficients: np.ndarray
    shape: Literal["straight", "ellipse"]
    joined: bool = False

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
    """Straight segments, or a single one.

    Parameters
    ----------
    starts, ends : (n, d) or (d,) array_like
        Where they begin and where they end.

    Raises
    ------
    ValueError
        For a segment of zero length.

    Examples
    --------
    >>> segments([0.0, 0.0], [3.0, 4.0]).points(np.array([0]), np.array([0.5])).tolist()
    [[1.5, 2.0]]
    """
    first, last = (np.atleast_2d(finite_array(x, name, (1, 2))) for x, name in ((starts, "starts"), (ends, "ends")))
    if first.shape != last.shape:
        raise ValueError(f"ends: found shape {last.shape}, expected {first.shape}, one end for each start.")
    steps = last - first
    empty = np.flatnonzero(~steps.any(axis=1))
    if empty.size:
        raise ValueError(
            f"segments: found zero length (segment {empty[0]} ends where it starts), expected two different points."
        )
    return Curves(np.stack([first, steps], axis=1), "straight")


def polyline(points: object, closed: bool = False) -> Curves:
    """The polyline through points.

    Parameters
    ----------
    points : (n, d) array_like
        At least two.
    closed : bool
        Whether a last piece leads back to the first point.

    Examples
    --------
    >>> len(polyline([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]], closed=True))
    3
    """
    corners = finite_array(points, "points", 2)
    if len(corners) < 2 + closed:
        raise ValueError(f"points: found {len(corners)}, expected at least {2 + closed} corners.")
    if closed:
        corners = np.concatenate([corners, corners[:1]])
    return Curves(segments(corners[:-1], corners[1:]).coefficients, "straight", joined=True)


def ellipse(centre: object, cosine: object, sine: object) -> Curves:
    """The ellipse centre + cosine·cos t + sine·sin t.

    Parameters
    ----------
    centre, cosine, sine : (d,) array_like
        Three vectors.

    Raises
    ------
    ValueError
        If the two axes are parallel or zero: that is a segment run back and forth.

    Examples
    --------
    >>> len(ellipse([0.0, 0.0], [2.0, 0.0], [0.0, 1.0]))
    1
    """
    vectors = [finite_array(x, name, 1) for x, name in ((centre, "centre"), (cosine, "cosine"), (sine, "sine"))]
    if len({v.shape for v in vectors}) != 1:
        raise ValueError(f"ellipse: found vectors of lengths {[len(v) for v in vectors]}, expected equal ones.")
    if np.linalg.matrix_rank(np.array(vectors[1:])) < 2:
        raise ValueError("ellipse: found axes that are parallel or of zero length, expected two directions.")
    return Curves(np.array(vectors)[None], "ellipse")


def circle_through(first: object, second: object, third: object) -> Curves:
    """The circle through three points, which it meets at t = 0 and twice later.

    Parameters
    ----------
    first, second, third : (d,) array_like
        Points that are not on one line.

    Raises
    ------
    ValueError
        For points on a line, and for such as are closer than 1e-70 or farther apart than 1e70.

    Examples
    --------
    >>> circle_through([1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]).coefficients[0, 0].round(12).tolist()
    [0.0, 0.0]
    """
    a, b, c = (finite_array(x, name, 1) for x, name in ((first, "first"), (second, "second"), (third, "third")))
    if not a.shape == b.shape == c.shape:
        raise ValueError(f"circle: found points of {a.size}, {b.size} and {c.size} coordinates, expected the same.")
    sides = np.array([b - a, c - a])
    if sides.any() and not 1e-70 < np.abs(sides).max() < 1e70:
        raise ValueError(
            f"circle: found points {np.abs(sides).max():.1e} apart, expected 1e-70 to 1e70: squares of squares would "
            "leave double precision. Rescale."
        )
    gram = sides @ sides.T
    if np.linalg.cond(gram) > 1e14:
        raise ValueError("circle: found three points on a line, or equal ones, expected a triangle.")
    centre = a + np.linalg.solve(gram, np.diag(gram) / 2) @ sides
    cosine = a - centre
    across = (b - centre) - ((b - centre) @ cosine) / (cosine @ cosine) * cosine
    if np.linalg.norm(across) < 1e-9 * np.linalg.norm(cosine):  # b is opposite of a
        across = (c - centre) - ((c - centre) @ cosine) / (cosine @ cosine) * cosine
    return ellipse(centre, cosine, across * (np.linalg.norm(cosine) / np.linalg.norm(across)))
