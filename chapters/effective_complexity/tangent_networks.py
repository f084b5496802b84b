"""Networks of units that have piecewise linear activations, each its own, and their linear pieces on segments.

Slides, Hu et al. (2020). Every unit gets the tangents that it needs: fewer where its pre-activations keep to a small
range, or where the outputs hardly depend on it. The rule that allots tangents to units is our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from capcore.checks.arguments import finite_array, finite_number
from chapters.effective_complexity.tangents import (
    COARSEST,
    CURVES,
    curve_complexity,
    restricted,
    tangent_activation,
)
from chapters.shared.complexity import Network
from chapters.shared.complexity.activations import Activation
from chapters.shared.complexity.network import as_network, out_of_range

STEP = 0.75  # between the tolerances that units can have
N_STEPS = 32  # down to 2e-5


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
