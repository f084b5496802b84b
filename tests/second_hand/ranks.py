"""Paper 1, §§4.3, 5 and appendices C and D: numbers of effective parameters, counted exactly.

κ is the rank of ∂A/∂W at generic weights. Ranks are taken by elimination over the integers modulo a prime at random
weights: never too large, and too small with a probability of at most their degree over the prime, 1 in 8,000.
"""

from collections.abc import Sequence
from itertools import pairwise, product
from math import prod

import numpy as np
from scipy.integrate import quad
from scipy.special import k0

from tests.second_hand.optimum import predictor

Array = np.ndarray
PRIME = 67_108_859  # below 2²⁶, so that sums of 2,000 products stay below 2⁶³


def rank(matrix: Array) -> int:
    """Rank modulo the prime, by elimination of one column after the other."""
    left, found = matrix.astype(np.int64) % PRIME, 0
    while left.size:
        column = left[:, 0]
        pivots = np.flatnonzero(column)
        if len(pivots):
            found += 1
            row = left[pivots[0], 1:] * pow(int(column[pivots[0]]), -1, PRIME) % PRIME
            left = (left[:, 1:] - column[:, None] * row % PRIME) % PRIME
            left = np.delete(left, pivots[0], 0)
        else:
            left = left[:, 1:]
    return found


def draw(key: int, *shape: int) -> Array:
    """Random integers below the prime, other ones for each key."""
    return np.random.default_rng(key).integers(1, PRIME, shape)


def hierarchical_columns(channels: int, n_layers: int = 6) -> list[Array]:
    """Columns that span those of ∂A/∂W for each layer of two taps, disjoint dilations (Eq. 19).

    The derivative for one tap is the product of what lies above the layer with what lies below. Only the spaces of
    these two matter, and random mixtures of their columns span them, no more than there are rows.
    """
    widths = [1, *[channels] * (n_layers - 1), 1]
    layers = [draw(place, 2, widths[place], widths[place + 1]) for place in range(n_layers)]
    below, above = [np.ones((1, 1), np.int64)], [np.ones((1, 1), np.int64)]
    for layer in layers[:-1]:
        below.append(np.vstack([below[-1] @ tap % PRIME for tap in layer]))
    for layer in layers[:0:-1]:
        taps = [above[0] @ tap.T % PRIME for tap in layer]
        above.insert(0, np.stack(taps, 1).reshape(-1, layer.shape[1]))
    columns = []
    for low, high in zip(below, above, strict=True):
        few = [m if m.shape[1] <= len(m) else m @ draw(99, m.shape[1], len(m)) % PRIME for m in (low, high)]
        columns.append(np.kron(few[1], np.kron(np.eye(2, dtype=np.int64), few[0])) % PRIME)
    return columns


def hierarchical_rank(channels: int) -> int:
    """Figure 4, and the caption of Figure 5: κ with six layers of two taps."""
    return rank(np.hstack(hierarchical_columns(channels)))


def hierarchical_parameters(channels: int) -> int:
    """Figure 4: number of weights of that model, counted on its six layers."""
    widths = [1, *[channels] * 5, 1]
    return sum(2 * a * b for a, b in pairwise(widths))


def slower_steps() -> int:
    """Figure 4: doublings of the channels from 1 to 256 in which κ grows by a smaller factor than the weights."""
    steps = list(pairwise([2**k for k in range(9)]))
    return sum(
        hierarchical_rank(b) * hierarchical_parameters(a) < hierarchical_rank(a) * hierarchical_parameters(b)
        for a, b in steps
    )


def monomial_rank(kernels: Sequence[int]) -> int:
    """Footnote 6: κ of a one-channel model as the rank of the exponents of its coefficients.

    Every coefficient of Eq. 20 is a monomial in the weights, and the set of values of monomials has as many dimensions
    as their exponents have.
    """
    starts = np.cumsum([0, *kernels[:-1]])
    exponents = np.zeros((prod(kernels), sum(kernels)))
    for row, taps in enumerate(product(*map(range, kernels))):
        exponents[row, starts + taps] = 1
    return rank(exponents)


def monomial_mismatches() -> int:
    """Footnote 6: lists of one to four kernels of 2, 3 or 4 taps in which that rank is not Σ(n_l − 1) + 1."""
    lists = [kernels for length in range(1, 5) for kernels in product((2, 3, 4), repeat=length)]
    assert len(lists) == 120
    return sum(monomial_rank(kernels) != sum(kernels) - len(kernels) + 1 for kernels in lists)


def printed_index() -> int:
    """Eq. 20 to the letter: largest index of a weight, mod(⌊(n − i)/d_l⌋, n_l d_l), for six layers of two taps."""
    return max((64 - i) // 2**level % (2 * 2**level) for i in range(1, 65) for level in range(6))


def responding_inputs(kernels: Sequence[int]) -> int:
    """§5.1.1: inputs that a model with disjoint dilations responds to: the sums of one tap's delay from each layer."""
    dilations = np.cumprod([1, *kernels[:-1]])
    return len({int(dilations @ taps) for taps in product(*map(range, kernels))})


def own_total(channels: int, layers: Sequence[int]) -> int:
    """§5.1.4: κ of some layers' weights alone."""
    columns = hierarchical_columns(channels)
    return rank(np.hstack([columns[layer] for layer in layers]))


def marginals() -> list[int]:
    """§5.1.4: what each of six layers with four channels adds to κ when all others are there."""
    rest = [[other for other in range(6) if other != layer] for layer in range(6)]
    return [hierarchical_rank(4) - own_total(4, layers) for layers in rest]


def zero_layers() -> int:
    """§5.1.4: layers of six without marginal capacity, four channels."""
    return marginals().count(0)


def double_counting() -> int:
    """Paper 2, Eq. 12: sum of the totals of the six one-channel layers, each alone, less κ."""
    return sum(own_total(1, [layer]) for layer in range(6)) - hierarchical_rank(1)


def recurrent_ranks() -> list[int]:
    """Figure 10: κ of Eq. 21 on 64 inputs with 1, 2, 4, …, 256 channels.

    A channel adds two columns: the powers of its recurrent weight, and the derivatives of those powers.
    """
    found = []
    for channels in (2**k for k in range(9)):
        roots = [int(root) for root in draw(7, channels)]
        powers = [[pow(root, i, PRIME) for i in range(64)] for root in roots]
        slopes = [[i * pow(root, i - 1, PRIME) % PRIME for i in range(64)] for root in roots]
        found.append(rank(np.array(powers + slopes)))
    return found


def times(left: Array, right: Array) -> Array:
    """Product of polynomials modulo the prime; halves of 13 bits keep the sums below 2⁶³."""
    upper, lower = right >> 13, right & 8191
    return (np.convolve(left, upper) % PRIME * 8192 + np.convolve(left, lower)) % PRIME


def delayed(taps: list[Array], dilation: int) -> Array:
    """Rows of polynomials in the delay: those of one tap, plus those of the other later by the dilation."""
    now, before = taps
    return (np.pad(now, [(0, 0), (0, dilation)]) + np.pad(before, [(0, 0), (dilation, 0)])) % PRIME


def blocks_rank(dilations: Sequence[int], channels: int) -> int:
    """Figure 15: κ of layers of two taps with given dilations, where the paths of several layers overlap.

    A model's coefficients are those of the product of its layers' polynomials in the delay; the derivative for a weight
    is the polynomial of one channel below the layer, times its delay, times that of one channel above.
    """
    widths = [1, *[channels] * (len(dilations) - 1), 1]
    layers = [draw(place, 2, widths[place], widths[place + 1]) for place in range(len(dilations))]
    below, above = [np.ones((1, 1), np.int64)], [np.ones((1, 1), np.int64)]
    for layer, dilation in zip(layers[:-1], dilations, strict=False):
        below.append(delayed([tap.T @ below[-1] % PRIME for tap in layer], dilation))
    for layer, dilation in zip(layers[:0:-1], dilations[:0:-1], strict=True):
        above.insert(0, delayed([tap @ above[0] % PRIME for tap in layer], dilation))
    rows = []
    for low, high, dilation in zip(below, above, dilations, strict=True):
        for a, b in product(low, high):
            both = times(a, b)
            rows += [np.pad(both, (0, dilation)), np.pad(both, (dilation, 0))]
    return rank(np.array(rows))


def blocks_gap(channels: int) -> int:
    """Figure 15: κ of the tiled blocks less that of the repeated layers, dilations 1 … 128 three times."""
    dilations = [2**k for k in range(8)] * 3
    return blocks_rank(dilations, channels) - blocks_rank(sorted(dilations), channels)


def unreachable_share() -> float:
    """Conjecture 1 on A = w₁² + w₂ with target 1: share of w₂ in [−3, 3], on a grid, for which no real w₁ gives 1."""
    w2 = np.linspace(-3, 3, 60_001)
    return float((1 - w2 < 0).mean())


def recurrent_failures() -> float:
    """Conjecture 1 for Eq. 21 with two channels on three inputs: how likely frozen weights exclude the optimum.

    With q, the product of a channel's two frozen standard normal weights, A_i = q rⁱ + h sⁱ equals A* for h = A*₀ − q
    and a root r of q A*₀ r² − 2 q A*₁ r + A*₁² − A*₂ h. Its discriminant has the sign of q(q − A*₀)(A*₁² − A*₀A*₂), and
    the density of q is K₀(|q|)/π. A* is that of the power law, for which the last factor is negative.
    """
    a = predictor("power law", 3)
    beyond = quad(lambda q: k0(q) / np.pi, a[0], np.inf)[0]
    fails = 0.5 + beyond
    return fails if a[1] ** 2 < a[0] * a[2] else 1 - fails
