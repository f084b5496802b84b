"""Receptive fields of convolutions, and of binary trees (paper 2, section 4).

How far capacity spreads, and in what shape, under each way of adding layers (paper 2, §3.1 and §3.6).

Every regime is a stack of equal squared kernels, so that cumulants add, and its law is a power of a symbol.

How far capacity gets through dilations 1, 2, 4, …: its exact law on powers of two, at any depth.

The displacement is a number with the digits −1, 0 and 1 in base two, one from each layer. What lies within 2^m is
decided by the layers above m, whose digits must sum to 0, or to ±1 with the rest pulling back. No positions are listed,
and so 2⁴⁰⁹⁶ of them are no obstacle.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import erf

from capcore import ConvolutionTransport, propagate, propagate_equal
from capcore.propagation.generator import displacement, residual
from chapters.shared.log_log import fit_power

BLOCK = (1, 2, 4, 8)
"""Dilations of one repeated block."""


Maker: TypeAlias = Callable[[int], list[ConvolutionTransport]]


class Size(NamedTuple):
    """Of the capacity of one output at the input, in positions: ``mean`` displacement, ``deviation``, and shape."""

    mean: float
    deviation: float
    excess_kurtosis: float


def symmetric(jump: float = 0.25) -> ConvolutionTransport:
    """Squared weights ε, 1 − 2ε, ε."""
    return ConvolutionTransport.of_offsets({-1: jump, 0: 1 - 2 * jump, 1: jump})


def scaled(n_layers: int, rate: float = 1.0) -> ConvolutionTransport:
    """Squared weights a/N at either side, for N layers: Eq. 5."""
    return residual(ConvolutionTransport.of_offsets({-1: rate, 1: rate}), n_layers)


def causal(stay: float = 0.5) -> ConvolutionTransport:
    """Squared weights on the own and the previous position; offsets are lags."""
    return ConvolutionTransport.of_offsets({0: stay, 1: 1 - stay})


def regimes(jump: float = 0.25, rate: float = 1.0, stay: float = 0.5) -> dict[str, Maker]:
    """Name → how to make a network of n layers; for repeated blocks n is a multiple of four.

    >>> list(regimes())
    ['fixed ε', 'ε ∝ 1/L', 'repeated blocks', 'causal']
    """
    fixed = symmetric(jump)
    return {
        "fixed ε": lambda n: [fixed] * n,
        "ε ∝ 1/L": lambda n: [scaled(n, rate)] * n,
        "repeated blocks": lambda n: [fixed.dilated(h) for h in BLOCK] * (n // len(BLOCK)),
        "causal": lambda n: [causal(stay)] * n,
    }


def doublings(deepest: int) -> list[int]:
    """8, 16, 32, … up to ``deepest``.

    >>> doublings(40)
    [8, 16, 32]
    """
    return [2**k for k in range(3, deepest.bit_length())]


def size(layers: Sequence[ConvolutionTransport]) -> Size:
    """Mean, standard deviation and excess kurtosis of the displacement along one axis, by adding cumulants.

    >>> size(regimes()["fixed ε"](8))
    Size(mean=0.0, deviation=2.0, excess_kurtosis=-0.125)
    """
    moved = displacement(_shared(layers))
    return Size(moved.mean.item(), float(np.sqrt(moved.covariance.item())), moved.excess_kurtosis.item())


def _shared(layers: Sequence[ConvolutionTransport]) -> list[ConvolutionTransport]:
    """The same layers, where equal dilations of one kernel are one object, so that each is looked at once."""
    known: dict[tuple[object, ...], ConvolutionTransport] = {}
    return [known.setdefault((x.weights.tobytes(), str(x.dilation), str(x.origin)), x) for x in layers]


def sizes(make: Maker, depths: Sequence[int]) -> list[Size]:
    """The :func:`size` of networks of every depth.

    >>> [round(s.mean) for s in sizes(regimes()["causal"], [8, 16])]
    [4, 8]
    """
    return [size(make(n)) for n in depths]


def traversed(n_layers: int, depths: Sequence[int], rate: float = 1.0) -> list[Size]:
    """The :func:`size` after some of the layers of one network that is scaled as Eq. 5 asks.

    >>> [round(s.deviation, 3) for s in traversed(32, [8, 32])]
    [0.707, 1.414]
    """
    layer = scaled(n_layers, rate)
    return [size([layer] * n) for n in depths]


def exponents(depths: Sequence[int], rows: Sequence[Size]) -> Mapping[str, float]:
    """Exponents in the number of layers of the ``deviation`` and of the ``reach``, |mean| plus deviation.

    >>> slopes = exponents([8, 16, 32], sizes(regimes()["fixed ε"], [8, 16, 32]))
    >>> round(slopes["deviation"], 6), round(slopes["reach"], 6)
    (0.5, 0.5)
    """
    deviation = [row.deviation for row in rows]
    reach = [abs(row.mean) + row.deviation for row in rows]
    slopes = {"deviation": fit_power(depths, deviation).exponent, "reach": fit_power(depths, reach).exponent}
    return {name: round(exponent, 12) + 0.0 for name, exponent in slopes.items()}  # no rounding error, no minus zero


def law(layers: Sequence[ConvolutionTransport], width: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions (width,) relative to the output, and the capacity there (width,): the whole law, not its moments.

    Capacity that comes near an end of the range wraps around; ``width`` should be many standard deviations.

    >>> x, capacity = law([symmetric()], 5)
    >>> x.tolist(), abs(capacity.round(12)).tolist()
    ([-2, -1, 0, 1, 2], [0.0, 0.25, 0.5, 0.25, 0.0])
    """
    start = np.zeros(width)
    start[width // 2] = 1
    if len({id(layer) for layer in layers}) == 1:
        capacity = propagate_equal(start, layers[0], len(layers))[:, 0]
    else:
        capacity = propagate(start, _shared(layers)).per_position
    return np.arange(width) - width // 2, capacity


def doubling(n_layers: int, jump: float) -> list[ConvolutionTransport]:
    """Layers with the dilations 1, 2, 4, …, at most 60 of them: beyond, see ``dilated_fields``.

    >>> size(doubling(3, 0.25)).deviation ** 2  # (1 + 4 + 16) / 2
    10.5
    """
    return [symmetric(jump).dilated(2**level) for level in range(n_layers)]


def standardised(x: np.ndarray, capacity: np.ndarray, of: Size, least: float = 1e-9) -> tuple[np.ndarray, np.ndarray]:
    """Distances from the mean in standard deviations, and the density there, where there is capacity to speak of."""
    seen = capacity > least
    return (x[seen] - of.mean) / of.deviation, capacity[seen] * of.deviation


def width_for(of: Size) -> int:
    """Positions, a power of two, that hold the law but for what no plot shows: twelve deviations beyond the mean.

    >>> width_for(Size(0.0, 2.0, 0.0))
    64
    """
    return 2 ** int(np.ceil(np.log2(2 * (abs(of.mean) + 12 * of.deviation + 8))))


def within_powers(n_layers: int, jump: float) -> np.ndarray:
    """(N + 1,) capacity within |x| < 2^m of the output's position, m = 0 … N, for dilations 1, 2, …, 2^(N − 1).

    Derived here: P(|X| < 2^m) = q₀ + q₁ (1 − p₀^m), where p₀ is the chance to stay in one layer, and q₀, q₁ those of 0
    and 1 for the sum of the N − m upper digits.

    Parameters
    ----------
    jump : squared weight at either side of every layer, at most ½.

    >>> within_powers(2, 0.25).tolist()  # displacements −3 … 3
    [0.25, 0.625, 1.0]
    """
    stay = 1 - 2 * jump
    zero, one = 1.0, 0.0  # of a sum without digits
    within = np.empty(n_layers + 1)
    for m in range(n_layers, -1, -1):
        within[m] = zero + one * (1 - stay**m)
        zero, one = stay * zero, jump * (zero + one)
    return within


def octave_capacities(n_layers: int, jump: float) -> np.ndarray:
    """(N + 1,) capacity that does not move, and of the octaves 2^(m − 1) ≤ |x| < 2^m, m = 1 … N.

    >>> octave_capacities(2, 0.25).tolist()
    [0.25, 0.375, 0.375]
    """
    return np.diff(within_powers(n_layers, jump), prepend=0.0)


def gaussian_octaves(n_layers: int, deviation: float) -> np.ndarray:
    """(N + 1,) the same of a Gaussian whose standard deviation is ``deviation`` times 2^(N − 1).

    >>> gaussian_octaves(2, 0.5).round(4).tolist()
    [0.6827, 0.2718, 0.0454]
    """
    exponents = np.arange(n_layers + 1) - (n_layers - 1)
    return np.diff(erf(2.0**exponents / (np.sqrt(2) * deviation)), prepend=0.0)


def half_within(within: np.ndarray) -> int:
    """The smallest m with half of the capacity within 2^m.

    >>> half_within(np.array([0.25, 0.625, 1.0]))
    1
    """
    return int(np.argmax(np.asarray(within, dtype=float) >= 0.5))


def limit_within(u: object, rate: float) -> np.ndarray:
    """(…) capacity within 2^(uN) for many layers, with rates a/N to either side: e^{−2a(1 − u)}, 0 ≤ u ≤ 1.

    Derived here: where capacity ends is decided by the largest dilation on which it jumped. Half of it is within
    2^(uN) at u = 1 − ln 2/(2a).

    >>> limit_within([0.0, 1.0], 1.0).round(4).tolist()
    [0.1353, 1.0]
    """
    return np.exp(-2 * rate * (1 - np.asarray(u, dtype=float)))
