"""Channels: when the equations collapse to one, and what scale of weights Eq. 27 of paper 2 asks for.

Rates are those of three taps, −1, 0 and 1, from each channel above to each channel below.
"""

from __future__ import annotations

import numpy as np

from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.generator import lumped, residual
from capcore.propagation.power import propagate_equal
from capcore.validation import finite_number, one_of, positive_integer

TAP_TOTALS = (1.0, 0.5, 1.0)
"""Total rates at the offsets −1, 0, 1 of mixing that can be lumped, over the whole network."""
KINDS = ("uniform", "lumpable", "free")


def mixing_rates(kind: str, channels: int, rng: np.random.Generator) -> ConvolutionTransport:
    """Jump rates (C, 3, C) over the whole network; what stays in its channel and position is left to the layer.

    Parameters
    ----------
    kind : ``uniform``: every channel sends ``TAP_TOTALS``, evenly to all channels. ``lumpable``: the same totals,
        shared at random. ``free``: independent exponential rates with the same sum on average.

    >>> mixing_rates("uniform", 2, np.random.default_rng(0)).weights[:, :, 0].tolist()
    [[0.5, 0.25, 0.5], [0.5, 0.25, 0.5]]
    """
    one_of(kind, "kind", KINDS)
    channels = positive_integer(channels, "channels")
    totals = np.array(TAP_TOTALS)[None, :, None]
    if kind == "uniform":
        return ConvolutionTransport(np.tile(totals / channels, (channels, 1, channels)))
    draws = rng.exponential(size=(channels, 3, channels))
    if kind == "lumpable":
        return ConvolutionTransport(totals * draws / draws.sum(axis=0))
    return ConvolutionTransport(draws * sum(TAP_TOTALS) / (3 * channels))


def collapse_gap(rates: ConvolutionTransport, n_layers: int, rng: np.random.Generator, positions: int = 64) -> float:
    """Largest difference between the sum over channels and the one-channel equation (Eqs 25–26), random output.

    Raises ``ValueError`` for rates that are not lumpable: there is no such equation then.

    >>> rng = np.random.default_rng(0)
    >>> collapse_gap(mixing_rates("uniform", 2, rng), 8, rng) < 1e-15
    True
    """
    output = rng.exponential(size=(positions, rates.weights.shape[-1]))
    output /= output.sum()
    layer = residual(rates, n_layers)
    many = propagate_equal(output, layer, n_layers).sum(axis=1)
    one = propagate_equal(output.sum(axis=1), lumped(layer), n_layers)[:, 0]
    return float(np.abs(many - one).max())


def other_channel(rates: ConvolutionTransport, n_layers: int, positions: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """(positions,) twice: capacity of the input summed over channels, where the output had it in channel 0 and in 1.

    >>> a, b = other_channel(mixing_rates("uniform", 2, np.random.default_rng(0)), 8)
    >>> bool(np.allclose(a, b))
    True
    """
    channels = rates.weights.shape[-1]
    if channels < 2:
        raise ValueError(f"rates: found {channels} channel, expected at least two to choose from.")
    layer = residual(rates, n_layers)
    ends = []
    for channel in range(2):
        output = np.zeros((positions, channels))
        output[positions // 2, channel] = 1
        ends.append(propagate_equal(output, layer, n_layers).sum(axis=1))
    return ends[0], ends[1]


def xavier_variance(channels: int, taps: int) -> float:
    """2/(fan-in + fan-out), where a fan is channels times taps.

    >>> xavier_variance(8, 3) * 24
    1.0
    """
    return 1 / (positive_integer(channels, "channels") * positive_integer(taps, "taps"))


def squared_sum(channels: int, taps: int, variance: float, rng: np.random.Generator, weights: int = 200_000) -> float:
    """Mean over outputs of Σ w² for drawn Gaussian kernels (C, taps, C): the capacity one output passes on.

    Parameters
    ----------
    weights : at least so many are drawn, in as many kernels as that takes.

    >>> 0.98 < squared_sum(8, 3, xavier_variance(8, 3), np.random.default_rng(0)) < 1.02
    True
    """
    kernels = -(-weights // (channels * taps * channels))
    kernel = rng.normal(size=(kernels, channels, taps, channels)) * np.sqrt(finite_number(variance, "variance"))
    return float((kernel**2).sum(axis=(1, 2)).mean())
