"""How weights must scale with depth, channels and kernel size for a limit to exist, derived by counting (paper 2).

Squared weights of scale ε do three things over a whole network: they make capacity jump, spread it, and let it leak.
The number of jumps, the spread in pixels squared and the leak are ε times a whole number each, which is counted here
on the layers themselves, with all squared weights one. It is a polynomial in the number of layers L, the channels C
and the kernel size r, and the limit is neither zero nor infinite if ε falls as the inverse of its leading power.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from capcore.propagation import ConvolutionTransport, LimitCoefficients
from capcore.propagation.generator import jumps

RESIDUAL = "residual capacity ε"
POINTS = {"L": range(1, 9), "C": range(1, 9), "r": range(1, 17, 2)}
PRINTED = {equation: (section, "Lr", {"L": -1}) for equation, section in ((5, "3.1"), (14, "3.4"), (18, "3.5"))}
PRINTED[27] = ("3.7", "LCr", {"C": -1, "L": -1})
"""Equation → section, what the residual capacity ε may depend on, and the paper's exponents along one axis.

In Eqs 5, 14 and 18 r is held fixed. In Eq. 27 ε stands for another quantity than in Eq. 24, ε^P for ε^W.
"""
BY_LAYER = [("3.2", 9, "capacity of each source"), ("3.4", 14, "side inputs γ²"), ("3.5", 18, "bias β²")]
"""Scales of which each of L layers takes its share."""


class Relation(NamedTuple):
    """One squared scale, and what it must be proportional to.

    Attributes
    ----------
    section, equation, quantity : of paper 2.
    printed : parameter → exponent in the paper. One that it does not name is held fixed there.
    derived : the same for a finite number of jumps, or a finite leak.
    spread : the same for a finite diffusion in pixels squared, if the quantity spreads capacity.
    """

    section: str
    equation: int
    quantity: str
    printed: Mapping[str, int]
    derived: Mapping[str, int]
    spread: Mapping[str, int] | None = None


def counts(L: int = 2, C: int = 1, r: int = 3, *, ndim: int = 1) -> np.ndarray:
    """Jumps that leave an output, L (C r^d − 1), and twice the diffusion along an axis in pixels squared, (2,).

    >>> counts(L=10, C=2, r=3).tolist()
    [50.0, 40.0]
    """
    layer = ConvolutionTransport(np.ones((C, *(r,) * ndim, C)))
    return L * np.array([jumps(layer).sums[0], 2 * LimitCoefficients.of_rates(layer).diffusion[0, 0]])


def degree(values: np.ndarray) -> int:
    """Degree of a polynomial with whole coefficients, from its values at eight equidistant points or more.

    >>> degree(np.arange(8) ** 3)
    3
    """
    return next(power for power in range(len(values) - 2) if not np.rint(np.diff(values, power + 1)).any())


def exponents(names: str, ndim: int = 1) -> list[dict[str, int]]:
    """Of ε, for a finite number of jumps, and for a finite diffusion."""
    at = {name: np.array([counts(**{name: point}, ndim=ndim) for point in POINTS[name]]) for name in names}
    return [{name: -degree(values[:, kind]) for name, values in at.items()} for kind in (0, 1)]


def scaling_relations(ndim: int = 2) -> dict[int, list[Relation]]:
    """Equation → relations of paper 2, Eqs 5, 14, 18, 27, 29, 31 and the text after Eq. 9, with d axes in Eq. 29.

    >>> [relation] = scaling_relations(ndim=3)[29]
    >>> relation.printed, relation.derived, relation.spread
    ({'r': -3, 'L': -1}, {'L': -1, 'r': -3}, {'L': -1, 'r': -5})
    """
    found: dict[int, list[Relation]] = {}
    for equation, (section, names, printed) in PRINTED.items():
        found[equation] = [Relation(section, equation, RESIDUAL, printed, *exponents(names))]
    for section, equation, quantity in BY_LAYER:
        found.setdefault(equation, []).append(Relation(section, equation, quantity, {"L": -1}, {"L": -1}))
    found[29] = [Relation("3.8", 29, RESIDUAL, {"r": -ndim, "L": -1}, *exponents("Lr", ndim))]
    steps = ({"N": powers["L"]} for powers in exponents("L"))  # they take the place of layers
    found[31] = [Relation("3.9", 31, RESIDUAL, {"N": -1}, *steps)]
    return dict(sorted(found.items()))
