"""Slides: linear regions, lengths of trajectories, and sample sizes that random networks can fit.

Regions along a line are found by walking: in each region the units' inputs are affine, and the nearest of their zeros
ahead ends it.
"""

from functools import cache
from itertools import combinations, pairwise, product
from math import log

import numpy as np
from scipy.special import gammaln
from scipy.stats import binom

Array = np.ndarray
Layers = list[tuple[Array, Array]]


def he_network(rng: np.random.Generator, widths: list[int], bias: float) -> Layers:
    """Hidden layers of ReLUs with weights of variance 2/fan-in and normal biases."""
    pairs = pairwise(widths)
    return [(rng.normal(0, (2 / a) ** 0.5, (b, a)), rng.normal(0, bias, b) if bias else np.zeros(b)) for a, b in pairs]


def breakpoints(layers: Layers, start: Array, end: Array) -> int:
    """Switches of hidden ReLUs on the way from one point to the other."""
    place, count, step = 0.0, 0, end - start
    while place < 1:
        h, slope = start + (place + 1e-11) * step, step
        nearest = 1.0
        for weights, bias in layers:
            z, dz = weights @ h + bias, weights @ slope
            with np.errstate(divide="ignore", invalid="ignore"):
                ahead = -z / dz
            ahead = ahead[ahead > 0]
            nearest = min(nearest, ahead.min(initial=np.inf) + place + 1e-11)
            h, slope = np.maximum(z, 0), dz * (z > 0)
        count += nearest < 1
        place = nearest
    return count


@cache
def mean_breakpoints(
    hidden: tuple[int, ...], length: float, bias: float = 0.5, inputs: int = 8, networks: int = 60, segments: int = 20
) -> float:
    """Hanin and Rolnick: mean over random networks and isotropic segments about standard normal points."""
    counts = []
    for seed in range(networks):
        rng = np.random.default_rng([seed, len(hidden), hidden[0]])
        layers = he_network(rng, [inputs, *hidden], bias)
        for _ in range(segments):
            centre, direction = rng.standard_normal((2, inputs))
            half = direction / np.linalg.norm(direction) * length / 2
            counts.append(breakpoints(layers, centre - half, centre + half))
    return float(np.mean(counts))


def slope(values: tuple[float, float], sizes: tuple[float, float]) -> float:
    """Exponent of a power law through two points."""
    return log(values[1] / values[0]) / log(sizes[1] / sizes[0])


def length_exponent(shorter: float, longer: float) -> float:
    """Hanin and Rolnick on a line: exponent of the regions but one in the length of the segment."""
    means = mean_breakpoints((32,) * 3, shorter), mean_breakpoints((32,) * 3, longer)
    return slope(means, (shorter, longer))


def width_exponent() -> float:
    """Hanin and Rolnick: exponent in the number of units, three layers of 8 and of 64, length 1."""
    return slope((mean_breakpoints((8,) * 3, 1), mean_breakpoints((64,) * 3, 1)), (24, 192))


def depth_exponent() -> float:
    """Hanin and Rolnick: exponent in the number of units, one and eight layers of 32."""
    return slope((mean_breakpoints((32,), 1), mean_breakpoints((32,) * 8, 1)), (32, 256))


def bias_free(seed: int) -> tuple[Layers, Array, Array]:
    """A network without biases, three layers of 32 units, and the ends of a segment."""
    rng = np.random.default_rng([seed, 1])
    return he_network(rng, [8, 32, 32, 32], 0), *rng.standard_normal((2, 8))


def without_biases() -> float:
    """Hanin and Rolnick without biases: mean breakpoints over M θ/π, θ the angle between the ends, 600 networks."""
    found, expected = 0, 0.0
    for layers, a, b in map(bias_free, range(600)):
        found += breakpoints(layers, a, b)
        expected += 96 / np.pi * np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    return found / expected


def scale_change() -> int:
    """Hanin and Rolnick: sum of changes in the breakpoints when both ends are multiplied by ten, no biases."""
    cases = map(bias_free, range(200))
    return sum(abs(breakpoints(net, 10 * a, 10 * b) - breakpoints(net, a, b)) for net, a, b in cases)


def line_arrangement() -> int:
    """Zaslavsky's number for 20 lines in the plane: patterns of signs around all crossings; a region touches one."""
    normals, offsets = np.random.default_rng(0).standard_normal((2, 20, 2))
    patterns = set()
    for i, j in combinations(range(20), 2):
        crossing = np.linalg.solve(normals[[i, j]], offsets[[i, j], 0])
        signs = normals @ crossing > offsets[:, 0]
        for signs[i], signs[j] in product([False, True], repeat=2):
            patterns.add(signs.tobytes())
    return len(patterns)


@cache
def lengths(scale: float, networks: int = 60, points: int = 4_001) -> Array:
    """Raghu: lengths of a circle's image in each layer over the circle's, one row a network; weights scale/√32.

    Inputs and eight layers of 32, ReLU, no biases; the circle has radius √32 and lies in a random plane through no
    particular point; its image is a polygon of 4,000 sides.
    """
    rows = []
    for seed in range(networks):
        rng = np.random.default_rng(seed)
        plane = np.linalg.qr(rng.standard_normal((32, 2)))[0]
        turn = np.linspace(0, 2 * np.pi, points)
        h = rng.standard_normal(32) + np.sqrt(32) * np.stack([np.cos(turn), np.sin(turn)], 1) @ plane.T
        own, row = np.linalg.norm(np.diff(h, axis=0), axis=1).sum(), []
        for _ in range(8):
            h = np.maximum(h @ rng.normal(0, scale / np.sqrt(32), (32, 32)), 0)
            row.append(np.linalg.norm(np.diff(h, axis=0), axis=1).sum() / own)
        rows.append(row)
    return np.array(rows)


def growth(scale: float = 3) -> float:
    """Raghu: factor per layer by which the mean length grows from layer 1 to 8."""
    means = lengths(scale).mean(0)
    return float((means[7] / means[0]) ** (1 / 7))


def printed_bound() -> float:
    """Raghu's bound with the root over m alone: least mean length over (σ√m/(m + 1))^i, σ = √2, 2, 3."""
    powers = np.arange(1, 9)
    scales = (np.sqrt(2), 2.0, 3.0)
    return min((lengths(s).mean(0) / (s * np.sqrt(32) / 33) ** powers).min() for s in scales)


def published_bound() -> float:
    """Raghu's bound with both roots: mean length in layer 8 over (σ√m/√(m + 1))^8, σ = 3."""
    return float(lengths(3).mean(0)[7] / (3 * np.sqrt(32 / 33)) ** 8)


def chi_mean(k: Array) -> Array:
    """Mean length of a standard normal vector of k components, 0 for none."""
    safe = np.maximum(k, 1)
    return np.where(k > 0, np.sqrt(2) * np.exp(gammaln((safe + 1) / 2) - gammaln(safe / 2)), 0)


def bounded_gain() -> float:
    """Raghu: largest expected gain of a layer of m units over σ/√2, m = 1, …, 1,024, a mean over its active units."""
    gains = []
    for m in 2 ** np.arange(11):
        active = np.arange(m + 1)
        gains.append(binom.pmf(active, m, 0.5) @ chi_mean(active) / np.sqrt(m) * np.sqrt(2))
    return max(gains)


def many_inputs_ratio() -> float:
    """Hu's d log(Σ k − m + 1) over the logarithm of the regions, 64 units of 5 pieces and 64 inputs.

    In general position a set of hyperplanes, one of each of its units, meets in one flat; regions are the number
    of such sets, summed unit by unit.
    """
    sets = [1] + [0] * 64
    for _ in range(64):
        sets = [sets[0], *(more + 4 * fewer for fewer, more in pairwise(sets))]
    return 64 * log(64 * 5 - 64 + 1) / log(sum(sets))


def cover_sizes() -> list[int]:
    """Nakkiran with half of the dichotomies: largest n with C(n, p) ≥ 2ⁿ/2 by Cover's recursion, p = 5, 10, 20, 40."""
    found = []
    for p in (5, 10, 20, 40):
        counts, n = [2] * p, 1
        while 2 * counts[-1] >= 2**n:
            counts = [2, *(a + b for a, b in pairwise(counts))]
            n += 1
        found.append(n - 1)
    return found
