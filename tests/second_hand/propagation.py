"""Paper 2: capacity that propagates through layers, as the walk of one unit of it over positions.

A layer moves a unit with the probability of each squared weight (Eq. 2). Walks of N layers are mixtures over the number
of layers in which the unit moves; no transform is used. N = L − 1 throughout.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.integrate import quad
from scipy.special import ive
from scipy.stats import binom, norm

Array = np.ndarray
REACH = 400
POSITIONS = np.arange(-REACH, REACH + 1)


def exponent(values: Array, sizes: Array) -> float:
    """Slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def distance(p: Array, q: Array) -> float:
    """Total variation, half of the sum of absolute differences."""
    return abs(p - q).sum() / 2


@cache
def walks() -> Array:
    """Row m: law of the sum of m signs ±1 over the positions, m up to ``REACH``."""
    rows = np.zeros((REACH + 1, len(POSITIONS)))
    for m in range(REACH + 1):
        rows[m, REACH - m : REACH + m + 1 : 2] = binom.pmf(np.arange(m + 1), m, 0.5)
    return rows


def neighbours(steps: int, jumps: float) -> Array:
    """Law after some layers that move a unit to either neighbour, with ``jumps`` as the mean number of moves in all."""
    return binom.pmf(np.arange(REACH + 1), steps, jumps / steps) @ walks()


def lattice(diffusion: float) -> Array:
    """Limit of those walks in many layers, e^(−2D) I_k(2D); the mean number of moves is 2D."""
    return ive(abs(POSITIONS), 2 * diffusion)


def heat(diffusion: float) -> Array:
    """Gaussian of variance 2D (Eq. 4) at whole positions."""
    return norm.pdf(POSITIONS, 0, np.sqrt(2 * diffusion))


def depth_alone() -> float:
    """Eqs 3 and 4: capacity in place after 2²⁰ layers of nearest neighbours, D = 1, over the heat kernel, minus one."""
    return neighbours(2**20 - 1, 2)[REACH] / heat(1)[REACH] - 1


def order_spread() -> float:
    """Eq. 4: minus the exponent in D of the distance of the lattice's law from the heat kernel, D = 32 and 64."""
    gaps = [distance(lattice(D), heat(D)) for D in (32, 64)]
    return -exponent(np.array(gaps), np.array([32, 64]))


def edge_images() -> float:
    """Eq. 4 near an edge padded with zeros: distance of 4,095 layers from two Gaussians, D = 64, over their sum.

    The Gaussians have opposite signs. One unit starts eleven positions from the edge, √(2D) = 11.3; what steps over the
    edge is lost, layer by layer.
    """
    here, start = np.zeros(600), 11
    here[start] = 1
    for _ in range(4095):
        moved = 64 / 4095 * here
        here -= 2 * moved
        here[1:] += moved[:-1]
        here[:-1] += moved[1:]
    x, width = np.arange(600), np.sqrt(128)
    images = norm.pdf(x, start, width) - norm.pdf(x, -start - 2, width)
    return distance(here, images) / images.sum()


def scaled_kurtosis() -> float:
    """§3.1: the fourth moment's excess after 4,096 layers with ε ∝ 1/L, D = 1."""
    law = neighbours(4096, 2)
    return float(law @ POSITIONS**4.0 / (law @ POSITIONS**2.0) ** 2 - 3)


def sources(L: int, diffusion: float) -> Array:
    """Eq. 8 layer by layer: capacity at the inputs with one unit on the output of each of N hidden layers, over N."""
    passed = np.arange(1, L)
    moves = binom.pmf(np.arange(REACH + 1), passed[:, None], 2 * diffusion / (L - 1)).sum(0)
    return moves @ walks() / (L - 1)


def over_time(law: Callable, diffusion: float, weight: Callable = lambda t: 1.0) -> Array:
    """Integral of law(𝒟t) weight(t) over t from 0 to 1, by Gauss's rule in √t, in which heat kernels are smooth."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    pairs = zip((nodes + 1) / 2, weights, strict=True)
    return np.sum([w * u * weight(u * u) * law(diffusion * u * u) for u, w in pairs], 0)


def divergence() -> float:
    """§3.2: exponent in L of the total capacity, one unit on the output of every hidden layer."""
    return exponent(np.array([(L - 1) * sources(L, 4).sum() for L in (2048, 4096)]), np.array([2048, 4096]))


def rescaled() -> float:
    """§3.2: relative change from L = 2,048 to 4,096 of the capacity in place, over L, D = 4."""
    before, after = ((L - 1) / L * sources(L, 4)[REACH] for L in (2048, 4096))
    return after / before - 1


def sources_order_spread() -> float:
    """Eq. 9: minus the exponent in D of the lattice's largest gap from it, over its value in place, D = 32 and 64."""
    gaps = []
    for D in (32, 64):
        spread = over_time(heat, D)
        gaps.append(abs(over_time(lattice, D) - spread).max() / spread[REACH])
    return -exponent(np.array(gaps), np.array([32, 64]))


def leak_value() -> float:
    """Eqs 15 and 16: what 4,095 layers that leak 1.5 in all leave to the input, against e^(−1.5), relative."""
    kept = 1.0
    for _ in range(4095):
        kept -= 1.5 / 4095 * kept
    return abs(kept / np.exp(-1.5) - 1)


def leak_equation_gap() -> float:
    """Eq. 16: distance of κ^Y on the lattice from the Gaussians, α = 3t, D = 64, over the sum of the latter."""
    left = [over_time(law, 64, lambda t: 3 * t * np.exp(-1.5 * t * t)) for law in (lattice, heat)]
    return distance(*left) / left[1].sum()


def dilated_deviation(dilations: Array, jumps: Array | float) -> float:
    """Standard deviation of a sum of moves by ± the dilations, each way with probability ``jumps``."""
    return float(np.sqrt((2 * jumps * dilations**2).sum()))


def field_exponent() -> float:
    """Eq. 23: exponent in N of the field's standard deviation over the largest dilation, λ = 2, moves 1/N each way."""
    depths = 2 ** np.arange(3, 13)
    return exponent(np.array([dilated_deviation(0.5 ** np.arange(n), 1 / n) for n in depths]), depths)


def printed_variance() -> float:
    """Eqs 20 and 21: integral of the smoothly growing diffusion over the sum over 64 layers, λ = 2.

    𝒟 is λ^(2l)/N at the lower end of layer l; the integral is taken numerically, layer by layer.
    """
    pieces = [quad(lambda s: 4.0 ** (s - 64), layer, layer + 1)[0] for layer in range(64)]
    return sum(pieces) / sum(4.0 ** (layer - 64) for layer in range(64))


def dilated_kurtosis() -> float:
    """Eq. 22: excess kurtosis, by cumulants, of displacements by dilations 1, …, 2⁶³ with moves 1/64 each way."""
    scale = 0.5 ** np.arange(64)
    variance, fourth = 2 / 64, 2 / 64 - 3 * (2 / 64) ** 2
    return (fourth * scale**4).sum() / (variance * scale**2).sum() ** 2


def dilated_median(draws: int = 400_000) -> float:
    """Eq. 22: least power of two within which half of 400,000 such displacements lie, over the standard deviation."""
    rng, total = np.random.default_rng(0), np.zeros(draws)
    for layer in range(64):
        total += 2.0**layer * rng.choice([-1, 0, 1], draws, p=[1 / 64, 62 / 64, 1 / 64])
    power = next(k for k in range(70) if (abs(total) <= 2.0**k).mean() >= 0.5)
    return 2.0**power / dilated_deviation(2.0 ** np.arange(64), 1 / 64)


def smallest_change() -> float:
    """Footnote 4: least change of field over R_L if the dilation grows by λ^m every m layers, 24 layers, λ = 2."""

    def factor(m: int) -> float:
        dilations = 2.0 ** (np.arange(24) // m * m)
        return dilated_deviation(dilations, 1 / 24) / dilations[-1]

    return min(abs(factor(m) / factor(1) - 1) for m in (2, 3, 4, 6))


def spread_exponent() -> float:
    """Eq. 29: exponent in r of the variance per axis after 64 layers with all squared weights 1/(r² N)."""
    sizes, N = np.array([3, 5, 9, 17, 33, 65]), 64
    variances = []
    for r in sizes:
        offsets = np.arange(r) - r // 2
        moves = np.full((r, r), 1 / (r * r * N))
        variances.append(N * (moves.sum(1) @ offsets**2))
    return exponent(np.array(variances), sizes)


def half_life() -> float:
    """Eq. 30: relative gap between the lag at which capacity per step has halved, 4,096 steps, α = 1, and N log 2/α."""
    N, capacity, lag = 4096, 1.0, 0
    while capacity * (1 - 1 / N) > 0.5:
        capacity, lag = capacity * (1 - 1 / N), lag + 1
    lag += np.log(capacity / 0.5) / -np.log(1 - 1 / N)
    return abs(lag / (N * np.log(2)) - 1)
