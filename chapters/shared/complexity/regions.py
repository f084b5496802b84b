"""Linear regions and the boundaries between them: counted exactly along curves, and on random lines per volume.

Crossing the boundary of an activation pattern switches one unit. Most of the time the network's function bends there,
and a new linear region begins; where nothing above passes the unit on, the function stays the same affine map, and two
patterns are one linear region. The two counts are kept apart.

A random line crosses a surface the more often the more of it there is (Cauchy–Crofton): so crossings on random lines
give the boundary per volume.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from chapters.shared.complexity.curves import Curves, segments
from chapters.shared.complexity.network import Network
from chapters.shared.complexity.trace import Trace, trace_curves

SAME_MAP = 1e-11
"""Relative difference of affine maps below which they are the same: some 10⁵ times the rounding of their entries."""


class CurveRegions(NamedTuple):
    """Where curves pass from one region to the next, and how many they meet.

    Attributes
    ----------
    t : (k,) array
        The breakpoints' parameters, curve by curve.
    bends : (k,) array
        Whether the network's function bends there, so that a new linear region begins.
    patterns, linear : (n_curves,) array
        Regions passed through, of either kind. A region that a curve leaves and enters again counts each time.
    """

    t: np.ndarray
    bends: np.ndarray
    patterns: np.ndarray
    linear: np.ndarray


def curve_regions(network: Network, curves: Curves) -> CurveRegions:
    """Breakpoints of a piecewise linear network along curves, and the exact numbers of regions that the curves meet.

    >>> from chapters.shared.complexity import Network, segments
    >>> net = Network([[[1.0, 1.0]], [[1.0], [-1.0]], [[1.0]]], [[0.0, -0.5], [-2.0], [0.0]])
    >>> regions = curve_regions(net, segments([-1.0], [1.0]))
    >>> regions.patterns.tolist(), regions.linear.tolist()
    ([3], [1])
    """
    return regions_of(trace_curves(network, curves))


def regions_of(course: Trace) -> CurveRegions:
    """:func:`curve_regions` of a network that has been traced already."""
    top, curves = course.stages[-1], course.curves
    edge = np.flatnonzero(top.curve[1:] == top.curve[:-1]) + 1  # pieces that begin at a breakpoint
    below, above = top.coefficients[edge - 1], top.coefficients[edge]
    scale = np.maximum(np.abs(below), np.abs(above)).max(axis=(1, 2), initial=0)
    bends = np.abs(above - below).max(axis=(1, 2), initial=0) > SAME_MAP * scale
    patterns, linear = (_pieces(top.curve[breaks], curves) for breaks in (edge, edge[bends]))
    return CurveRegions(top.start[edge], bends, patterns, linear)


def _pieces(which: np.ndarray, curves: Curves) -> np.ndarray:
    """Regions on curves with breakpoints on the curves ``which``: one more, or as many on an ellipse that has any."""
    breaks = np.bincount(which, minlength=len(curves))
    return np.maximum(breaks, 1) if curves.shape == "ellipse" else breaks + 1


def crofton_factor(dim: int) -> float:
    """Surface per volume in ``dim`` dimensions for one crossing per unit length of isotropic lines.

    √π Γ((d+1)/2)/Γ(d/2), the reciprocal of the mean ``|cosine|`` between a random direction and a fixed one: 1 on a
    line, π/2 in the plane, 2 in space.

    >>> round(crofton_factor(3), 12)
    2.0
    """
    return float(np.exp(0.5 * np.log(np.pi) + gammaln((dim + 1) / 2) - gammaln(dim / 2)))


class BoundaryDensity(NamedTuple):
    """Volume of the boundaries of activation patterns per volume, one over a length, with its standard error."""

    value: float
    standard_error: float


def boundary_density(
    network: Network, centre: object, radius: float, n_lines: int, rng: np.random.Generator
) -> BoundaryDensity:
    """Boundary per volume within a ball around ``centre`` (d,), from exact crossing counts on random lines through it.

    Lines have an isotropic direction and meet the disc across the ball at a uniform point. Then the expected number of
    crossings, over the mean chord, times :func:`crofton_factor` is the density, in any dimension and without bias.

    >>> line = Network([np.eye(2)[:, :1], [[1.0]]], [[0.0], [0.0]])
    >>> density = boundary_density(line, [0.0, 0.0], 1.0, 4000, np.random.default_rng(0))
    >>> abs(density.value - 2 / np.pi) < 4 * density.standard_error
    True
    """
    middle = np.asarray(centre, float)
    starts, ends = _chords(len(middle), n_lines, rng)
    course = trace_curves(network, segments(middle + radius * starts, middle + radius * ends))
    counts = np.bincount(course.stages[-1].curve, minlength=n_lines) - 1.0
    scale = crofton_factor(len(middle)) / (radius * _mean_chord(len(middle)))
    return BoundaryDensity(scale * float(counts.mean()), scale * float(counts.std(ddof=1)) / n_lines**0.5)


def _chords(dim: int, n_lines: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Where random lines enter and leave the unit ball, (n_lines, dim) each."""
    direction = rng.normal(size=(n_lines, dim))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    offset = rng.normal(size=(n_lines, dim))
    offset -= np.sum(offset * direction, axis=1, keepdims=True) * direction  # within the disc across the line
    if dim > 1:
        offset *= rng.random((n_lines, 1)) ** (1 / (dim - 1)) / np.linalg.norm(offset, axis=1, keepdims=True)
    half = np.sqrt(1 - np.minimum(np.sum(offset**2, axis=1, keepdims=True), 1)) * direction
    return offset - half, offset + half


def _mean_chord(dim: int) -> float:
    """The mean length of those chords: the volume of the ball over that of the disc across it."""
    return float(np.exp(0.5 * np.log(np.pi) + gammaln((dim + 1) / 2) - gammaln(dim / 2 + 1)))
