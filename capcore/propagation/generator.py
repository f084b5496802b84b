"""Residual layers I + Δ/N and their generator Δ: jump rates, and the drift, diffusion and leak that follow from them.

A residual layer keeps most capacity where it is and lets a little jump: W∘W = I + Δ/N, with rates a_j ≥ 0 at offset
j ≠ 0 and −Σ a_j on the diagonal, so that columns sum to one (the W∘W = 1 + εΔ of paper 2, §3.1, needs that too). Over N
layers the mean displacement is v = Σ j a_j and the variance 2D − v²/N with D = ½ Σ j jᵀ a_j. The paper leaves out v,
which vanishes only for symmetric kernels: causal ones drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil

import numpy as np

from capcore.checks.arguments import all_of_kind, finite_array, of_kind, positive_integer
from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.layers import check_leak
from capcore.results.notebook import as_table

LUMPABLE = 1e-12  # of the largest sum: what channels may differ by


def residual(rates: ConvolutionTransport, n_layers: int) -> ConvolutionTransport:
    """I + Δ/N: capacity weights of one of N layers whose jumps have the given rates over all layers (paper 2, §3.1).

    The diagonal makes the columns sum to one, whatever ``rates`` contains there.

    Parameters
    ----------
    rates : ConvolutionTransport
        Jumps over all layers, with as many input as output channels.
    n_layers : int
        N, at least 1.

    Raises
    ------
    ValueError
        If too few layers would make it negative: positivity asks for Σ_j a_j ≤ N in every channel.

    Examples
    --------
    >>> residual(ConvolutionTransport.of_offsets({-1: 1.0, 1: 1.0}), 8).weights[0, :, 0].tolist()
    [0.125, 0.75, 0.125]
    """
    of_kind(rates, "rates", ConvolutionTransport)
    n = positive_integer(n_layers, "n_layers")
    weights = jumps(rates).weights / n
    away = weights.reshape(-1, weights.shape[-1]).sum(axis=0)
    if (away > 1).any():
        most = float(away.max() * n)
        raise ValueError(f"rates: found a total rate of {most:g} for {n} layers. Use at least {ceil(most)} layers.")
    return _with_diagonal(rates, weights, 1 - away)


def jumps(transport: ConvolutionTransport) -> ConvolutionTransport:
    """The weights without those that keep capacity at its position and in its channel."""
    transport.require_equal_channels()
    return _with_diagonal(transport, transport.weights, np.zeros(transport.weights.shape[-1]))


def _with_diagonal(like: ConvolutionTransport, weights: np.ndarray, diagonal: np.ndarray) -> ConvolutionTransport:
    """The weights with other values at offset zero from each channel to itself; the origin must be a tap."""
    origin = tuple(np.ravel(like.origin))
    if any(o >= size for o, size in zip(origin, weights.shape[1:-1], strict=True)):
        raise ValueError(f"origin: found {origin} outside the {weights.shape[1:-1]} taps, expected one of the taps.")
    weights, channels = weights.copy(), np.arange(len(diagonal))
    weights[(channels, *origin, channels)] = diagonal
    return replace(like, weights=weights)


@dataclass(frozen=True, eq=False)
class LimitCoefficients:
    """∂π/∂t = Σ_ij D_ij ∂²π/∂x_i∂x_j − v·∇π − απ, in pixels: paper 2, Eqs 3, 16 and 28, with a drift.

    Attributes
    ----------
    diffusion : (d, d) array
        Symmetric, without negative eigenvalues.
    drift : (d,) array
        Drift towards larger positions.
    leak : float
        α ≥ 0.

    Examples
    --------
    >>> LimitCoefficients.of_rates(ConvolutionTransport.of_offsets({-1: 1.0, 2: 0.5}))
    LimitCoefficients(diffusion=array([[1.5]]), drift=array([0.]), leak=0.0)
    """

    diffusion: np.ndarray
    drift: np.ndarray
    leak: float = 0.0

    def __post_init__(self) -> None:
        diffusion = np.atleast_2d(finite_array(self.diffusion, "diffusion", (0, 2)))
        drift = np.atleast_1d(finite_array(self.drift, "drift", (0, 1)))
        d = len(drift)
        if diffusion.shape != (d, d) or not np.array_equal(diffusion, diffusion.T):
            raise ValueError(f"diffusion: found shape {diffusion.shape}, expected a symmetric ({d}, {d}) matrix.")
        if np.linalg.eigvalsh(diffusion)[0] < -1e-12 * np.abs(diffusion).max():
            raise ValueError("diffusion: found a negative eigenvalue, expected none: capacity spreads.")
        vars(self).update(diffusion=diffusion, drift=drift, leak=check_leak(self.leak, "leak"))

    @classmethod
    def of_rates(cls, rates: ConvolutionTransport, leak: float = 0.0) -> LimitCoefficients:
        """Drift Σ j a_j and diffusion ½ Σ j jᵀ a_j of the jumps; several channels must be lumpable."""
        single = lumped(rates)
        a, offsets = single.weights.reshape(-1), single.offsets
        moment = (offsets.T * a) @ offsets
        return cls((moment + moment.T) / 4, a @ offsets, leak)  # a product need not be symmetric to the last bit

    @property
    def ndim(self) -> int:
        """Number of axes d."""
        return len(self.drift)


def lumped(transport: ConvolutionTransport) -> ConvolutionTransport:
    """One channel that carries the sum over channels (paper 2, Eqs 25–26), if such a law exists.

    It exists exactly if Σ_c a_j(c' → c) is the same for all channels c' at every offset j ("lumpable"). Otherwise the
    paper's averages depend on how capacity is spread over channels, and so change from layer to layer.

    Raises
    ------
    ValueError
        If channels differ by more than 1e-12 of the largest sum.

    Examples
    --------
    >>> lumped(ConvolutionTransport([[[0.5, 0.25]], [[0.5, 0.75]]])).weights.tolist()
    [[[1.0]]]
    """
    of_kind(transport, "transport", ConvolutionTransport)
    sums = transport.weights.sum(axis=0)  # (*taps, out)
    spread = np.ptp(sums, axis=-1).max()
    if spread > LUMPABLE * sums.max():
        raise ValueError(f"weights: what is sent differs by {spread:.3g} between channels, expected even mixing.")
    return replace(transport, weights=sums[None, ..., :1])


@dataclass(frozen=True, eq=False)
class Displacement:
    """Moments of the position at which the capacity of one output ends, on unbounded positions.

    Attributes
    ----------
    mean : (d,) array
    covariance : (d, d) array
    excess_kurtosis : (d,) array
        Along every axis: 0 for a Gaussian, NaN if nothing moves.
    """

    mean: np.ndarray
    covariance: np.ndarray
    excess_kurtosis: np.ndarray

    _repr_html_ = as_table


def displacement(layers: Sequence[ConvolutionTransport]) -> Displacement:
    """Moments of the position at which the capacity of one output ends; for dilated layers see paper 2, Eqs 20–23.

    Parameters
    ----------
    layers : list of ConvolutionTransport
        Layers with any dilations, each of which conserves capacity.

    Raises
    ------
    NotStochasticError
        If a layer does not conserve capacity.
    ValueError
        If the channels are not lumpable.

    Examples
    --------
    >>> field = displacement([ConvolutionTransport([[[0.25], [0.5], [0.25]]])] * 100)
    >>> field.covariance.item(), field.excess_kurtosis.round(6).item()
    (50.0, -0.01)
    """
    all_of_kind(layers, "layers", ConvolutionTransport)
    if not layers:
        raise ValueError("layers: found none, expected at least one.")
    steps = map(cache(_cumulants), layers)
    mean, covariance, fourth = (np.sum(column, axis=0) for column in zip(*steps, strict=True))
    variance = np.diag(covariance)
    unknown = np.full(len(variance), np.nan)
    return Displacement(mean, covariance, np.divide(fourth, variance**2, out=unknown, where=variance > 0))


def _cumulants(layer: ConvolutionTransport) -> tuple[np.ndarray, ...]:
    """Mean (d,), covariance (d, d), and fourth cumulants (d,) along the axes, of one layer's step."""
    p, offsets = lumped(layer.require_stochastic()).weights.reshape(-1), layer.offsets.astype(float)
    mean = p @ offsets
    away = offsets - mean
    covariance = (away.T * p) @ away
    return mean, covariance, p @ away**4 - 3 * np.diag(covariance) ** 2
