"""Paths along which capacity reaches a node, and the kernels that they add up to (paper 2).

The networks of Figures 1–3 as layers: a node is a level and a position, level 0 is the network's input X, level k the
outputs of layer k. Layer ℓ reads level ℓ − 1, so κ(L → ℓ, x) is the capacity that reaches position x of level ℓ − 1,
and the paths to it are those from the output down to that node.

The integral forms of Eqs 4, 9, 12 and 16, by adaptive quadrature, are a second route to solutions by Fourier. With
y = x − √(4Ds) z and s = u² the integrands are smooth, although the heat kernel is not at s = 0.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.integrate import quad_vec

from capcore import ConvolutionTransport, Layer, MatrixTransport, Segment, evolve, propagate
from capcore.propagation import LimitCoefficients, heat_kernel
from capcore.propagation.layers import Transport

Node = tuple[int, int]
Edge = tuple[Node, Node]  # from the upper node to the lower one

KINDS = ("plain", "skips", "side")


class Network(NamedTuple):
    """Layers, lowest first, under an output of one position; and what lies between their nodes.

    Attributes
    ----------
    layers : as for :func:`~capcore.propagation.discrete.propagate`. boundary : of its convolutions.
    """

    layers: tuple[Layer, ...]
    boundary: str = "absorbing"

    @property
    def depth(self) -> int:
        """L, counting the output layer."""
        return len(self.layers)

    def shapes(self) -> list[tuple[int, ...]]:
        """(*positions, channels) of every level, the input first."""
        top: tuple[int, ...] = (1, 1)
        transports = [layer.transport for layer in reversed(self.layers)]
        return [*accumulate(transports, lambda shape, below: below.input_shape(shape), initial=top)][::-1]

    def blocks(self) -> list[tuple[int, int, sparse.csr_array]]:
        """(upper level, lower level, operator) of every transport, connections across layers included."""
        shapes, powers = self.shapes(), []
        for level, layer in enumerate(self.layers, 1):
            below: dict[int, Transport] = {level - 1: layer.transport, **layer.skips}
            for lower, transport in below.items():
                powers.append((level, lower, transport.operator(shapes[level], self.boundary)[0]))
        return powers

    def edges(self) -> set[Edge]:
        """All pairs of nodes with a weight that is not zero."""
        return {
            ((upper, int(column)), (lower, int(row)))
            for upper, lower, matrix in self.blocks()
            for row, column in np.argwhere(matrix.toarray())
        }

    def side_nodes(self) -> list[Node]:
        """The nodes that read a side input of their own."""
        return [
            (level, x)
            for level, layer in enumerate(self.layers, 1)
            if isinstance(layer.side, float) and layer.side > 0
            for x in range(int(np.prod(self.shapes()[level])))
        ]

    def capacity(self, node: Node) -> float:
        """κ(L → ℓ, x) at a node of level ℓ − 1."""
        result = propagate([1.0], self.layers, boundary=self.boundary, conserve=False, keep=True)
        return float(result.states[node[0]].reshape(-1)[node[1]])


def example(kind: str, n_positions: int = 7, depth: int = 5, rate: float = 0.25) -> Network:
    """A small network like those of Figures 1 (``plain``), 2 (``skips``) and 3 (``side``): residual layers of size 3.

    The output layer reads its inputs evenly. Zero padding, so that capacity leaves at either end.

    Parameters
    ----------
    depth : L ≥ 2. rate : squared weight of either neighbour, at most ½. The squared scale of side inputs is 0.1.

    >>> sorted(example("skips", 3, 3).layers[-1].skips)
    [1]
    """
    step = ConvolutionTransport.of_offsets({-1: rate, 0: 1 - 2 * rate, 1: rate})
    side = 0.1 if kind == "side" else 0.0
    lower = [1] if depth == 2 or kind != "skips" else list(range(1, depth))  # levels that the output reads
    column = MatrixTransport(np.full((n_positions, 1), 1 / (n_positions * len(lower))))
    skips: Mapping[int, Transport] = dict.fromkeys(lower[:-1], column)
    top = Layer(column.scaled(1 - side), side, skips=skips)
    return Network((*[Layer.leaky(step, side)] * (depth - 1), top))


def paths_by_operator(network: Network, target: Node) -> set[Edge]:
    """The edges on paths from the output to ``target``, by what can be reached from either end; no path is listed."""
    edges = network.edges()
    below, above = {(network.depth, 0)}, {target}
    for upper, lower in sorted(edges, reverse=True):
        if upper in below:
            below.add(lower)
    for upper, lower in sorted(edges, key=lambda edge: edge[1]):
        if lower in above:
            above.add(upper)
    return {(upper, lower) for upper, lower in edges if upper in below and lower in above}


def listed_paths(network: Network, target: Node) -> Iterator[tuple[list[Node], float]]:
    """Every path from the output down to ``target``, with the product of its squared weights, one by one.

    A second route: no operator is built; a convolution is followed offset by offset, with zero padding.
    """
    sizes = [int(np.prod(shape)) for shape in network.shapes()]

    def follow(path: list[Node], weight: float) -> Iterator[tuple[list[Node], float]]:
        level, x = path[-1]
        if (level, x) == target:
            yield path, weight
        elif level > target[0]:
            layer = network.layers[level - 1]
            for lower, transport in ((level - 1, layer.transport), *layer.skips.items()):
                for y, w in _targets(transport, x, sizes[lower]):
                    yield from follow([*path, (lower, y)], weight * w)

    yield from follow([(network.depth, 0)], 1.0)


def edges_of(paths: Sequence[Sequence[Node]]) -> set[Edge]:
    """The edges of a list of paths."""
    return {edge for path in paths for edge in pairwise(path)}


def node_of(network: Network, target: Sequence[int]) -> Node:
    """The node of position x at the inputs of layer ℓ, for ``target`` = [ℓ, x], both counted from 1 as in the paper.

    >>> node_of(example("plain"), [2, 2])
    (1, 1)
    """
    layer, position = target
    inputs = int(np.prod(network.shapes()[min(layer, network.depth) - 1]))
    if layer > network.depth or position > inputs:
        raise ValueError(
            f"target: found layer {layer}, position {position}, expected a layer of 1 … {network.depth} and one of "
            f"its {inputs} inputs."
        )
    return layer - 1, position - 1


def _targets(transport: Transport, x: int, size: int) -> Iterator[tuple[int, float]]:
    """(position below, squared weight) for everything that position x of one channel reads."""
    if isinstance(transport, MatrixTransport):
        column = sparse.csr_array(transport.weights).toarray()[:, x]
        yield from ((y, float(w)) for y, w in enumerate(column) if w)
    else:
        for (offset,), w in zip(transport.offsets, transport.weights.reshape(-1), strict=True):
            if w and 0 <= x + offset < size:
                yield int(x + offset), float(w)


Density = Callable[[np.ndarray], np.ndarray]

EDGES = ("absorbing", "reflecting", "renormalised")
_STEEPEST = 8.0  # e^{−64} of a Gaussian is below rounding


def two_regions(y: np.ndarray) -> np.ndarray:
    """Capacity of a smooth output at y: 0.9 sech((y + 24)/4) + 0.4 sech((y − 24)/8)."""
    return 0.9 / np.cosh((y + 24) / 4) + 0.4 / np.cosh((y - 24) / 8)


def gaussian_average(values: Density, x: np.ndarray, spread: float) -> np.ndarray:
    """(n,) ∫ e^{−(x−y)²/spread²} values(y) dy/(√π spread) by adaptive quadrature: Eq. 4 with spread = √(4Dt)."""

    def integrand(z: float) -> np.ndarray:
        return np.exp(-(z**2)) / np.sqrt(np.pi) * values(x + spread * z)

    return quad_vec(integrand, -_STEEPEST, _STEEPEST, epsabs=1e-13, epsrel=1e-13)[0]


def edge_law(x: np.ndarray, distance: int, diffusion: float, boundary: str) -> np.ndarray:
    """(n,) heat kernel of an output at ``distance`` from position 0, the first one, with an image behind that edge.

    With zero padding (``absorbing``) the image is negative, about position −1; otherwise positive, about −½.
    """
    flat = LimitCoefficients(np.array([[diffusion]]), np.zeros(1))
    if boundary == "absorbing":
        return heat_kernel(x - distance, 1.0, flat) - heat_kernel(x + distance + 2.0, 1.0, flat)
    return heat_kernel(x - distance, 1.0, flat) + heat_kernel(x + distance + 1.0, 1.0, flat)


def sources_until_now(values: Density, x: np.ndarray, diffusion: float, strengths: Sequence[float]) -> np.ndarray:
    """(n,) ∫₀¹ ∫ e^{−(x−y)²/(4Ds)}/√(4πDs) strength(1 − s) values(y) dy ds: Eqs 9 and 12, divided by L.

    Parameters
    ----------
    strengths : of the source in equal parts of the time from 0 (the output) to 1.
    """

    def integrand(u: float) -> np.ndarray:
        return 2 * u * gaussian_average(values, x, 2 * u * np.sqrt(diffusion))

    edges = np.sqrt(np.linspace(0, 1, len(strengths) + 1))  # of u; s runs backwards through the strengths
    parts = zip(reversed(strengths), pairwise(edges), strict=True)
    known = (strength * quad_vec(integrand, *ends, epsabs=1e-11)[0] for strength, ends in parts if strength)
    return sum(known, np.zeros(x.shape))


def smooth_source(y: np.ndarray) -> np.ndarray:
    """Capacity of one layer at y: 0.9 sech(y/4)."""
    return 0.9 / np.cosh(np.asarray(y) / 4)


def two_routes(x: np.ndarray, diffusion: float, strengths: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """(n,) its limit by the integral of Eqs 9 and 12, and (n,) by Fourier solution of Eqs 8 and 11."""
    equation = LimitCoefficients(np.array([[diffusion]]), np.zeros(1))
    parts = [Segment(1 / len(strengths), equation, source=strength * smooth_source(x)) for strength in strengths]
    solved = evolve(np.zeros(x.shape), parts).final[:, 0]
    return sources_until_now(smooth_source, x, diffusion, strengths), solved


def leaked_density(x: np.ndarray, diffusion: float, slope: float) -> np.ndarray:
    """(n,) ∫₀¹ α(t) π(t, x) dt for one unit at x = 0 and a growing leak α = slope · t: κ^Y of Eq. 16.

    π is the heat kernel times e^{−slope t²/2}; with t = u² the integrand is smooth.
    """

    flat = LimitCoefficients(np.array([[diffusion]]), np.zeros(1))

    def integrand(u: float) -> np.ndarray:
        t = u**2
        if t == 0:
            return np.zeros(x.shape)
        return 2 * u * slope * t * np.exp(-slope * t**2 / 2) * heat_kernel(x, t, flat)

    return quad_vec(integrand, 0, 1, epsabs=1e-12)[0]
