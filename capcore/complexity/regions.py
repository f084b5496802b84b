"""Linear regions and activation patterns along curves, counted exactly.

Crossing the boundary of an activation pattern switches one unit. Most of the time the network's function bends there,
and a new linear region begins; where nothing above passes the unit on, the function stays the same affine map, and two
patterns are one linear region. The two counts are kept apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.complexity.curves import Curves
from capcore.complexity.trace import Trace, trace_curves

SAME_MAP = 1e-11
"""Relative difference of affine maps below which they are the same: some 10⁵ times the rounding of their entries."""


@dataclass(frozen=True, eq=False)
class CurveRegions:
    """Where curves pass from one region to the next, and how many they meet.

    Attributes
    ----------
    curve : (k,) the curve that each breakpoint lies on.
    t : (k,) its parameter, from 0 to 1 on a segment and to 2π on an ellipse.
    points : (k, d) where it lies in input space.
    layer : (k,) the layer whose unit switches there, the lowest being 1; 0 for a corner of a polyline on a boundary.
    bends : (k,) whether the network's function bends there, so that a new linear region begins.
    patterns, linear : (n_curves,) regions passed through, of either kind; one entry for a whole polyline. A region that
        a curve leaves and enters again counts each time.
    """

    curve: np.ndarray
    t: np.ndarray
    points: np.ndarray
    layer: np.ndarray
    bends: np.ndarray
    patterns: np.ndarray
    linear: np.ndarray


def curve_regions(network: object, curves: Curves) -> CurveRegions:
    """Breakpoints of a piecewise linear network along curves, and the exact numbers of regions that the curves meet.

    Raises ``ValueError`` as :func:`~capcore.complexity.trace.trace_curves` does.

    >>> from capcore.complexity import Network, segments
    >>> net = Network([[[1.0, 1.0]], [[1.0], [-1.0]], [[1.0]]], [[0.0, -0.5], [-2.0], [0.0]])
    >>> found = curve_regions(net, segments([-1.0], [1.0]))
    >>> found.patterns.tolist(), found.linear.tolist()
    ([3], [1])
    """
    return regions_of(trace_curves(network, curves))


def regions_of(course: Trace) -> CurveRegions:
    """:func:`curve_regions` of a network that has been traced already."""
    top, curves = course.stages[-1], course.curves
    edge = np.flatnonzero(top.curve[1:] == top.curve[:-1]) + 1  # pieces that begin at a breakpoint
    at_corner = np.zeros(0, int)
    if curves.joined:
        corner = np.flatnonzero(top.curve[1:] != top.curve[:-1]) + 1
        patterns = course.midpoint_patterns()
        at_corner = corner[np.any(patterns[corner] != patterns[corner - 1], axis=1)]
    below, above = top.coefficients[edge - 1], top.coefficients[edge]
    scale = np.maximum(np.abs(below), np.abs(above)).max(axis=(1, 2), initial=0)
    bends = np.abs(above - below).max(axis=(1, 2), initial=0) > SAME_MAP * scale
    order = np.argsort(np.r_[edge, at_corner], kind="stable")
    piece = np.r_[edge, at_corner][order]
    bends = np.r_[bends, np.ones(len(at_corner), bool)][order]
    curve, t = top.curve[piece], top.start[piece]
    group = np.zeros_like(curve) if curves.joined else curve
    n = 1 if curves.joined else len(curves)
    return CurveRegions(
        curve=curve,
        t=t,
        points=curves.points(curve, t),
        layer=np.where(np.isin(piece, at_corner), 0, top.layer[piece]),
        bends=bends,
        patterns=_pieces(np.bincount(group, minlength=n), curves),
        linear=_pieces(np.bincount(group[bends], minlength=n), curves),
    )


def _pieces(breaks: np.ndarray, curves: Curves) -> np.ndarray:
    """Regions on curves with that many breakpoints: one more, or the same number on a closed curve that has any."""
    return np.maximum(breaks, 1) if curves.shape == "ellipse" else breaks + 1
