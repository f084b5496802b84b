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
from scipy.linalg import expm

from capcore.checks.arguments import all_of_kind, finite_number, of_kind, plain_fields
from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.fourier import Grid
from capcore.propagation.generator import LimitCoefficients
from capcore.propagation.layers import check_leak
from capcore.propagation.matrix import representable, with_channels
from capcore.results.notebook import as_table

LARGEST = 1e7
"""Largest exponent: up to here exponentials are accurate to 1e-9."""
NOTHING = -745.0
"""Exponent below which the exponential is zero."""


@dataclass(frozen=True, eq=False)
class Segment:
    """A stretch of time with one generator.

    Attributes
    ----------
    duration : float
        At least 0.
    generator : ConvolutionTransport or LimitCoefficients
        Jump rates, for the lattice law, or the coefficients of the equation.
    leak : float
        α ≥ 0 of paper 2, Eq. 16, with jump rates; coefficients carry their own.
    source : (*positions, channels) array, optional
        Per unit time: the last term of paper 2, Eqs 8 and 11.
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    duration: float
    generator: ConvolutionTransport | LimitCoefficients
    leak: float = 0.0
    source: np.ndarray | None = None

    def __post_init__(self) -> None:
        plain_fields(self)
        of_kind(self.generator, "generator", ConvolutionTransport | LimitCoefficients)
        if finite_number(self.duration, "duration") < 0:
            raise ValueError(f"duration: found {self.duration}, expected at least 0. Capacity does not flow back.")
        if isinstance(self.generator, LimitCoefficients) and self.leak:
            raise ValueError("leak: found one beside limit coefficients, expected LimitCoefficients(…, leak=…).")
        check_leak(self.leak, "leak")

    @property
    def total_leak(self) -> float:
        """α, from the segment or from its coefficients."""
        return self.generator.leak if isinstance(self.generator, LimitCoefficients) else float(self.leak)


@dataclass(frozen=True, eq=False)
class Evolution:
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

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    final: np.ndarray
    leaked: np.ndarray
    supplied: float

    @property
    def boundary(self) -> float:
        """Capacity that is neither at the end nor leaked; without an absorbing boundary it is zero up to rounding."""
        return self.supplied - float(self.final.sum() + self.leaked.sum())

    _repr_html_ = as_table


def evolve(initial: object, segments: Sequence[Segment], boundary: str = "periodic") -> Evolution:
    """Solution of paper 2, Eqs 3, 8, 11, 16, 19, 28 and 30, on a range of positions, exact in time, by Fourier series.

    With limit coefficients it is the equation's solution for the trigonometric polynomial through the initial values: a
    single pixel needs √(2Dt) of at least about one pixel to be resolved.

    Parameters
    ----------
    initial : (*positions, channels) array_like
        π(0, x); (*positions) suffices for one channel. Use zeros if there are only sources.
    segments : list of Segment
        From the output down. Each may have at most 1e7 jumps if there are several channels, and a drift of at most 1e7
        waves: then nine digits are correct.
    boundary : str
        The generators must be symmetric enough for images, see :mod:`capcore.propagation.fourier`; otherwise
        follow the layers one by one with :func:`~capcore.propagation.discrete.propagate`.

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
    grid = Grid(capacity.shape[:-1], boundary)
    spectrum = grid.transform(capacity)
    leaked, supplied = np.zeros_like(capacity), float(capacity.sum())
    for segment in segments:
        symbol, t, leak = grid.symbol(segment.generator), segment.duration, segment.total_leak
        given = np.zeros_like(capacity) if segment.source is None else segment.source
        values = with_channels(given, "source", capacity.ndim - 1)
        if values.shape != capacity.shape:
            raise ValueError(f"source: found shape {values.shape}, expected the capacity's, {capacity.shape}.")
        source, added = grid.transform(values), t * float(values.sum())
        phi = phi_functions(_checked(t * (symbol - leak * np.eye(symbol.shape[-1]))))
        held = t * (_times(phi[1], spectrum) + t * _times(phi[2], source))  # ∫ π dt
        spectrum = _times(phi[0], spectrum) + t * _times(phi[1], source)
        leaked = leaked + (leak * grid.inverse(held) if leak else np.zeros_like(capacity))
        supplied += added
    final = representable(grid.inverse(spectrum), "initial")
    return Evolution(final, representable(leaked, "initial"), supplied)


def _checked(w: np.ndarray) -> np.ndarray:
    """Exponents (…, C, C), if rounding spares their exponentials; raises ``ValueError`` otherwise.

    The exponential of a number has the error ε |w| unless it is zero, that of a matrix about ε ‖w‖ everywhere.
    """
    representable(w, "segments")
    counts = w.real > NOTHING if w.shape[-1] == 1 else np.ones(w.shape, bool)
    largest = float(np.abs(w).max(where=counts, initial=0.0))
    if largest > LARGEST:
        raise ValueError(
            f"segments: found rates or a drift of {largest:.1e} in all, expected at most {LARGEST:g}: the result "
            "would have hardly a correct digit. Use smaller ones, or a shorter duration."
        )
    return w


def _times(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Products of (…, C, C) or (…, 1, 1) with (…, C)."""
    return matrix[..., 0] * vector if matrix.shape[-1] == 1 else np.einsum("...ij,...j->...i", matrix, vector)


def phi_functions(w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """e^w, (e^w − 1)/w and (e^w − 1 − w)/w² of matrices w (…, C, C)."""
    channels = w.shape[-1]
    if channels > 1:
        zero, one = np.zeros_like(w), np.broadcast_to(np.eye(channels), w.shape)
        blocks = np.block([[w, one, zero], [zero, zero, one], [zero, zero, zero]])
        exponential, first, second = np.split(expm(blocks)[..., :channels, :], 3, axis=-1)
        return exponential, first, second
    small = np.abs(w) < 0.5
    near, far = np.where(small, w, 0), np.where(small, 1, w)
    tail = np.ones_like(w)
    for m in range(20, 2, -1):  # 1 + w/3 (1 + w/4 (1 + …))
        tail = 1 + near * tail / m
    first = np.where(small, 1 + near * tail / 2, np.expm1(far) / far)
    return np.exp(w), first, np.where(small, tail / 2, (np.expm1(far) / far - 1) / far)
