"""The same architecture at its optimum for each process family: the paper names no process, so claims are repeated."""

from typing import Any, NamedTuple

import numpy as np

from capcore import Architecture, Problem
from capcore.capacity.allocation import CapacityAllocation, allocate
from capcore.checks.arguments import quiet
from capcore.fitting.gauss_newton import ROUNDING
from capcore.fitting.optimum import FitResult, fit
from capcore.processes import FAMILIES, Process


class Case(NamedTuple):
    """An architecture at its optimum for one process.

    Attributes
    ----------
    process : Process
        What is predicted.
    problem : Problem
        The problem it poses.
    fit : FitResult
        The optimum.
    allocation : CapacityAllocation
        Its capacities.
    """

    process: Process
    problem: Problem
    fit: FitResult
    allocation: CapacityAllocation

    @property
    def error(self) -> np.ndarray:
        """(n,) X = Â − A*, the error of the coefficients."""
        return self.fit.coefficients - self.problem.target

    @property
    def attained(self) -> bool:
        """Whether the target is attained to rounding, so that no error is left to speak of (0/0)."""
        return bool(attains(self.fit.loss, self.problem))

    @property
    def regular(self) -> bool:
        """Whether the numerical capacity is the exact generic one: the optimum is no singular point."""
        return self.allocation.total == self.allocation.generic_total


def attains(losses: object, problem: Problem) -> np.ndarray:
    """Whether each loss is at the rounding floor of the problem: what is left of the error is then rounding only."""
    return np.asarray(losses) <= ROUNDING * float(np.sum(np.square(problem.root @ problem.target)))


def case(arch: Architecture, process: Process, rng: np.random.Generator | int = 0, **options: Any) -> Case:
    """The optimum and the allocation for one process; ``options`` go to :func:`capcore.fitting.optimum.fit`.

    A singular optimum gives no warning here: it is in ``Case.regular``.
    """
    problem = Problem.of(arch, process)
    result = fit(arch, problem, rng=rng, **options)
    return Case(process, problem, result, allocate_quietly(arch, result.params, problem))


def allocate_quietly(arch: Architecture, params: np.ndarray, problem: Problem) -> CapacityAllocation:
    """The allocation without its warning, for callers that compare ``total`` and ``generic_total`` themselves."""
    with quiet():
        return allocate(arch, params, problem)


def across_families(arch: Architecture, rng: np.random.Generator | int = 0, **options: Any) -> dict[str, Case]:
    """Family name → :class:`Case`, for the five families at their default parameters.

    >>> from capcore import Hierarchical
    >>> [name for name, optimum in across_families(Hierarchical(channels=1, n_layers=3)).items() if optimum.attained]
    ['AR1']
    """
    return {name: case(arch, family(), rng, **options) for name, family in FAMILIES.items()}


def totals_from_random_starts(arch: Architecture, process: Process, n_starts: int) -> list[int]:
    """κ at the best of the optima that random starts lead to, ascending.

    At singular optima of one loss it depends on the start. Losses count as the same where both are rounding, or to a
    millionth.

    >>> from capcore import AR1, Hierarchical
    >>> totals_from_random_starts(Hierarchical(channels=4, n_layers=3), AR1(), 3), case(
    ...     Hierarchical(channels=4, n_layers=3), AR1()
    ... ).allocation.total
    ([8, 8, 8], 6)
    """
    cases = [case(arch, process, rng=seed, start="random") for seed in range(n_starts)]
    least = min(start.fit.loss for start in cases)
    return sorted(start.allocation.total for start in cases if start.attained or start.fit.loss <= least * (1 + 1e-6))
