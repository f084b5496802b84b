"""Networks whose layers all send capacity down: connections to the output, and the sum over layers (paper 2, §3.2–3.3).

Connections to the output: one unit of capacity on the outputs of each hidden layer, N = L − 1 sources on the levels
1 … N. All layers together: one unit on the inputs of each layer, L sources on the levels 0 … N. Both are divided by
their number, without which they grow without bound.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import erfc, ive

from capcore import Hierarchical, PowerLaw
from capcore.capacity.allocation import allocate
from capcore.propagation import ConvolutionTransport, Segment, evolve, propagate
from capcore.propagation import residual as residual_layer
from capcore.propagation.fourier import Grid, scalar_power
from chapters.scaling_pdes.study import axis, neighbours, one_output, total_variation
from chapters.shared.layers import LayerProfiles

PUBLISHED = {4.0: 0.2775742752}
"""Values at the source that were derived before the chapter was written, by D."""


def source_kernel(x: Any, t: float, diffusion: float) -> np.ndarray:
    """(…) density at points x (…) of a steady unit source at the origin after time t: paper 2, Eqs 9 and 12, κ = δ/L.

    √(t/(πD)) e^{−x²/(4Dt)} − |x|/(2D) erfc(|x|/√(4Dt)), in one dimension, without drift and leak; t and D are positive.

    >>> source_kernel([0.0], 1.0, 4.0).round(10).tolist()
    [0.2820947918]
    """
    distance, spread = np.abs(x), np.sqrt(4 * diffusion * t)
    gaussian = np.sqrt(t / (np.pi * diffusion)) * np.exp(-((distance / spread) ** 2))
    return gaussian - distance / (2 * diffusion) * erfc(distance / spread)


def connected(rates: ConvolutionTransport, depth: int, source: np.ndarray) -> np.ndarray:
    """(L, n) capacity κ(L → ℓ, x) of the layers ℓ = 1 … L, with the same source (n,) on every hidden layer's output."""
    n_layers = depth - 1
    sources = dict.fromkeys(range(1, n_layers + 1), source)
    layers = [residual_layer(rates, n_layers)] * n_layers
    return np.array(propagate(np.zeros_like(source), layers, sources=sources, keep=True).states)[..., 0]


def cumulated(rates: ConvolutionTransport, depth: int, source: np.ndarray) -> np.ndarray:
    """(n,) capacity κ({1, …, L} → 1, x), with the same source (n,) on the inputs of every layer: Eq. 10."""
    n_layers = depth - 1
    sources = dict.fromkeys(range(n_layers), source)
    layers = [residual_layer(rates, n_layers)] * n_layers
    return propagate(source, layers, sources=sources).per_position


def cumulated_one_by_one(rates: ConvolutionTransport, depth: int, source: np.ndarray) -> np.ndarray:
    """(n,) the same as a sum of separate propagations, each through the layers below it."""
    layer = residual_layer(rates, depth - 1)
    parts = [propagate(source, [layer] * below).per_position for below in range(1, depth)]
    return np.sum([source, *parts], axis=0)


def steady_lattice_law(rates: ConvolutionTransport, source: np.ndarray) -> np.ndarray:
    """(n,) ∫₀¹ exp(sΔ) source ds: the limit of either network, divided by its number of sources."""
    return evolve(np.zeros_like(source), [Segment(1.0, rates, source=source)]).final[:, 0]


def at_the_source(diffusion: float) -> float:
    """The same at a source of one unit, for nearest neighbours: e^{−2D} (I₀(2D) + I₁(2D)).

    >>> round(at_the_source(4.0), 9)
    0.277574275
    """
    return float(ive(0, 2 * diffusion) + ive(1, 2 * diffusion))


def gap_of_depth(diffusion: float, depth: int) -> float:
    """Capacity at the source per source, with ``depth`` layers of neighbours, relative to Eq. 9, minus one.

    The sum over layers is a geometric series of the Fourier symbol, so that any depth costs the same.
    """
    rates = neighbours(diffusion)
    x, n_layers = axis(rates), depth - 1
    grid = Grid(x.shape)
    s = grid.symbol(rates)[..., 0, 0]
    grown = scalar_power(s / n_layers, n_layers) - 1
    per_source = np.divide((1 + s / n_layers) * grown, s, out=np.ones_like(s), where=s != 0)
    law = grid.inverse(grid.transform(one_output(x)[:, None]) * per_source[..., None])[:, 0]
    return float(law[x == 0][0] / source_kernel(0.0, 1.0, diffusion) - 1)


def published_gap(diffusion: float) -> float:
    """Of the spectral solution at the source from the ten decimals derived before, or from the closed form."""
    rates = neighbours(diffusion)
    x = axis(rates)
    value = steady_lattice_law(rates, one_output(x))[x == 0][0]
    return float(value - PUBLISHED.get(diffusion, at_the_source(diffusion)))


def layer_gaps(rates: ConvolutionTransport, depths: Sequence[int], kind: str) -> list[float]:
    """Total variation from the lattice law for every depth; ``kind`` is ``connected`` or ``cumulated``."""
    source = one_output(axis(rates))
    limit = steady_lattice_law(rates, source)
    gaps = []
    for depth in depths:
        if kind == "connected":
            capacities = connected(rates, depth, source)[0] / (depth - 1)
        else:
            capacities = cumulated(rates, depth, source) / depth
        gaps.append(total_variation(capacities, limit))
    return gaps


def spread_gaps(spreads: Sequence[float]) -> list[float]:
    """Largest difference of the lattice law from Eq. 9, relative to Eq. 9 at the source, for every D."""
    gaps = []
    for diffusion in spreads:
        rates = neighbours(diffusion)
        x = axis(rates)
        equation = source_kernel(x, 1.0, diffusion)
        gap = np.abs(steady_lattice_law(rates, one_output(x)) - equation).max()
        gaps.append(float(gap / source_kernel(0.0, 1.0, diffusion)))
    return gaps


def total_slip(depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Totals (L,) of κ(L → ℓ) for the layers ℓ = 1 … L with one unit per hidden layer, and those of Eq. 8, L t.

    >>> total_slip(3)[0].tolist(), total_slip(3)[1].tolist()
    ([2.0, 2.0, 1.0], [3.0, 1.5, 0.0])
    """
    still = ConvolutionTransport.of_offsets({0: 1.0})
    totals = connected(still, depth, np.ones(1)).sum(axis=1)
    reverse_time = (depth - np.arange(1, depth + 1)) / (depth - 1)
    return totals, depth * reverse_time


def superposition_gap(rates: ConvolutionTransport, depth: int) -> float:
    """Largest difference between one recursion and the sum of separate propagations, over the largest value."""
    source = one_output(axis(rates))
    once = cumulated(rates, depth, source)
    return float(np.abs(once - cumulated_one_by_one(rates, depth, source)).max() / once.max())


def layer_totals() -> dict[str, float]:
    """Capacities of the layers of paper 1's linear model with one channel: by themselves, and each given all above.

    Six layers of kernel size 2, at random parameters: the numbers are dimensions, and the same at almost all
    parameters. ``total`` is κ, ``independent`` and ``conditional`` are sums over layers.
    """
    arch = Hierarchical(1, n_layers=6)
    alloc = allocate(arch, arch.init(np.random.default_rng(0)), PowerLaw())
    profiles = LayerProfiles.of(alloc)
    return {
        "total": float(alloc.total),
        "independent": float(profiles.totals("independent").sum()),
        "conditional": float(profiles.totals("backward").sum()),
    }
