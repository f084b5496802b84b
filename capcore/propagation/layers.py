"""Layers as stacked columns: where the capacity of an output goes (paper 2, Eqs 13–15 and 17).

A layer may read the layer below, side inputs, a bias, and the outputs of layers further down (skip connections inside
the network). The squared weights of all of these together are one column per output, and sum to one where capacity is
conserved. Paper 2, Eq. 15, holds where W∘W alone has unit columns, and is then exact, without its O(ε²).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from capcore.checks.arguments import finite_number, of_kind, positive_integer
from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.matrix import MatrixTransport
from capcore.results.notebook import Record

Transport = ConvolutionTransport | MatrixTransport


@dataclass(frozen=True, eq=False, repr=False)
class Layer(Record):
    """The columns of one layer: D_ℓ of paper 2, Eqs 15 and 24.

    Attributes
    ----------
    transport : ConvolutionTransport or MatrixTransport
        Squared weights on the outputs of the layer below.
    side : float
        γ², the squared scale of side inputs Y_ℓ added one to one to the outputs (paper 2, Eq. 13).
    bias : float
        β², the squared scale of the bias (paper 2, Eq. 17).
    skips : dict
        ``{lower layer: transport}``, where layer 0 is the network's input: weights on outputs further down.

    Examples
    --------
    >>> Layer.leaky(ConvolutionTransport.of_offsets({0: 1.0}), side=0.25).transport.sums
    array([0.75])
    """

    transport: Transport
    side: float = 0.0
    bias: float = 0.0
    skips: Mapping[int, Transport] = field(default_factory=dict)

    def __post_init__(self) -> None:
        of_kind(self.skips, "skips", Mapping, "a mapping of layers to transports")
        if not isinstance(self.transport, Transport):
            kind = type(self.transport).__name__
            raise ValueError(f"transport: found {kind}, expected a transport, as MatrixTransport.of_weights(…).")
        for name in ("side", "bias"):
            vars(self)[name] = check_leak(getattr(self, name), name)
        for lower in self.skips:
            positive_integer(lower, "skips: layer", 0)

    @classmethod
    def leaky(cls, transport: Transport, side: float = 0.0, bias: float = 0.0) -> Layer:
        """Columns [√(1 − side − bias) W; √side I; √bias] squared, for W∘W = ``transport``: paper 2, Eq. 15 and §3.5.

        In the paper's symbols side is γ² = α_ℓ ε, and bias is β² = α_ℓ ε.

        Raises
        ------
        ValueError
            If a leak is negative, or the leaks exceed one in all.
        """
        leak = check_leak(side, "side") + check_leak(bias, "bias")
        if leak > 1:
            raise ValueError(f"side, bias: found leaks of {leak:g} in all, expected at most 1. Use more layers.")
        return cls(transport.scaled(1 - leak), side, bias)

    def columns(self, above: tuple[int, ...]) -> np.ndarray:
        """(n_out,) total that leaves each output, before boundaries, for outputs (*positions, channels)."""
        parts = [self.transport, *self.skips.values()]
        return self.bias + self.side + np.sum([part.columns(above) for part in parts], axis=0)


def check_leak(value: object, name: str) -> float:
    """``value`` as a non-negative float."""
    leak = finite_number(value, name)
    if leak < 0:
        raise ValueError(f"{name}: found a leak of {leak:g}, expected a square, at least 0. It creates no capacity.")
    return leak
