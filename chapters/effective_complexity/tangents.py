"""Curved activations made piecewise linear by tangents: numbers of regions of layers, pieces of networks, counted.

Slides, Hu et al. (2020). Neighbouring tangents meet at a knot, and there the error is largest. The tangent at 0 always
belongs to them, as the curve turns from convex to concave there: without it the tangents at ±a next to 0 are parallel,
and never meet. One layer cuts its input space by families of parallel hyperplanes: a unit of k pieces by k − 1 of them.

In a network every unit gets the tangents that it needs: fewer where its pre-activations keep to a small range, or where
the outputs hardly depend on it. The rule that allots tangents to units is our own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from capcore.validation import finite_array, finite_number, one_of, positive_integer
from chapters.shared.complexity import Network, partition_slice, random_network
from chapters.shared.complexity.activations import Activation, piecewise
from chapters.shared.complexity.network import as_network, out_of_range

CURVES = ("logistic", "sigmoid", "tanh")
COARSEST = float(1 - np.tanh(1))
"""Tolerance (tanh) from which on the tangent at 0 and the two asymptotes are enough: they make hard-tanh."""
FAR = 18.0  # beyond it tanh is 1 in double precision


def tangent_activation(name: str, error: float) -> Activation:
    """The activation made of the fewest tangents within ``error`` of a curved one everywhere, the one at 0 among them.

    From 0 outwards every knot is put as far as the tolerance lets it, and the next tangent made to meet it there,
    until the asymptote, a tangent at infinity, is close enough.

    Parameters
    ----------
    name : "tanh", "logistic" or "sigmoid".
    error : largest distance from the curve, more than 0 and at least 1e-9.

    Raises ``ValueError`` for another activation or a tolerance out of range.

    >>> rough = tangent_activation("tanh", 0.3)
    >>> [round(kink, 6) for kink in rough.kinks], len(tangent_activation("tanh", 0.03).pieces)
    ([-1.0, 1.0], 9)
    """
    name = one_of(name, "activation", CURVES)
    tolerance = finite_number(error, "error")
    if tolerance < 1e-9:
        raise ValueError(f"error: found {tolerance:g}, expected at least 1e-9, a distance between function values.")
    return _tangents(name, tolerance)


def restricted(phi: Activation, low: float, high: float) -> Activation:
    """A piecewise linear activation without the kinks outside ``low`` … ``high``: the same function in between.

    >>> len(restricted(tangent_activation("tanh", 0.3), -0.5, 3.0).pieces)
    2
    """
    first, last = np.searchsorted(phi.kinks, low, "right"), np.searchsorted(phi.kinks, high, "left")
    last = max(first, last)
    return piecewise(phi.name, phi.kinks[first:last], phi.pieces[first : last + 1])


@lru_cache(maxsize=256)
def _tangents(name: str, tolerance: float) -> Activation:
    if name == "tanh":
        return piecewise(f"tangents of tanh, error {tolerance:g}", *_odd(*_upper_tangents(tolerance)))
    kinks, pieces = _odd(*_upper_tangents(2 * tolerance))  # the logistic function is ½ + ½ tanh(z/2)
    return piecewise(
        f"tangents of logistic, error {tolerance:g}",
        tuple(2 * kink for kink in kinks),
        tuple((slope / 4, 0.5 + intercept / 2) for slope, intercept in pieces),
    )


def _upper_tangents(error: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Knots of tanh above 0, and slopes and intercepts of the tangents to their right."""
    knots, slopes, intercepts = [], [], []
    at = 0.0
    while True:
        meets = at + 1 / (1 + np.tanh(at))  # where the tangent reaches the asymptote
        if 1 - np.tanh(meets) <= error or at > FAR:
            break
        knot = float(brentq(lambda z, a=at: _tangent(a, z) - np.tanh(z) - error, at, meets, xtol=1e-13))
        level = _tangent(at, knot)
        if _tangent(FAR, knot) <= level:
            break
        at = float(brentq(lambda a, z=knot, y=level: _tangent(a, z) - y, knot, FAR, xtol=1e-13))
        knots.append(knot)
        slopes.append(_slope(at))
        intercepts.append(_tangent(at, 0.0))
    return np.array([*knots, meets]), np.array([*slopes, 0.0]), np.array([*intercepts, 1.0])


def _odd(
    knots: np.ndarray, slopes: np.ndarray, intercepts: np.ndarray
) -> tuple[tuple[float, ...], tuple[tuple[float, float], ...]]:
    """Kinks and pieces on both sides of the tangent at 0, of slope 1."""
    right = [*zip(slopes.tolist(), intercepts.tolist(), strict=True)]
    left = [(slope, -intercept) for slope, intercept in right[::-1]]
    return (*(-knots[::-1]).tolist(), *knots.tolist()), (*left, (1.0, 0.0), *right)


def _slope(at: float) -> float:
    return float(1 - np.tanh(at) ** 2)


def _tangent(at: float, z: float) -> float:
    """The tangent of tanh at ``at``, evaluated at ``z``."""
    return float(np.tanh(at) + _slope(at) * (z - at))


def curve_complexity(pieces: Sequence[np.ndarray], n_inputs: int) -> float:
    """d Σ_i log(Σ_j k_ij − m_i + 1), in nats: the logarithm of an upper bound on the number of linear regions.

    Slides, Hu et al. (2020). On a line (d = 1) and with one layer it is the number itself, if every knot is crossed.

    Parameters
    ----------
    pieces : for every hidden layer i the (m_i,) numbers k_ij of pieces of its units' activations.
    n_inputs : d.

    >>> round(curve_complexity([np.array([3, 3])], 2), 3)  # 25; two pairs of parallel lines make 9 regions
    3.219
    """
    counts = _checked(pieces)
    d = positive_integer(n_inputs, "n_inputs")
    return d * math.fsum(math.log(sum(layer) - len(layer) + 1) for layer in counts)


def one_layer_regions(pieces: np.ndarray, n_inputs: int) -> int:
    """Regions of R^d that one layer of units with (m,) ``pieces`` makes in general position, exactly.

    Σ_{s ≤ d} e_s(k_1 − 1, …, k_m − 1), e_s the elementary symmetric polynomials: every set of at most d hyperplanes of
    different units meets once. With two pieces each it is Zaslavsky's 1 + m + C(m, 2) in the plane.

    >>> one_layer_regions(np.array([2, 2, 2]), 2), one_layer_regions(np.array([3, 3]), 2)
    (7, 9)
    """
    (counts,) = _checked([pieces])
    return _symmetric_sum(counts, positive_integer(n_inputs, "n_inputs"))


def _symmetric_sum(pieces: list[int], d: int) -> int:
    """Σ_{s ≤ d} e_s(k_1 − 1, …), from the product of the polynomials 1 + (k_j − 1) x; whole numbers of any size."""
    coefficients = [1] + [0] * min(d, len(pieces))
    for k in pieces:
        for s in range(len(coefficients) - 1, 0, -1):
            coefficients[s] += (k - 1) * coefficients[s - 1]
    return sum(coefficients)


def _checked(pieces: Sequence[np.ndarray]) -> list[list[int]]:
    found = []
    for i, layer in enumerate(pieces):
        counts = np.asarray(layer)
        if counts.ndim != 1 or not counts.size or counts.dtype.kind not in "iu" or counts.min() < 1:
            raise ValueError(f"pieces[{i}]: found {layer!r}, expected whole numbers of at least 1, one for every unit.")
        found.append([int(k) for k in counts])
    return found


STEP = 0.75  # between the tolerances that units can have
N_STEPS = 32  # down to 2e-5
TOLERANCES = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
LONG = 1e4
"""Half the length of a long line, in units where the knots of a first layer lie within some ten of the origin."""


@dataclass(frozen=True, eq=False)
class TangentNetwork:
    """A network whose units have piecewise linear activations, each its own.

    Attributes
    ----------
    network : the network approximated: its weights and biases.
    activations : for every hidden layer, those of its units.
    """

    network: Network
    activations: tuple[tuple[Activation, ...], ...]

    @property
    def pieces(self) -> list[np.ndarray]:
        """For every hidden layer the (m_i,) numbers k_ij of pieces of its units."""
        return [np.array([len(phi.pieces) for phi in layer]) for layer in self.activations]

    @property
    def complexity(self) -> float:
        """d Σ_i log(Σ_j k_ij − m_i + 1), in nats (``curve_complexity``)."""
        return curve_complexity(self.pieces, self.network.widths[0])

    def hidden(self, layer: int, below: np.ndarray) -> np.ndarray:
        """(n, m) pre-activations of hidden layer ``layer`` (from 0), or the logits, given what is put out below it."""
        return below @ self.network.weights[layer] + self.network.biases[layer]

    def apply(self, layer: int, z: np.ndarray) -> np.ndarray:
        """(n, m) the units' own activations of pre-activations (n, m)."""
        return np.stack([phi.value(z[:, j]) for j, phi in enumerate(self.activations[layer])], axis=1)

    def __call__(self, inputs: object) -> np.ndarray:
        """(n, n_outputs) logits at inputs (n, d)."""
        value = self.network.check_inputs(inputs)
        for i in range(len(self.activations)):
            value = self.apply(i, self.hidden(i, value))
        return self.hidden(len(self.activations), value)


def uniform_tangents(network: object, error: float = 0.1) -> TangentNetwork:
    """Every unit within ``error`` of its activation everywhere; a piecewise linear network is left as it is.

    All units then have as many pieces, whatever the parameters: the complexity is a matter of the structure alone.
    """
    net = as_network(network)
    phi = tangent_activation(net.activation, error) if net.activation in CURVES else net.phi
    if not phi.pieces:
        raise ValueError(f"activation: found {net.activation!r}, expected a piecewise linear one or one of {CURVES}.")
    return TangentNetwork(net, tuple((phi,) * m for m in net.widths[1:-1]))


def tangent_network(network: object, inputs: object, error: float) -> TangentNetwork:
    """The network of tangents whose logits are within ``error`` on average, E|g_k(x) − f_k(x)| ≤ λ over all outputs.

    A unit's tolerance is τ over its mean influence ``|∂f_k/∂h|``, and its knots are cut to the range that its
    pre-activations have at the points; τ is the largest of a geometric grid that keeps the error.

    Parameters
    ----------
    network : with "tanh" or "logistic"; a piecewise linear one only has its kinks cut to the range.
    inputs : (n, d) points, such as the training data.
    error : λ > 0, in units of the logits.

    Raises ``ValueError`` if no tolerance of the grid reaches ``error``.

    >>> net = Network([[[1.0]], [[1.0]]], [[0.0], [0.0]], "tanh")
    >>> tangent_network(net, [[-2.0], [0.1], [0.2]], 0.1).pieces[0].tolist()  # nothing to the right of 0.2
    [2]
    """
    net = as_network(network)
    limit = finite_number(error, "error")
    if limit <= 0:
        raise ValueError(f"error: found {limit:g}, expected more than 0, a distance between logits.")
    levels, exact = net.pre_activations(inputs)[:-1], net(inputs)
    ranges = [np.stack([z.min(axis=0), z.max(axis=0)], axis=1) for z in levels]
    if net.activation not in CURVES:
        whole = uniform_tangents(net)
        return TangentNetwork(net, tuple(_cut(layer, r) for layer, r in zip(whole.activations, ranges, strict=True)))
    influence = _influence(net, levels)
    for step in range(N_STEPS + 1):
        found = _with_tolerance(net, ranges, influence, step)
        if np.mean(np.abs(found(inputs) - exact)) <= limit:
            return found
    raise ValueError(f"error: found {limit:g}, expected more: the finest tangents do not come that close.")


def segment_knots(network: TangentNetwork, start: object, end: object) -> list[np.ndarray]:
    """For every hidden layer the (k_i,) places in (0, 1), ascending, where its units pass knots on a segment.

    Exact: between knots of the layers below all pre-activations are affine. The segment meets one linear piece more
    than there are knots in all.

    Parameters
    ----------
    start, end : (d,) the two ends, different ones.
    """
    a, b = finite_array(start, "start", 1), finite_array(end, "end", 1)
    if a.shape != b.shape or np.array_equal(a, b):
        raise ValueError(
            f"end: found {b.shape} points, expected another point of shape {a.shape}, so that they differ."
        )
    network.network.check_inputs(a[None])
    if out_of_range(network.network, [a, b]):
        raise ValueError(out_of_range(network.network, [a, b]))
    places, found = np.array([0.0, 1.0]), []
    for i in range(len(network.activations)):
        value = a + places[:, None] * (b - a)
        for below in range(i):
            value = network.apply(below, network.hidden(below, value))
        knots = _crossings(places, network.hidden(i, value), network.activations[i])
        found.append(np.sort(knots))
        places = np.sort(np.r_[places, knots])
    return found


def segment_pieces(network: TangentNetwork, starts: object, ends: object) -> np.ndarray:
    """(n,) numbers of linear pieces on segments from starts (n, d) to ends (n, d).

    >>> relu = uniform_tangents([([[1.0, 1.0]], [0.0, -0.5]), ([[1.0], [1.0]], [0.0])])
    >>> segment_pieces(relu, [[-1.0]], [[1.0]]).tolist()
    [3]
    """
    first, last = finite_array(starts, "starts", 2), finite_array(ends, "ends", 2)
    if first.shape != last.shape:
        raise ValueError(f"ends: found shape {last.shape}, expected {first.shape}, that of starts.")
    return np.array([1 + sum(map(len, segment_knots(network, a, b))) for a, b in zip(first, last, strict=True)])


def _crossings(places: np.ndarray, z: np.ndarray, activations: Sequence[Activation]) -> np.ndarray:
    """Where affine pieces between ``places`` (t,), with values z (t, m) there, pass the units' knots."""
    unit = np.repeat(np.arange(z.shape[1]), [len(phi.kinks) for phi in activations])
    level = z[:, unit] - np.concatenate([np.array(phi.kinks) for phi in activations])
    interval, which = np.nonzero((level[1:] > 0) != (level[:-1] > 0))
    below, above = level[interval, which], level[interval + 1, which]
    return places[interval] + below / (below - above) * np.diff(places)[interval]


def _influence(net: Network, levels: list[np.ndarray]) -> list[np.ndarray]:
    """For every hidden layer (m,) mean over points and outputs of ``|∂f_k/∂h_j|``."""
    found, by_output = [], np.repeat(net.weights[-1].T[None], len(levels[0]), axis=0)
    for i in range(len(levels) - 1, -1, -1):
        found.append(np.abs(by_output).mean(axis=(0, 1)))
        by_output = (by_output * net.phi.derivative(levels[i])[:, None, :]) @ net.weights[i].T
    return found[::-1]


def _with_tolerance(net: Network, ranges: list[np.ndarray], influence: list[np.ndarray], step: int) -> TangentNetwork:
    top = max(layer.max() for layer in influence)
    layers = []
    for bounds, weight in zip(ranges, influence, strict=True):
        shares = np.where(weight > 0, weight / top, 1e-12)
        steps = np.clip(np.ceil(step - np.log(1 / shares) / np.log(1 / STEP)), 0, N_STEPS).astype(int)
        phis = [tangent_activation(net.activation, COARSEST * STEP**s) for s in steps.tolist()]
        layers.append(_cut(phis, bounds))
    return TangentNetwork(net, tuple(layers))


def _cut(activations: Sequence[Activation], bounds: np.ndarray) -> tuple[Activation, ...]:
    return tuple(restricted(phi, *b) for phi, b in zip(activations, bounds.tolist(), strict=True))


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
    found = []
    for _ in range(positive_integer(n_networks, "n_networks")):
        hidden = rng.integers(2, 9, rng.integers(1, 4)).tolist()
        d = int(rng.integers(1, 5))
        network = random_network([d, *hidden, 1], rng, 2.0, 0.5, str(rng.choice(["tanh", "logistic"])))
        linear, ends = uniform_tangents(network, error), 3 * rng.normal(size=(2, 1, d))
        found.append(np.log(segment_pieces(linear, *ends)[0]) / curve_complexity(linear.pieces, 1))
    return np.array(found)


def long_line_ratios(
    n_networks: int, hidden: Sequence[int] | None, error: float, rng: np.random.Generator
) -> np.ndarray:
    """(n,) pieces on a long line over exp(complexity), d = 1; ``hidden`` widths of tanh, or one layer of 2 to 8."""
    found = []
    for _ in range(positive_integer(n_networks, "n_networks")):
        widths = [2, *(hidden or [int(rng.integers(2, 9))]), 1]
        network = random_network(widths, rng, 2.0, 0.5, "tanh")
        linear, end = uniform_tangents(network, error), LONG * rng.normal(size=(1, 2))
        count = segment_pieces(linear, -end, end)[0]
        found.append(count / np.round(np.exp(curve_complexity(linear.pieces, 1)), 6))
    return np.array(found)


def plane_regions(n_units: int, error: float, rng: np.random.Generator) -> tuple[int, int, float]:
    """Regions of the plane that one layer of tanh units makes: closed form, polygons, and exp(complexity).

    The polygons are those of ReLUs with the same kinks: parallel lines, one for each knot of a unit.
    """
    phi = tangent_activation("tanh", error)
    n_knots = len(phi.kinks)
    pieces = np.full(positive_integer(n_units, "n_units"), n_knots + 1)
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
    dims, counts = np.arange(1, positive_integer(n_units, "n_units") + 1), np.full(n_units, pieces)
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
        lines = partial(long_line_ratios, max(positive_integer(n_networks, "n_networks") // 4, 1))
        self.error = largest_error()
        self.bound = bound_ratios(n_networks, error, rng)
        self.one_layer, self.two_layers = lines(None, error, rng), lines([8, 8], error, rng)
        self.plane = plane_regions(8, error, rng)
