"""The limits of many layers: the lattice law exp(tΔ), and the partial differential equation.

One equation of the paper stands for two limits. With jumps of order 1/N, N layers tend to exp(tΔ), a law on pixels,
with an error of order 1/N. Only if capacity spreads over many pixels, √(2D) ≫ 1, does that tend to the heat
equation, with an error of order 1/D. Paper 2, Eq. 3, is the second limit.

Time t runs from 0 at the output to 1 at the input, in segments in which nothing changes: dilations change from layer to
layer (§3.6), and so may the leak and the source (§3.2–3.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from capcore.checks.arguments import all_of_kind, finite_number, of_kind, plain_fields
from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.fourier import Grid
from capcore.propagation.generator import LimitCoefficients
from capcore.propagation.layers import check_leak
from capcore.propagation.matrix import representable, with_channels
from capcore.results.notebook import Record

LARGEST = 1e7
"""Largest exponent: up to here exponentials are accurate to 1e-9."""
NOTHING = -745.0
"""Exponent below which the exponential is zero."""


@dataclass(frozen=True, eq=False, repr=False)
class Segment(Record):
    """A stretch of time with one generator.

    Attributes
    ----------
    duration : float
        At least 0.
    generator : ConvolutionTransport or LimitCoefficients
        Jump rates of one channel, for the lattice law, or the coefficients of the equation.
    leak : float
        α ≥ 0 of paper 2, Eq. 16, with jump rates; coefficients carry their own.
    source : (*positions, channels) array, optional
        Per unit time: the last term of paper 2, Eqs 8 and 11.
    """

    duration: float
    generator: ConvolutionTransport | LimitCoefficients
    leak: float = 0.0
    source: np.ndarray | None = None

    def __post_init__(self) -> None:
        plain_fields(self)
        of_kind(self.generator, "generator", ConvolutionTransport | LimitCoefficients)
        finite_number(self.duration, "duration", "a number of at least 0: capacity does not flow back", least=0)
        if isinstance(self.generator, LimitCoefficients) and self.leak:
            raise ValueError("leak: found one beside limit coefficients, expected LimitCoefficients(…, leak=…).")
        if isinstance(self.generator, ConvolutionTransport) and self.generator.weights.shape[-1] > 1:
            raise ValueError("generator: found several channels, expected one. Take their sum: lumped(rates).")
        check_leak(self.leak, "leak")


@dataclass(frozen=True, eq=False, repr=False)
class Evolution(Record):
    """Where capacity is at the end, and where the rest went (paper 2, Eq. 16).

    Attributes
    ----------
    final : (*positions, channels) array
        κ^X, at t = 1.
    leaked : (*positions, channels) array
        κ^Y, by the position at which it leaked.
    supplied : float
        Total supply, from the start and from sources.
    """

    final: np.ndarray
    leaked: np.ndarray
    supplied: float


def evolve(initial: object, segments: Sequence[Segment]) -> Evolution:
    """Solution of paper 2, Eqs 3, 8, 11, 16, 19, 28 and 30, on periodic positions, exact in time, by Fourier series.

    At other boundaries follow the layers one by one with :func:`~capcore.propagation.discrete.propagate`. With limit
    coefficients it is the equation's solution for the trigonometric polynomial through the initial values: a single
    pixel needs √(2Dt) of at least about one pixel to be resolved.

    Parameters
    ----------
    initial : (*positions, 1) array_like
        π(0, x); (*positions) suffices. Use zeros if there are only sources.
    segments : list of Segment
        From the output down. Each may have a drift of at most 1e7 waves: then nine digits are correct.

    Raises
    ------
    ValueError
        If there are more jumps, or results leave double precision.

    Examples
    --------
    >>> step = ConvolutionTransport.of_offsets({-1: 1.0, 1: 1.0})
    >>> start = np.zeros(41); start[20] = 1
    >>> evolve(start, [Segment(1.0, step)]).final[20, 0].round(10).item()
    0.3085083226
    """
    all_of_kind(segments, "segments", Segment)
    if not segments:
        raise ValueError("segments: found none, expected at least one.")
    capacity = with_channels(initial, "initial", segments[0].generator.ndim)
    grid = Grid(capacity.shape[:-1])
    spectrum = grid.transform(capacity)
    leaked, supplied = np.zeros_like(capacity), float(capacity.sum())
    for segment in segments:
        symbol, t = grid.symbol(segment.generator)[..., 0], segment.duration
        leak = getattr(segment.generator, "leak", segment.leak)
        given = np.zeros_like(capacity) if segment.source is None else segment.source
        values = with_channels(given, "source", capacity.ndim - 1)
        if values.shape != capacity.shape:
            raise ValueError(f"source: found shape {values.shape}, expected the capacity's, {capacity.shape}.")
        source = grid.transform(values)
        whole, first, second = phi_functions(_checked(t * (symbol - leak)))
        held = t * (first * spectrum + t * (second * source))  # ∫ π dt
        spectrum = whole * spectrum + t * (first * source)
        if leak:
            leaked = leaked + leak * grid.inverse(held)
        supplied += t * float(values.sum())
    final = representable(grid.inverse(spectrum), "initial")
    return Evolution(final, representable(leaked, "initial"), supplied)


def _checked(w: np.ndarray) -> np.ndarray:
    """Exponents, if rounding spares their exponentials, whose error is ε |w| unless they are zero."""
    representable(w, "segments")
    largest = np.abs(w).max(where=w.real > NOTHING, initial=0.0)
    if largest > LARGEST:
        raise ValueError(f"segments: found {largest:.1e} jumps or waves, expected at most {LARGEST:g}. Use fewer.")
    return w


def phi_functions(w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """e^w, (e^w − 1)/w and (e^w − 1 − w)/w² of numbers w.

    >>> [value.round(6).item() for value in phi_functions(np.array([1.0]))]
    [2.718282, 1.718282, 0.718282]
    """
    small = np.abs(w) < 0.5
    near, far = np.where(small, w, 0), np.where(small, 1, w)
    tail = np.ones_like(w)
    for m in range(20, 2, -1):  # 1 + w/3 (1 + w/4 (1 + …))
        tail = 1 + near * tail / m
    first = np.where(small, 1 + near * tail / 2, np.expm1(far) / far)
    return np.exp(w), first, np.where(small, tail / 2, (np.expm1(far) / far - 1) / far)
