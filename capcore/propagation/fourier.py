"""Periodic convolutions as products of Fourier symbols, and equal layers as powers of symbols.

Other boundaries are followed layer by layer, with :func:`~capcore.propagation.discrete.propagate`.
"""

from functools import cached_property

import numpy as np
from scipy.fft import irfftn, rfftn

from capcore.checks.arguments import of_kind, positive_integer
from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.generator import LimitCoefficients
from capcore.propagation.matrix import representable, with_channels


class Grid:
    """A periodic range of positions, and its Fourier transform.

    Parameters
    ----------
    shape : tuple of int
        Number of positions along each axis.

    Examples
    --------
    >>> grid = Grid((5,))
    >>> grid.inverse(grid.transform(np.eye(5)[:, :1])).round(12)[:, 0].tolist()
    [1.0, 0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape, self.axes = tuple(shape), tuple(range(len(shape)))

    @cached_property
    def frequencies(self) -> list[np.ndarray]:
        """For each axis, whole numbers m of the wave numbers 2πm/length, shaped to broadcast."""
        *others, last = self.shape
        both_signs = [np.fft.fftfreq(n, 1 / n).round().astype(int) for n in others]
        return list(np.ix_(*both_signs, np.arange(last // 2 + 1)))

    def transform(self, values: np.ndarray) -> np.ndarray:
        """(*frequencies, C) of values (*positions, C)."""
        return rfftn(values, axes=self.axes)

    def inverse(self, spectrum: np.ndarray) -> np.ndarray:
        """(*positions, C) of (*frequencies, C)."""
        return irfftn(spectrum, self.shape, axes=self.axes)

    def symbol(self, generator: ConvolutionTransport | LimitCoefficients) -> np.ndarray:
        """Fourier symbol of Δ: (*frequencies, C, C) complex, with one channel also for limit coefficients.

        For jump rates Σ_j a_j (e^{−ik·j} − 1) off the diagonal, written as −2 sin²(k·j/2) − i sin(k·j) so that nothing
        cancels for long waves; at k = 0 its columns sum to zero. Capacity weights that conserve have M = I + symbol.
        For limit coefficients −kᵀDk − i k·v; the leak is left to the caller.
        """
        if generator.ndim != len(self.shape):
            raise ValueError(f"generator: its number of axes is not that of the positions, {self.shape}.")
        if isinstance(generator, LimitCoefficients):
            waves = [2 * np.pi * m / n for m, n in zip(self.frequencies, self.shape, strict=True)]
            k = np.stack(np.broadcast_arrays(*waves), axis=-1)
            total = -1j * (k @ generator.drift) - np.sum((k @ generator.diffusion) * k, axis=-1)
            return total[..., None, None]
        channels = generator.weights.shape[-1]
        size = np.broadcast_shapes(*(m.shape for m in self.frequencies))
        total = np.zeros((*size, channels, channels), dtype=complex)
        for offset, block in zip(generator.offsets, generator.blocks, strict=True):
            if offset.any() and block.any():
                axes = zip(self.frequencies, offset, self.shape, strict=True)
                phase = np.asarray(sum(2 * np.pi * ((m * j) % n) / n for m, j, n in axes))
                shift = -2 * np.sin(phase / 2) ** 2 - 1j * np.sin(phase)
                total += shift[..., None, None] * block
        mixing = generator.blocks.sum(axis=0)
        np.fill_diagonal(mixing, 0)  # otherwise the small remainder of numbers near one is all rounding
        return total + (mixing - np.diag(mixing.sum(axis=0)))


def propagate_equal(output: object, transport: ConvolutionTransport, n_layers: int) -> np.ndarray:
    """(*positions, channels) capacity below ``n_layers`` periodic layers of equal, conserving weights (paper 2, Eq. 2).

    The power is computed from the symbol's distance from one, so that neither conservation nor long waves suffer from
    rounding in deep networks. The cost hardly depends on the depth. Where there is no capacity, rounding leaves numbers
    of either sign, about 1e-17 of the total.

    Parameters
    ----------
    output : (*positions, channels) array_like
        Capacity of the outputs; (*positions) suffices for one channel.
    transport : ConvolutionTransport
        A transport with as many input as output channels.
    n_layers : int
        At least 1.

    Raises
    ------
    NotStochasticError
        If the weights do not conserve capacity.

    Examples
    --------
    >>> step = ConvolutionTransport.of_offsets({-1: 0.25, 0: 0.5, 1: 0.25})
    >>> propagate_equal([0, 0, 1.0, 0, 0], step, 2)[:, 0].round(12).tolist()
    [0.0625, 0.25, 0.375, 0.25, 0.0625]
    """
    of_kind(transport, "transport", ConvolutionTransport)
    n_layers = positive_integer(n_layers, "n_layers")
    capacity = with_channels(output, "output", transport.ndim)
    transport.input_shape(capacity.shape)
    transport.require_equal_channels()
    grid = Grid(capacity.shape[:-1])
    away = grid.symbol(transport.require_stochastic())
    spectrum = representable(grid.transform(capacity), "output")
    if away.shape[-1] == 1:
        return grid.inverse(spectrum * scalar_power(away[..., 0], n_layers))
    power = matrix_power(away, n_layers)
    return grid.inverse(spectrum + np.einsum("...ij,...j->...i", power, spectrum))


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
