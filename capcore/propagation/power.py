"""Any number of equal layers at once, as a power of the convolution's Fourier symbol."""

from __future__ import annotations

import numpy as np

from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.grid import Grid
from capcore.propagation.matrix import nonnegative, representable
from capcore.validation import positive_integer


def propagate_equal(
    output: object, transport: ConvolutionTransport, n_layers: int, *, boundary: str = "periodic"
) -> np.ndarray:
    """(*positions, channels) capacity below ``n_layers`` layers of equal, conserving weights (Eq. 2).

    The power is taken of the symbol's distance from one, so that neither conservation nor long waves suffer from
    rounding in deep networks. The cost hardly depends on the depth. Rounding leaves numbers of either sign,
    some 1e-17 of the total, where there is nothing.

    Parameters
    ----------
    output : (*positions, channels) or, with one channel, (*positions). transport : with as many inputs as outputs.
    boundary : ``periodic``; ``reflecting`` for kernels symmetric along every axis; ``absorbing`` for those that also
        reach no further than neighbours. Anything else is for :func:`~capcore.propagation.discrete.propagate`.

    Raises :class:`~capcore.propagation.matrix.NotStochasticError` and :class:`~capcore.propagation.grid.NoSymbolError`.

    >>> step = ConvolutionTransport.of_offsets({-1: 0.25, 0: 0.5, 1: 0.25})
    >>> propagate_equal([0, 0, 1.0, 0, 0], step, 2)[:, 0].round(12).tolist()
    [0.0625, 0.25, 0.375, 0.25, 0.0625]
    """
    n_layers = positive_integer(n_layers, "n_layers")
    capacity = with_channels(output, transport.ndim)
    if transport.input_shape(capacity.shape) != capacity.shape:
        raise ValueError(
            f"transport: found {transport.weights.shape[-1]} channels above and {transport.weights.shape[0]} below, "
            "expected equal numbers, so that the layer can be repeated."
        )
    grid = Grid(capacity.shape[:-1], boundary)
    away = grid.symbol(transport.require_stochastic())
    spectrum = representable(grid.transform(capacity), "output")
    if away.shape[-1] == 1:
        return grid.inverse(spectrum * scalar_power(away[..., 0], n_layers))
    power = matrix_power(away, n_layers)
    return grid.inverse(spectrum + np.einsum("...ij,...j->...i", power, spectrum))


def with_channels(values: object, ndim: int) -> np.ndarray:
    """Capacities with an axis of channels, which may be left out where there is one channel."""
    array = nonnegative(values, "output", (ndim, ndim + 1))
    return array[..., None] if array.ndim == ndim else array


def scalar_power(away: np.ndarray, exponent: int) -> np.ndarray:
    """(1 + z)^N of complex z, by modulus and angle."""
    x, y = away.real, away.imag
    with np.errstate(divide="ignore"):  # a symbol of zero has the logarithm −∞ and the power zero
        modulus = np.exp(exponent / 2 * np.log1p(np.maximum(2 * x + x**2 + y**2, -1)))
    return modulus * np.exp(1j * (exponent * np.arctan2(y, 1 + x)))


def matrix_power(away: np.ndarray, exponent: int) -> np.ndarray:
    """(I + Z)^N − I of matrices Z (…, C, C), by repeated squaring of the difference from the identity."""
    result = np.zeros_like(away)
    while exponent:
        if exponent % 2:
            result = result + away + result @ away
        exponent //= 2
        if exponent:
            away = 2 * away + away @ away
    return result
