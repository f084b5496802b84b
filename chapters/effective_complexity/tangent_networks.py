"""Networks of units that have piecewise linear activations, each its own, and their linear pieces on segments.

Slides, Hu et al. (2020). Every unit gets the tangents that it needs: fewer where its pre-activations keep to a small
range, or where the outputs hardly depend on it. The rule that allots tangents to units is our own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chapters.effective_complexity.tangents import COARSEST, CURVES, curve_complexity, restricted, tangent_activation
from chapters.shared.complexity import Network
from chapters.shared.complexity.activations import Activation

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

    def __call__(self, inputs: np.ndarray) -> np.ndarray:
        """(n, n_outputs) logits at inputs (n, d)."""
        value = inputs
        for i in range(len(self.activations)):
            value = self.apply(i, self.hidden(i, value))
        return self.hidden(len(self.activations), value)


def uniform_tangents(network: Network, error: float = 0.1) -> TangentNetwork:
    """Every unit within ``error`` of its activation everywhere; a piecewise linear network is left as it is.

    All units then have as many pieces, whatever the parameters: the complexity is a matter of the structure alone.
    """
    phi = tangent_activation(network.activation, error) if network.activation in CURVES else network.phi
    return TangentNetwork(network, tuple((phi,) * m for m in network.widths[1:-1]))


def tangent_network(net: Network, inputs: np.ndarray, error: float) -> TangentNetwork:
    """The network of tangents whose logits are within ``error`` on average, E|g_k(x) − f_k(x)| ≤ λ over all outputs.

    A unit's tolerance is τ over its mean influence ``|∂f_k/∂h|``, and its knots are cut to the range that its
    pre-activations have at the points; τ is the largest of a geometric grid that keeps the error.

    Parameters
    ----------
    net : with "tanh" or "logistic"; a piecewise linear one only has its kinks cut to the range.
    inputs : (n, d) points, such as the training data.
    error : λ > 0, in units of the logits.

    Raises ``ValueError`` if no tolerance of the grid reaches ``error``.

    >>> net = Network([[[1.0]], [[1.0]]], [[0.0], [0.0]], "tanh")
    >>> tangent_network(net, np.array([[-2.0], [0.1], [0.2]]), 0.1).pieces[0].tolist()  # nothing to the right of 0.2
    [2]
    """
    levels, exact = net.pre_activations(inputs)[:-1], net(inputs)
    ranges = [np.stack([z.min(axis=0), z.max(axis=0)], axis=1) for z in levels]
    if net.activation not in CURVES:
        whole = uniform_tangents(net)
        return TangentNetwork(net, tuple(_cut(layer, r) for layer, r in zip(whole.activations, ranges, strict=True)))
    influence = _influence(net, levels)
    for step in range(N_STEPS + 1):
        approximate = _with_tolerance(net, ranges, influence, step)
        if np.mean(np.abs(approximate(inputs) - exact)) <= error:
            return approximate
    raise ValueError(f"error: found {error:g}, expected more: the finest tangents do not come that close.")


def segment_knots(network: TangentNetwork, a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """For every hidden layer the (k_i,) places in (0, 1), ascending, where its units pass knots between a and b, (d,).

    Exact: between knots of the layers below all pre-activations are affine. The segment meets one linear piece more
    than there are knots in all.
    """
    places, by_layer = np.array([0.0, 1.0]), []
    for i in range(len(network.activations)):
        value = a + places[:, None] * (b - a)
        for below in range(i):
            value = network.apply(below, network.hidden(below, value))
        knots = _crossings(places, network.hidden(i, value), network.activations[i])
        by_layer.append(np.sort(knots))
        places = np.sort(np.r_[places, knots])
    return by_layer


def segment_pieces(network: TangentNetwork, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(n,) numbers of linear pieces on segments from starts (n, d) to ends (n, d).

    >>> relu = uniform_tangents(Network([[[1.0, 1.0]], [[1.0], [1.0]]], [[0.0, -0.5], [0.0]]))
    >>> segment_pieces(relu, np.array([[-1.0]]), np.array([[1.0]])).tolist()
    [3]
    """
    return np.array([1 + sum(map(len, segment_knots(network, a, b))) for a, b in zip(starts, ends, strict=True)])


def _crossings(places: np.ndarray, z: np.ndarray, activations: Sequence[Activation]) -> np.ndarray:
    """Where affine pieces between ``places`` (t,), with values z (t, m) there, pass the units' knots."""
    unit = np.repeat(np.arange(z.shape[1]), [len(phi.kinks) for phi in activations])
    level = z[:, unit] - np.concatenate([np.array(phi.kinks) for phi in activations])
    interval, which = np.nonzero((level[1:] > 0) != (level[:-1] > 0))
    below, above = level[interval, which], level[interval + 1, which]
    return places[interval] + below / (below - above) * np.diff(places)[interval]


def _influence(net: Network, levels: list[np.ndarray]) -> list[np.ndarray]:
    """For every hidden layer (m,) mean over points and outputs of ``|∂f_k/∂h_j|``."""
    by_layer, by_output = [], np.repeat(net.weights[-1].T[None], len(levels[0]), axis=0)
    for i in range(len(levels) - 1, -1, -1):
        by_layer.append(np.abs(by_output).mean(axis=(0, 1)))
        by_output = (by_output * net.phi.derivative(levels[i])[:, None, :]) @ net.weights[i].T
    return by_layer[::-1]


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
