"""What the chapter on tangents checks: errors and numbers of regions, counted in random networks."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy.special import expit

from chapters.effective_complexity.tangent_networks import segment_pieces, uniform_tangents
from chapters.effective_complexity.tangents import curve_complexity, one_layer_regions, tangent_activation
from chapters.shared.complexity import Network, partition_slice, random_network

TOLERANCES = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
LONG = 1e4
"""Half the length of a long line, in units where the knots of a first layer lie within some ten of the origin."""


def largest_error(tolerances: Sequence[float] = TOLERANCES, n_points: int = 20_001) -> float:
    """The largest error of the tangents of tanh and logistic over their tolerance, on points from −12 to 12."""
    z = np.linspace(-12, 12, n_points)
    worst = 0.0
    for name, curve in (("tanh", np.tanh), ("logistic", expit)):
        for tolerance in tolerances:
            gap = np.abs(tangent_activation(name, tolerance).value(z) - curve(z)).max()
            worst = max(worst, float(gap) / tolerance)
    return worst


def bound_ratios(n_networks: int, error: float, rng: np.random.Generator) -> np.ndarray:
    """(n,) log of the pieces on a random segment over the complexity with d = 1; up to three layers of 2 to 8 units."""
    ratios = []
    for _ in range(n_networks):
        hidden = rng.integers(2, 9, rng.integers(1, 4)).tolist()
        d = int(rng.integers(1, 5))
        network = random_network([d, *hidden, 1], rng, 2.0, 0.5, str(rng.choice(["tanh", "logistic"])))
        linear, ends = uniform_tangents(network, error), 3 * rng.normal(size=(2, 1, d))
        ratios.append(np.log(segment_pieces(linear, *ends)[0]) / curve_complexity(linear.pieces, 1))
    return np.array(ratios)


def long_line_ratios(n_networks: int, hidden: list[int] | None, error: float, rng: np.random.Generator) -> np.ndarray:
    """(n,) pieces on a long line over exp(complexity), d = 1; ``hidden`` widths of tanh, or one layer of 2 to 8."""
    ratios = []
    for _ in range(n_networks):
        widths = [2, *(hidden or [int(rng.integers(2, 9))]), 1]
        network = random_network(widths, rng, 2.0, 0.5, "tanh")
        linear, end = uniform_tangents(network, error), LONG * rng.normal(size=(1, 2))
        count = segment_pieces(linear, -end, end)[0]
        ratios.append(count / np.round(np.exp(curve_complexity(linear.pieces, 1)), 6))
    return np.array(ratios)


def plane_regions(n_units: int, error: float, rng: np.random.Generator) -> tuple[int, int, float]:
    """Regions of the plane that one layer of tanh units makes: closed form, polygons, and exp(complexity).

    The polygons are those of ReLUs with the same kinks: parallel lines, one for each knot of a unit.
    """
    phi = tangent_activation("tanh", error)
    n_knots = len(phi.kinks)
    pieces = np.full(n_units, n_knots + 1)
    angles = np.pi * (np.arange(n_units) + rng.uniform(0.2, 0.8, n_units)) / n_units  # no two nearly parallel
    directions = np.stack([np.cos(angles), np.sin(angles)])
    offsets = rng.normal(size=n_units)
    lines = np.repeat(directions, n_knots, axis=1), np.repeat(offsets, n_knots) - np.tile(phi.kinks, n_units)
    network = Network((lines[0], np.ones((n_units * n_knots, 1))), (lines[1], np.zeros(1)))
    square = LONG * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    polygons = partition_slice(network, [0.0, 0.0], [1.0, 0.0], [0.0, 1.0], square).n_patterns
    return one_layer_regions(pieces, 2), polygons, float(np.exp(curve_complexity([pieces], 2)))


def one_layer_curves(n_units: int, pieces: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs 1 … n_units, the formula's complexity, and the log of the exact number of regions, each (n_units,)."""
    dims, counts = np.arange(1, n_units + 1), np.full(n_units, pieces)
    formula = [curve_complexity([counts], int(d)) for d in dims]
    return dims, np.array(formula), np.array([math.log(one_layer_regions(counts, int(d))) for d in dims])


class Counts:
    """All checks of the chapter on tangents, from one generator.

    Attributes
    ----------
    error : the largest error over its tolerance.
    bound, one_layer, two_layers : as ``bound_ratios`` and ``long_line_ratios`` give them.
    plane : closed form, polygons, exp(complexity).
    """

    def __init__(self, n_networks: int, error: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        lines = partial(long_line_ratios, max(n_networks // 4, 1))
        self.error = largest_error()
        self.bound = bound_ratios(n_networks, error, rng)
        self.one_layer, self.two_layers = lines(None, error, rng), lines([8, 8], error, rng)
        self.plane = plane_regions(8, error, rng)
