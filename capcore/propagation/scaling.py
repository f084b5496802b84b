"""How weights must scale with depth, channels and kernel size for a limit to exist, derived by counting (paper 2).

Squared weights of scale ε do three things over a whole network: they make capacity jump, spread it, and let it leak.
The number of jumps, the spread in pixels squared and the leak are ε times a whole number each, which is counted here
on the layers themselves, with all squared weights one. It is a polynomial in the number of layers L, the channels C
and the kernel size r, and the limit is neither zero nor infinite if ε falls as the inverse of its leading power.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from capcore.checks.arguments import one_of, positive_integer
from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.generator import LimitCoefficients, jumps
from capcore.results.notebook import Record

Count = Callable[..., int]
_POINTS = {"L": range(1, 9), "N": range(1, 9), "C": range(1, 9), "r": range(1, 17, 2)}


def unit_layer(channels: int, size: int, ndim: int) -> ConvolutionTransport:
    """A centred convolution with all squared weights one: C to C channels, r taps along each of d axes."""
    return ConvolutionTransport(np.ones((channels, *(size,) * ndim, channels)))


def jump_count(L: int = 2, C: int = 1, r: int = 3, *, ndim: int = 1) -> int:
    """Weights of one output that do not pass its own position and channel on, over L layers: L (C r^d − 1).

    >>> jump_count(L=10, C=2, r=3)
    50
    """
    return L * round(float(jumps(unit_layer(C, r, ndim)).sums[0]))


def spread_count(L: int = 2, C: int = 1, r: int = 3, *, ndim: int = 1) -> int:
    """Twice the diffusion along an axis, Σ j² over the taps of L layers, in pixels squared.

    >>> spread_count(L=10, r=3)
    20
    """
    return L * round(2 * float(LimitCoefficients.of_rates(unit_layer(C, r, ndim)).diffusion[0, 0]))


def degree(count: Count, parameter: str) -> int:
    """Degree of a count as a polynomial in one parameter, from finite differences of whole numbers.

    >>> degree(spread_count, "r")
    3
    """
    one_of(parameter, "parameter", _POINTS)
    values = np.array([count(**{parameter: point}) for point in _POINTS[parameter]])
    for power in range(len(values) - 2):  # so that at least two differences confirm the degree
        values = np.diff(values)
        if not values.any():
            return power
    raise ValueError(f"count: found no polynomial in {parameter} of degree below {len(_POINTS[parameter]) - 2}.")


@dataclass(frozen=True, repr=False)
class ScalingRelation(Record):
    """One scale, and what it must be proportional to.

    Attributes
    ----------
    section : str
        Section of paper 2.
    equation : int
        Equation of paper 2.
    quantity : str
        The squared scale.
    derived : dict
        ``{parameter: exponent}`` for a finite number of jumps, or a finite leak.
    spread : dict, optional
        The same for a finite diffusion in pixels squared, if the quantity spreads capacity.
    printed : dict
        The paper's exponents. A parameter that the paper does not name is held fixed there.
    remark : str
        What differs, in words.
    """

    section: str
    equation: int
    quantity: str
    derived: Mapping[str, int]
    spread: Mapping[str, int] | None
    printed: Mapping[str, int]
    remark: str


def scaling_relations(ndim: int = 2) -> dict[int, tuple[ScalingRelation, ...]]:
    """Equation → relations of paper 2, Eqs 5, 14, 18, 27, 29, 31 and the text after Eq. 9: as derived, and as printed.

    Parameters
    ----------
    ndim : int
        Number of axes d, for paper 2, Eq. 29.

    Examples
    --------
    >>> [relation] = scaling_relations(ndim=3)[29]
    >>> relation.printed, relation.derived, relation.spread
    ({'r': -3, 'L': -1}, {'L': -1, 'r': -3}, {'L': -1, 'r': -5})
    """
    ndim = positive_integer(ndim, "ndim")
    relations = []

    def residual(section: str, equation: int, names: str, printed: dict[str, int], remark: str, d: int = 1) -> None:
        counts = partial(jump_count, ndim=d), partial(spread_count, ndim=d)
        derived, spread = ({name: -degree(count, name) for name in names} for count in counts)
        if section == "3.9":  # steps take the place of layers
            derived, spread = {"N": derived["L"]}, {"N": spread["L"]}
        relations.append(ScalingRelation(section, equation, "residual capacity ε", derived, spread, printed, remark))

    def by_layer(section: str, equation: int, quantity: str, remark: str) -> None:
        derived = {"L": -1}  # one in each of L layers
        relations.append(ScalingRelation(section, equation, quantity, derived, None, {"L": -1}, remark))

    residual("3.1", 5, "Lr", {"L": -1}, "r is held fixed; Eq. 29 at d = 1 prints the factor 1/r that is missing here")
    by_layer("3.2", 9, "capacity of each source", "printed as a division by L")
    residual("3.4", 14, "Lr", {"L": -1}, "r is held fixed, as in Eq. 5")
    by_layer("3.4", 14, "side inputs γ²", "one side input per output; weights from m of them need 1/(mL)")
    residual("3.5", 18, "Lr", {"L": -1}, "r is held fixed, as in Eq. 5")
    by_layer("3.5", 18, "bias β²", "a constant has one dimension: it cannot hold capacity beyond one")
    remark = "ε stands for another quantity than in Eq. 24, ε^P for ε^W; Xavier counts C r inputs of a kernel, not C"
    residual("3.7", 27, "LCr", {"C": -1, "L": -1}, remark)
    remark = "the same, exactly 1/(L (r^d − 1)); at d = 1 it is not Eq. 5"
    residual("3.8", 29, "Lr", {"r": -ndim, "L": -1}, remark, ndim)
    residual("3.9", 31, "L", {"N": -1}, "the side inputs of every step must scale alike, which is not printed")
    return {one.equation: tuple(other for other in relations if other.equation == one.equation) for one in relations}
