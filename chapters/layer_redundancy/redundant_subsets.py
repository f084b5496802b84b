"""Two ways to tell whether a set of parameters is redundant (paper 1, Appendix D, Definition 3), on random sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.recurrent import Recurrent
from capcore.constraints import ConstraintSpace, chain
from capcore.processes import Process
from capcore.redundancy import is_redundant
from capcore.validation import positive_integer


@dataclass(frozen=True)
class Comparison:
    """Random sets of parameters, judged twice: ``floating`` by the marginal capacity, ``exact`` by ranks; each (k,)."""

    floating: np.ndarray
    exact: np.ndarray

    @property
    def mismatches(self) -> int:
        """Number of sets on which the two disagree."""
        return int(np.count_nonzero(self.floating != self.exact))

    @property
    def rarer(self) -> int:
        """Size of the smaller of the two classes, redundant and not."""
        return int(min(self.exact.sum(), (~self.exact).sum()))


def compare_subsets(process: Process, n_subsets: int, seed: int = 0) -> Comparison:
    """Is the marginal capacity zero exactly where the rank stays? Random sets of the parameters of six models.

    The largest size that can be redundant is the number of parameters minus κ. Sizes run from three quarters of that
    to that, where both outcomes are common. Both sides are taken at the same random parameters: in floating point with
    Σ, and modulo a prime without it.

    >>> from capcore.processes import PowerLaw
    >>> compare_subsets(PowerLaw(), 10).mismatches
    0
    """
    rng = np.random.default_rng(seed)
    models: list[Any] = [
        Hierarchical(2, 4),
        Hierarchical([2, 3, 2], kernel_size=3),
        Hierarchical([2, 1, 2, 1, 2]),
        Hierarchical(1, dilations=[1, 2, 4, 1, 2, 4]),
        Hierarchical(2, dilations=[1, 1, 2, 2, 4, 4]),
        Recurrent(8, 3),
    ]
    floating, exact = [], []
    for i in range(positive_integer(n_subsets, "n_subsets")):
        arch = models[i % len(models)]
        largest = arch.n_params - arch.generic_capacity()
        size = rng.integers(max(1, 3 * largest // 4), largest + 1)
        chosen = np.sort(rng.choice(arch.n_params, size, replace=False))
        params = arch.init(rng)
        columns = process.covariance(arch.n_inputs) @ arch.jacobian(params)
        own, rest = columns[:, chosen], np.delete(columns, chosen, axis=1)
        marginal = chain([ConstraintSpace.from_columns(rest), ConstraintSpace.from_columns(own)])[1]
        floating.append(marginal.dimension == 0)
        exact.append(is_redundant(arch, chosen, params))
    return Comparison(np.array(floating), np.array(exact))
