"""From layers to the lattice law to the heat equation: how far apart they are, and how fast that shrinks.

Paper 2, §3.1. L counts the output layer as in the paper, so capacity passes N = L − 1 layers. Distances are shares of
capacity that lie at the wrong place: total variation.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from capcore import ConvolutionTransport, Layer, Segment, evolve, propagate, propagate_equal
from capcore.propagation import LimitCoefficients, heat_kernel, residual
from capcore.propagation.generator import jumps
from chapters.scaling_pdes.relations import scaling_relations

Curve = tuple[np.ndarray, np.ndarray]
SYMMETRIC = {-3: 0.125, -2: 0.25, -1: 0.5, 1: 0.5, 2: 0.25, 3: 0.125}
"""Rates with 2D = 5.25 and total 1.75, for the coefficient of a kernel that reaches further than its neighbours."""


def rates_of_kernel(kernel: Mapping[Any, float]) -> ConvolutionTransport:
    """Jump rates from ``{offset: rate}`` along one axis; offsets may be text, as in a JSON file.

    Raises ``ValueError`` for a kernel that does not move capacity.

    >>> rates_of_kernel({"-1": 1.0, "2": 0.5}).sums
    array([1.5])
    """
    rates: dict[int | tuple[int, ...], float] = {int(offset): float(rate) for offset, rate in kernel.items()}
    if not any(offset and rate for offset, rate in rates.items()):
        raise ValueError(f"kernel: found {dict(kernel)}, expected a positive rate at an offset other than 0.")
    return ConvolutionTransport.of_offsets(rates)


def neighbours(diffusion: float, causal: bool = False) -> ConvolutionTransport:
    """Rates with diffusion D: D to either neighbour, or 2D to the next position only.

    >>> LimitCoefficients.of_rates(neighbours(2.0, causal=True))
    LimitCoefficients(diffusion=array([[2.]]), drift=array([4.]), leak=0.0)
    """
    return ConvolutionTransport.of_offsets({1: 2 * diffusion} if causal else {-1: diffusion, 1: diffusion})


def axis(rates: ConvolutionTransport) -> np.ndarray:
    """(n,) positions −m … m around the output, wide enough for nothing to reach the ends."""
    limit = LimitCoefficients.of_rates(rates)
    far = abs(limit.drift[0]) + 10 * np.sqrt(2 * limit.diffusion[0, 0]) + 30 * np.abs(rates.offsets).max()
    return np.arange(-int(np.ceil(far)), int(np.ceil(far)) + 1)


def one_output(x: np.ndarray) -> np.ndarray:
    """(n,) one unit of capacity at position 0 of the axis x (n,)."""
    return (x == 0).astype(float)


def usable_depths(depths: Sequence[int], rates: ConvolutionTransport, at_least: int = 2) -> list[int]:
    """The depths L whose layers can send that much away, Σ_j a_j ≤ L − 1, in ascending order.

    Raises ``ValueError`` unless there are ``at_least`` of them.

    >>> usable_depths([64, 8, 16], neighbours(4.0))
    [16, 64]
    """
    numbers = sorted(set(depths))
    least = float(jumps(rates).sums[0])
    usable = [depth for depth in numbers if depth - 1 >= least]
    if len(usable) < at_least:
        raise ValueError(
            f"depths: found {len(usable)} of {numbers} layers above the total rate of jumps, {least:g}, expected at "
            f"least {at_least}. Use deeper networks or smaller rates."
        )
    return usable


def law_of_layers(rates: ConvolutionTransport, depth: int, output: np.ndarray) -> np.ndarray:
    """(n,) capacity of the input of a network of ``depth`` layers, layer by layer: Eq. 2."""
    layer = residual(rates, depth - 1)
    return propagate(output, [layer] * (depth - 1)).per_position


def law_of_many_layers(rates: ConvolutionTransport, depth: int, output: np.ndarray) -> np.ndarray:
    """(n,) the same through the power of a Fourier symbol, for any depth."""
    return propagate_equal(output, residual(rates, depth - 1), depth - 1)[:, 0]


def lattice_law(rates: ConvolutionTransport, output: np.ndarray) -> np.ndarray:
    """(n,) the limit of many layers, exp(Δ)."""
    return evolve(output, [Segment(1.0, rates)]).final[:, 0]


def heat_law(rates: ConvolutionTransport, x: np.ndarray, drift: bool = True) -> np.ndarray:
    """(n,) Green's function of Eq. 3 at x (n,), with the drift that the paper leaves out or without it."""
    limit = LimitCoefficients.of_rates(rates)
    return heat_kernel(x, 1.0, limit if drift else LimitCoefficients(limit.diffusion, np.zeros(1)))


def total_variation(law: np.ndarray, expected: np.ndarray) -> float:
    """Half the sum of differences over the total expected: the share of capacity at the wrong place.

    >>> total_variation(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    0.5
    """
    return float(np.abs(law - expected).sum() / 2 / expected.sum())


def order(sizes: Sequence[float], gaps: Sequence[float]) -> float:
    """Exponent p of gap ∝ size^(−p), from the last two.

    >>> order([1, 10, 100], [3.0, 0.5, 0.05])
    1.0
    """
    return float(np.log(gaps[-2] / gaps[-1]) / np.log(sizes[-1] / sizes[-2]))


def spread_gaps(spreads: Sequence[float], causal: bool = False, drift: bool = True) -> list[float]:
    """Total variation of the lattice law of neighbours from the equation at whole positions, for every D."""
    gaps = []
    for diffusion in spreads:
        rates = neighbours(diffusion, causal)
        x = axis(rates)
        gaps.append(total_variation(lattice_law(rates, one_output(x)), heat_law(rates, x, drift)))
    return gaps


def scaling_rows() -> list[dict[str, str]]:
    """The scaling relations of the paper, printed and derived, one dictionary each."""
    return [
        {
            "equation": f"Eq. {r.equation} (§{r.section})",
            "squared scale": r.quantity,
            "printed": as_fraction(r.printed),
            "finite jumps or leak": as_fraction(r.derived),
            "finite D in positions²": "" if r.spread is None else as_fraction(r.spread),
        }
        for relations in scaling_relations().values()
        for r in relations
    ]


def as_fraction(exponents: Mapping[str, int]) -> str:
    """Exponents of at most zero in words.

    >>> as_fraction({"L": -1, "r": -3}), as_fraction({"L": -1, "r": 0})
    ('1/(L r³)', '1/L')
    """
    factors = [name + ("" if p == -1 else "⁰¹²³⁴⁵⁶⁷⁸⁹"[-p]) for name, p in sorted(exponents.items()) if p]
    return f"1/({' '.join(factors)})" if len(factors) > 1 else f"1/{factors[0]}" if factors else "1"


class Comparison(NamedTuple):
    """Laws of one unit of capacity under jumps to either neighbour.

    Attributes
    ----------
    points, lines : label → (positions, capacities).
    gap : of the deepest network from Eq. 3 at the origin, relative.
    from_jumps : of the deepest network from the compound Poisson law at the origin, relative, without sign.
    """

    points: Mapping[str, Curve]
    lines: Mapping[str, Curve]
    gap: float
    from_jumps: float


def comparison(diffusion: float, depths: Sequence[int], very_deep: int) -> Comparison:
    """The laws for one D; the shallow network is the second of ``depths`` that can carry the rates, as in the explorer.

    >>> round(comparison(1.0, [8, 16], 2**20).gap, 4)
    0.0936
    """
    rates = neighbours(diffusion)
    x = axis(rates)
    output = one_output(x)
    shallow = usable_depths(list(depths), rates, 1)[:2][-1]
    few, many = law_of_layers(rates, shallow, output), law_of_many_layers(rates, very_deep, output)
    limit, heat = lattice_law(rates, output), heat_law(rates, x)
    here = int(np.flatnonzero(x == 0)[0])
    fine = np.linspace(x[0], x[-1], 10 * len(x))
    return Comparison(
        {f"{shallow:,} layers": (x, few), "many layers": (x, limit)},
        {"heat kernel, Eq. 3": (fine, heat_law(rates, fine))},
        float(many[here] / heat[here] - 1),
        float(abs(many[here] / limit[here] - 1)),
    )


def checked_spreads(spreads: Sequence[float]) -> list[float]:
    """Diffusion coefficients D > 0 in ascending order; ``ValueError`` if there are not two of them.

    >>> checked_spreads([4, 1])
    [1.0, 4.0]
    """
    distinct = sorted(set(map(float, spreads)))
    if len(distinct) < 2:
        raise ValueError(f"spreads: found {distinct}, expected at least two different numbers.")
    return distinct


def variance_gap(depth: int) -> float:
    """|variance/(2D) − 1| of one output's capacity, with D = ½ Σ j² a_j of the kernel ``SYMMETRIC``.

    >>> variance_gap(64) < 1e-12
    True
    """
    rates = rates_of_kernel(SYMMETRIC)
    x = axis(rates)
    law = law_of_layers(rates, depth, one_output(x))
    twice = sum(offset**2 * rate for offset, rate in SYMMETRIC.items())
    return float(abs((law @ x**2 - (law @ x) ** 2) / twice - 1))


def relative_displacement(depth: int, rate: float) -> float:
    """Mean displacement over its standard deviation, with jumps to the next position at the given rate only."""
    rates = neighbours(rate / 2, causal=True)
    x = axis(rates)
    law = law_of_layers(rates, depth, one_output(x))
    mean = law @ x
    return float(mean / np.sqrt(law @ (x - mean) ** 2))


def without_unit_columns(rates: ConvolutionTransport, depth: int, alpha: float = 0.0) -> float:
    """(Σκ^X + Σκ^Y)/Σκ^L with a diagonal of one in W∘W, plus the jumps: not the paper's Markov equation."""
    n_layers = depth - 1
    one_step = jumps(rates).scaled(1 / n_layers)
    moves = zip(one_step.offsets[:, 0].tolist(), one_step.weights.reshape(-1).tolist(), strict=True)
    weights: dict[int | tuple[int, ...], float] = dict(moves) | {0: 1.0}
    leak = alpha / n_layers
    layers = [Layer(ConvolutionTransport.of_offsets(weights).scaled(1 - leak), side=leak)] * n_layers
    law = propagate(one_output(axis(rates)), layers, conserve=False)
    return (law.masses["input"] + law.masses["side"]) / law.supplied
