"""A fixed number of dilation stages with more and more layers in each: the way of dilating that has a limit.

Each stage keeps its dilation while layers are added, so that N layers tend to the product of the stages' exponentials,
and that to a Gaussian once capacity jumps often in every stage.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.evolution import Segment, evolve
from capcore.propagation.generator import LimitCoefficients, residual
from capcore.propagation.laws import heat_kernel
from capcore.propagation.power import propagate_equal
from capcore.validation import finite_number, positive_integer
from chapters.scaling_pdes.study import total_variation


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
