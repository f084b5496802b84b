"""One diffusion coefficient at a time: layers, the law of jumps by two routes, and the heat kernel side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from capcore.propagation import nearest_neighbour_law
from capcore.validation import finite_number
from chapters.scaling_pdes.study import (
    axis,
    heat_law,
    lattice_law,
    law_of_layers,
    law_of_many_layers,
    neighbours,
    one_output,
    rates_of_kernel,
    usable_depths,
)

Curve = tuple[np.ndarray, np.ndarray]

SYMMETRIC = {-3: 0.125, -2: 0.25, -1: 0.5, 1: 0.5, 2: 0.25, 3: 0.125}
"""Rates with 2D = 5.25 and total 1.75, for the coefficient of a kernel that reaches further than its neighbours."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Laws of one unit of capacity under jumps to either neighbour.

    Attributes
    ----------
    at_origin : label → capacity of the output's own position, as text. points, lines : label → (positions, capacities).
    gap, shallow_gap : of the deepest and of the shallowest network from Eq. 3 at the origin, relative.
    from_jumps : of the deepest network from the law of jumps at the origin, relative, without sign.
    """

    at_origin: Mapping[str, str]
    points: Mapping[str, Curve]
    lines: Mapping[str, Curve]
    gap: float
    shallow_gap: float
    from_jumps: float


def comparison(diffusion: float, depths: Sequence[int], very_deep: int) -> Comparison:
    """The laws for one D; the shallow network is the first of ``depths`` that can carry the rates.

    >>> comparison(1.0, [8, 16], 2**20).at_origin["law of jumps, closed form"]
    '0.3085083226'
    """
    rates = neighbours(diffusion)
    x = axis(rates)
    output = one_output(x)
    shallow = next(iter(usable_depths(list(depths), rates, 1)))
    few, many = law_of_layers(rates, shallow, output), law_of_many_layers(rates, very_deep, output)
    jumps, closed = lattice_law(rates, output), nearest_neighbour_law(x, diffusion, diffusion)
    heat = heat_law(rates, x)
    here = int(np.flatnonzero(x == 0)[0])
    fine = np.linspace(x[0], x[-1], 10 * len(x))
    return Comparison(
        {
            "shallowest network": f"{few[here]:.6f} (L = {shallow:,})",
            "very deep network": f"{many[here]:.6f} (L = {very_deep:,})",
            "law of jumps, by Fourier transform": f"{jumps[here]:.10f}",
            "law of jumps, closed form": f"{closed[here]:.10f}",
            "heat kernel, Eq. 3": f"{heat[here]:.10f}",
        },
        {f"{shallow:,} layers": (x, few), "many layers": (x, jumps)},
        {"heat kernel, Eq. 3": (fine, heat_law(rates, fine))},
        float(many[here] / heat[here] - 1),
        float(few[here] / heat[here] - 1),
        float(abs(many[here] / jumps[here] - 1)),
    )


def checked_spreads(spreads: object) -> list[float]:
    """Diffusion coefficients D > 0 in ascending order, at least two; ``ValueError`` otherwise.

    >>> checked_spreads([4, 1])
    [1.0, 4.0]
    """
    if not isinstance(spreads, list | tuple):
        raise ValueError(f"spreads: found {spreads!r}, expected a list of diffusion coefficients.")
    found = sorted({finite_number(value, "spreads") for value in spreads})
    if len(found) < 2 or found[0] <= 0:
        raise ValueError(f"spreads: found {found}, expected at least two different numbers above 0.")
    return found


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
