"""From a stack of residual layers to its limits: rates, drift, diffusion, leak and source read off the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.evolution import Segment
from capcore.propagation.generator import LimitCoefficients, rates_of
from capcore.propagation.layers import Layer, Transport
from capcore.validation import one_of


def limit_segments(
    layers: Sequence[Layer | Transport], kind: str, sources: Mapping[int, np.ndarray] | None = None
) -> list[Segment]:
    """Segments for :func:`~capcore.propagation.evolution.evolve`, each layer lasting 1/N, the uppermost first.

    A layer [√(1 − αε) W; √(αε) I] with W∘W = I + εΔ gives the generator Δ and the leak α, for ε = 1/N. Equal neighbours
    become one segment. Sources are per layer in a network, and so N times as large per unit time: the factor L of
    Eqs 8 and 11. The equation starts from the output's capacity; where the output is a source like the others, as in
    Eq. 8, it starts from zero, which is the same in the limit.

    Parameters
    ----------
    layers : lowest first: convolutions with leaks to side inputs or a bias. kind : ``lattice`` or ``heat``.
    sources : as for :func:`~capcore.propagation.discrete.propagate`, on the layers 1 … N that send them down.

    Raises ``ValueError`` for layers that have no such limit: matrices, skips inside the network, side inputs with
    weights of their own, and columns that do not sum to one.

    >>> step = ConvolutionTransport.of_offsets({-1: 0.125, 0: 0.75, 1: 0.125})
    >>> [segment] = limit_segments([Layer.leaky(step, side=0.25)] * 8, "heat")
    >>> segment.duration, segment.generator
    (1.0, LimitCoefficients(diffusion=array([[1.]]), drift=array([0.]), leak=2.0))
    """
    one_of(kind, "kind", ("lattice", "heat"))
    items = list(layers)
    stack = [layer if isinstance(layer, Layer) else Layer(layer) for layer in items]
    n_layers = len(stack)
    sources = dict(sources or {})
    if not set(sources) <= set(range(1, n_layers + 1)):
        raise ValueError(f"sources: found layers {sorted(sources)}, expected some of 1 … {n_layers}.")
    runs: list[tuple[int, int]] = []  # uppermost layer of each, number of layers
    previous: tuple[int, int] | None = None
    for level in range(n_layers, 0, -1):
        key = (id(items[level - 1]), id(sources.get(level)))
        if key != previous:
            runs.append((level, 0))
        runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        previous = key
    return [_segment(stack[top - 1], n_layers, kind, sources.get(top), top, count) for top, count in runs]


def _segment(layer: Layer, n_layers: int, kind: str, source: np.ndarray | None, level: int, count: int) -> Segment:
    transport = layer.transport
    if not isinstance(transport, ConvolutionTransport) or not isinstance(layer.side, float) or layer.skips:
        raise ValueError(
            f"layer {level}: found a matrix, skips inside the network, or side inputs with weights of their own; "
            "expected a convolution with leaks. Follow such layers one by one with `propagate`."
        )
    leak = float(layer.side + layer.bias)
    if leak >= 1:
        raise ValueError(f"layer {level}: everything leaks, expected something to be left for the layers below.")
    rates = rates_of(transport.scaled(1 / (1 - leak)).require_stochastic(), n_layers)
    per_time = None if source is None else n_layers * np.asarray(source, dtype=float)
    if kind == "lattice":
        return Segment(count / n_layers, rates, n_layers * leak, per_time)
    return Segment(count / n_layers, LimitCoefficients.of_rates(rates, n_layers * leak), source=per_time)
