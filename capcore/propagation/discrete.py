"""Propagate capacity through any stack of layers, one layer at a time, and record where it went."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from capcore.checks.arguments import of_kind, one_of
from capcore.propagation.convolution import BOUNDARIES
from capcore.propagation.layers import Layer, Transport
from capcore.propagation.matrix import representable, require_stochastic, with_channels
from capcore.results.notebook import Record


@dataclass(frozen=True, eq=False, repr=False)
class Propagation(Record):
    """Where the capacity of the output layer ends, and where it passes on the way.

    Attributes
    ----------
    input : (*positions, channels) array
        Capacity of the network's input, κ^X.
    side : array, optional
        Capacity of the side inputs, summed over layers, κ^Y; None if their spaces differ from layer to layer.
    side_mass, bias_mass, boundary_mass : (n_layers,) array
        Totals by layer, lowest first.
    supplied : float
        Total supply: the output's capacity and the sources.
    states : tuple of arrays
        Capacities on the outputs of layers 0 … n_layers, where 0 is the input; empty unless kept.
    """

    input: np.ndarray
    side: np.ndarray | None
    side_mass: np.ndarray
    bias_mass: np.ndarray
    boundary_mass: np.ndarray
    supplied: float
    states: tuple[np.ndarray, ...]

    @property
    def per_position(self) -> np.ndarray:
        """(*positions) capacity of the input, summed over channels."""
        return self.input.sum(axis=-1)

    @property
    def masses(self) -> dict[str, float]:
        """Sum of what reached the input, the side inputs and the bias, and what left through the boundary."""
        parts = {"input": self.input, "side": self.side_mass, "bias": self.bias_mass, "boundary": self.boundary_mass}
        return {name: float(part.sum()) for name, part in parts.items()}

    @property
    def imbalance(self) -> float:
        """(received − supplied)/supplied: only rounding if capacity is conserved."""
        return (sum(self.masses.values()) - self.supplied) / self.supplied if self.supplied else 0.0


def propagate(
    output: object,
    layers: Sequence[Layer | Transport],
    *,
    boundary: str = "periodic",
    sources: Mapping[int, object] | None = None,
    conserve: bool = True,
    keep: bool = False,
) -> Propagation:
    """Capacity of the input and of everything else that the layers read (paper 2, Eqs 2, 7, 15 and 24).

    Parameters
    ----------
    output : (*positions, channels) array_like
        κ^L, on the outputs of the uppermost layer; (*positions) suffices for one channel.
    layers : list of Layer
        Lowest first. A bare transport is a layer without side inputs, bias and skips.
    boundary : str
        Of convolutions; see :mod:`capcore.propagation.convolution`.
    sources : dict, optional
        ``{layer: capacity}`` added on the outputs of that layer, 0 being the input: κ(L → L_ℓ) of paper 2, Eq. 7, for
        connections to the output, or κ(ℓ → ℓ) of Eq. 11. The latter add up only if they are *conditional*, each given
        all layers above (paper 1, Property 6).
    conserve : bool
        Whether to refuse layers whose columns do not sum to one.
    keep : bool
        Whether to keep the capacities of all layers.

    Raises
    ------
    NotStochasticError
        If a layer does not conserve capacity.
    ValueError
        If shapes do not fit, capacities are negative, or the boundary is unknown.

    Examples
    --------
    >>> from capcore.propagation.convolution import ConvolutionTransport
    >>> step = Layer.leaky(ConvolutionTransport.of_offsets({0: 0.5, 1: 0.5}), side=0.5)
    >>> propagate([1.0, 0.0, 0.0], [step] * 2).per_position.tolist()
    [0.0625, 0.125, 0.0625]
    """
    of_kind(layers, "layers", Sequence, "a list of layers")
    of_kind(sources, "sources", Mapping | None, "a mapping of layers to capacities")
    one_of(boundary, "boundary", BOUNDARIES)
    wrapped = {id(layer): layer if isinstance(layer, Layer) else Layer(layer) for layer in layers}
    stack = [wrapped[id(layer)] for layer in layers]
    if not stack:
        raise ValueError("layers: found none, expected at least one.")
    n_layers = len(stack)
    side_mass, bias_mass, boundary_mass = np.zeros((3, n_layers))

    columns = cache(Layer.columns)  # once even if a layer is used many times, as its operators
    operator = cache(lambda part, above: part.operator(above, boundary))

    def send(part: Transport, capacity: np.ndarray, level: int) -> np.ndarray:
        """Capacity on the layer below; records what a layer loses at the boundary."""
        matrix, lost = operator(part, capacity.shape)
        flat = capacity.reshape(-1)
        boundary_mass[level - 1] += lost @ flat
        return (matrix @ flat).reshape(part.input_shape(capacity.shape))

    waiting = defaultdict(list, {n_layers: [_capacity(output, "output", stack[-1])]})
    for level, source in (sources or {}).items():
        if level not in range(n_layers + 1):
            raise ValueError(f"sources: found layer {level!r}, expected 0 (the input) to {n_layers} (the uppermost).")
        waiting[level].append(_capacity(source, f"sources[{level}]", stack[max(level - 1, 0)]))
    supplied = float(sum(part.sum() for parts in waiting.values() for part in parts))
    representable(np.array(supplied), "output")

    sides: dict[tuple[int, ...], np.ndarray] = {}
    states = []
    for level in range(n_layers, 0, -1):
        layer, capacity = stack[level - 1], _sum(waiting.pop(level), level)
        states += [capacity] * keep
        if conserve:
            advice = "Use transport.normalised(), Layer.leaky(…) for leaks, or conserve=False."
            require_stochastic(columns(layer, capacity.shape), f"layer {level}: the squared weights of output", advice)
        waiting[level - 1].append(send(layer.transport, capacity, level))
        for lower, part in layer.skips.items():
            if lower >= level - 1:
                raise ValueError(f"skips: layer {level} cannot read layer {lower}, expected one below {level - 1}.")
            waiting[lower].append(send(part, capacity, level))
        side = layer.side * capacity
        side_mass[level - 1] = side.sum()
        sides[side.shape] = sides.get(side.shape, 0.0) + side
        bias_mass[level - 1] = layer.bias * capacity.sum()
    bottom = _sum(waiting.pop(0), 0)
    representable(np.concatenate([[bottom.sum()], side_mass, bias_mass, boundary_mass]), "layers")
    states += [bottom] * keep
    common = next(iter(sides.values())) if len(sides) == 1 else None
    return Propagation(bottom, common, side_mass, bias_mass, boundary_mass, supplied, tuple(reversed(states)))


def _capacity(values: object, name: str, reader: Layer) -> np.ndarray:
    return with_channels(values, name, reader.transport.ndim, tuple(range(1, 7)))


def _sum(parts: list[np.ndarray], level: int) -> np.ndarray:
    shapes = sorted({part.shape for part in parts})
    if len(shapes) > 1:
        raise ValueError(f"layer {level}: found capacities of shapes {shapes} on its outputs, expected one shape.")
    return np.sum(parts, axis=0)
