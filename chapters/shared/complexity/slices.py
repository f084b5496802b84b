"""The exact partition of a two-dimensional slice of input space into the polygons on which a network is affine.

A slice is x = origin + u e₁ + v e₂ for (u, v) in a convex polygon. Its polygons are cut, layer by layer, along the
lines on which a unit meets a kink.
"""

from typing import NamedTuple

import numpy as np

from chapters.shared.complexity.network import Network

TOLERANCE = 1e-12
"""Share of the slice's diameter within which two points are one."""


class SlicePartition(NamedTuple):
    """The polygons of a slice, each with the network's affine map on it.

    Attributes
    ----------
    polygons : list of (n_corners, 2) arrays
        The corners (u, v) of r polygons, in order.
    areas : (r,) array
        Areas in the units of (u, v).
    maps : (r, 3, n_outputs) array
        Coefficients (constant, u, v) of the logits on each polygon.
    outline : (n_corners, 2) array
        The corners of the whole slice, counterclockwise.
    """

    polygons: list[np.ndarray]
    areas: np.ndarray
    maps: np.ndarray
    outline: np.ndarray

    @property
    def n_patterns(self) -> int:
        """The number of polygons: of regions on which no unit switches."""
        return len(self.polygons)

    @property
    def boundary_length(self) -> float:
        """The length of all boundaries between polygons inside the slice, in the units of (u, v)."""
        return _half_perimeters(self.polygons) - _half_perimeters([self.outline])


def partition_slice(network: Network, origin: object, first: object, second: object, outline: object) -> SlicePartition:
    """The polygons of x = origin + u·first + v·second for (u, v) within a convex outline.

    Parameters
    ----------
    network : Network
        A piecewise linear one.
    origin, first, second : (d,) array_like
        Points and directions in input space; lengths in (u, v) are lengths in input space if the directions are
        orthonormal.
    outline : (n_corners, 2) array_like
        Corners (u, v) of a convex polygon, in either sense.

    Examples
    --------
    >>> net = Network([np.eye(2), [[1.0], [1.0]]], [[0.0, 0.0], [0.0]])
    >>> square = [[-1, -1], [1, -1], [1, 1], [-1, 1]]
    >>> partition_slice(net, [0.0, 0.0], [1.0, 0.0], [0.0, 1.0], square).areas.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    plane, corners = np.array([origin, first, second], float), np.asarray(outline, float)
    corners = corners if _signed_area(corners) > 0 else corners[::-1]
    margin = TOLERANCE * float(np.ptp(corners, axis=0).max())
    cells = [(corners, _affine(plane, network.weights[0], network.biases[0]))]  # with the sums that come next
    for w, b in zip(network.weights[1:], network.biases[1:], strict=True):
        parts = [(part, z) for cell, z in cells for part in _cut_all(cell, z, network.phi.kinks, margin)]
        cells = [(part, _affine(_activated(z, part, network), w, b)) for part, z in parts]
    polygons, maps = [cell for cell, _ in cells], np.array([z for _, z in cells])
    areas = np.array([abs(_signed_area(p)) for p in polygons])
    return SlicePartition(polygons, areas, maps, corners)


def _affine(coefficients: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """(3, width) a layer's sums of affine functions."""
    return coefficients @ weights + np.outer([1.0, 0.0, 0.0], biases)


def _cut_all(cell: np.ndarray, z: np.ndarray, kinks: tuple[float, ...], margin: float) -> list[np.ndarray]:
    """A polygon cut along all lines on which one of the affine functions z (3, width) meets a kink."""
    parts = [cell]
    for kink in kinks:
        lines = z.copy()
        lines[0] -= kink
        steep = np.hypot(lines[1], lines[2])
        lines = lines[:, steep > 0] / steep[steep > 0]
        heights = lines[0] + cell @ lines[1:]
        for line in lines[:, (heights.min(axis=0) < -margin) & (heights.max(axis=0) > margin)].T:
            parts = [piece for part in parts for piece in _cut(part, line, margin)]
    return parts


def _cut(polygon: np.ndarray, line: np.ndarray, margin: float) -> list[np.ndarray]:
    """The two parts of a convex polygon on either side of a line (constant, u, v) of unit slope, or the whole one."""
    height = line[0] + polygon @ line[1:]
    height[np.abs(height) <= margin] = 0.0
    if height.min() >= 0 or height.max() <= 0:
        return [polygon]
    low, high = [], []
    for i, h in enumerate(height):
        if h <= 0:
            low.append(polygon[i])
        if h >= 0:
            high.append(polygon[i])
        k = (i + 1) % len(polygon)
        if h * height[k] < 0:
            share = h / (h - height[k])
            low.append(polygon[i] + share * (polygon[k] - polygon[i]))
            high.append(low[-1])
    return [np.array(low), np.array(high)]


def _activated(z: np.ndarray, polygon: np.ndarray, net: Network) -> np.ndarray:
    """(3, width) the activation applied to affine functions that keep to one of its pieces on a polygon."""
    which = net.phi.piece(z[0] + polygon.mean(axis=0) @ z[1:])
    slopes, intercepts = np.array(net.phi.pieces).T
    after = z * slopes[which]
    after[0] += intercepts[which]
    return after


def _signed_area(polygon: np.ndarray) -> float:
    u, v = (polygon - polygon[0]).T
    return 0.5 * float(u @ np.roll(v, -1) - v @ np.roll(u, -1))


def _half_perimeters(polygons: list[np.ndarray]) -> float:
    return 0.5 * sum(float(np.linalg.norm(np.roll(p, -1, axis=0) - p, axis=1).sum()) for p in polygons)
