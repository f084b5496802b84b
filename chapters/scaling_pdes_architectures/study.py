"""Channels and stages: what spreads capacity, and how fast (paper 2).

Channels: when the equations collapse to one, and what scale of weights Eq. 27 of paper 2 asks for.

Rates are those of three taps, −1, 0 and 1, from each channel above to each channel below.

A fixed number of dilation stages with more and more layers in each: the way of dilating that has a limit.

Each stage keeps its dilation while layers are added, so that N layers tend to the product of the stages' exponentials,
and that to a Gaussian once capacity jumps often in every stage.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.evolution import Segment, evolve
from capcore.propagation.fourier import propagate_equal
from capcore.propagation.generator import LimitCoefficients, lumped, residual
from capcore.propagation.laws import heat_kernel
from capcore.validation import finite_number, one_of, positive_integer
from chapters.scaling_pdes.study import total_variation

TAP_TOTALS = (1.0, 0.5, 1.0)
"""Total rates at the offsets −1, 0, 1 of mixing that can be lumped, over the whole network."""
KINDS = ("uniform", "lumpable", "free")


def powers(exponents: Mapping[str, int]) -> str:
    """``L^-1 r^-2`` for {"L": −1, "r": −2}; a zero is left out.

    >>> powers({"L": -1, "C": 0})
    'L^-1'
    """
    return " ".join(f"{name}^{exponent}" for name, exponent in exponents.items() if exponent) or "1"


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


def stage_rates(n_stages: int, rate: float) -> list[ConvolutionTransport]:
    """Jump rates a at ± each of the dilations 1, 2, 4, …, as if a stage were the whole network.

    >>> [int(rates.offsets.max()) for rates in stage_rates(3, 1.0)]
    [1, 2, 4]
    """
    rates = ConvolutionTransport.of_offsets({-1: finite_number(rate, "rate"), 1: rate})
    return [rates.dilated(2**stage) for stage in range(positive_integer(n_stages, "n_stages"))]


def law_of_stages(n_layers: int, n_stages: int, rate: float, width: int) -> np.ndarray:
    """(width,) capacity below N layers with jumps a/N to either side, a fixed number of layers to a stage.

    >>> law_of_stages(2, 1, 0.5, 5).round(12).tolist()
    [0.0625, 0.25, 0.375, 0.25, 0.0625]
    """
    if positive_integer(n_layers, "n_layers") % n_stages:
        raise ValueError(f"n_stages: found {n_stages} for {n_layers} layers, expected a divisor of their number.")
    capacity = _one(width)
    for rates in stage_rates(n_stages, rate):
        capacity = propagate_equal(capacity, residual(rates, n_layers), n_layers // n_stages)[:, 0].clip(min=0)
    return capacity


@cache
def _one(width: int) -> np.ndarray:
    start = np.zeros(positive_integer(width, "width"))
    start[width // 2] = 1
    start.setflags(write=False)
    return start


def lattice_law(n_stages: int, rate: float, width: int) -> np.ndarray:
    """(width,) what they tend to as layers are added: jumps at rate a/B in each of B stages.

    >>> lattice_law(1, 1.0, 41)[20].round(10).item()
    0.3085083226
    """
    segments = [Segment(1 / n_stages, rates) for rates in stage_rates(n_stages, rate)]
    return evolve(_one(width), segments).final[:, 0]


def diffusion(n_stages: int, rate: float) -> float:
    """V(1) = (a/B) Σ 4^b over the stages b = 0 … B − 1.

    >>> diffusion(3, 1.0)
    7.0
    """
    return (
        finite_number(rate, "rate") / n_stages * float(np.sum(4.0 ** np.arange(positive_integer(n_stages, "n_stages"))))
    )


def lattice_gap(n_layers: int, n_stages: int, rate: float, width: int = 1024) -> float:
    """Total variation between the layers and their lattice law, on a periodic range."""
    return total_variation(law_of_stages(n_layers, n_stages, rate, width), lattice_law(n_stages, rate, width))


def heat_gap(n_stages: int, rate: float) -> float:
    """Total variation between the lattice law and the Gaussian of Eq. 22 with V(1) summed over the stages.

    >>> heat_gap(3, 8.0) > 1.5 * heat_gap(3, 16.0)
    True
    """
    spread = diffusion(n_stages, rate)
    width = 2 ** int(np.ceil(np.log2(24 * np.sqrt(2 * spread) + 8 * 2**n_stages)))
    x = np.arange(width) - width // 2
    gaussian = heat_kernel(x, 1.0, LimitCoefficients(np.array([[spread]]), np.zeros(1)))
    return total_variation(lattice_law(n_stages, rate, width), gaussian)
