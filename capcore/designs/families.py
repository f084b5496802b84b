"""Families of models, simplest first: for each, models of several sizes up to a budget, with their best weights."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from capcore import verbs
from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.taps import AutoRegressiveTaps, LogTaps, NearAndPools, Taps
from capcore.checks.arguments import quiet
from capcore.designs.bonds import BondTable, bond_table
from capcore.designs.held_out import ahead
from capcore.designs.search import best_stacks
from capcore.fitting.projection import least_squares
from capcore.processes import Process
from capcore.processes.problem import Problem

SIZES = 12  # of models of a family, at most, at even distances in the logarithm
SPLITS = (0.25, 0.5, 0.75)  # share of the parameters that are near taps
PER_SIZE = 2  # stacks that are fitted for each size
STEPS = 200

Found = tuple[Any, np.ndarray, float]
"""A model, its best weights, and its loss."""


@dataclass(frozen=True, eq=False)
class Task:
    """What all families share: the process, its problem, and the budget."""

    process: Process
    n_inputs: int
    max_params: int
    future: np.ndarray = field(default_factory=lambda: np.ones(1))

    @property
    def n_fitted(self) -> int | None:
        """How many values the process was estimated from; None for one that is known."""
        return int(self.process.pairs[0]) if hasattr(self.process, "pairs") else None

    @cached_property
    def problem(self) -> Problem:
        """The problem of all inputs."""
        return ahead(self.process, self.n_inputs, self.future)

    @cached_property
    def errors(self) -> np.ndarray:
        """(n + 1,) final prediction errors of autoregressions of order 0, 1, … n."""
        gains = np.square(self.problem.root @ self.problem.target)  # of the lags one after the other
        orders = enumerate(self.problem.variance + np.append(np.cumsum(gains[::-1])[::-1], 0.0))
        return np.array([final_prediction_error(v, q, self.n_fitted) for q, v in orders])

    @cached_property
    def table(self) -> BondTable:
        """The bond table."""
        return bond_table(self.process, self.n_inputs, self.problem)

    def sizes(self, least: int = 1) -> list[int]:
        """Numbers of parameters to try.

        >>> Task(None, 64, 64).sizes()
        [1, 2, 3, 5, 7, 10, 14, 21, 30, 44, 64]
        """
        most = min(self.max_params, self.n_inputs)
        sizes = np.geomspace(least, most, SIZES).round().astype(int)
        return np.unique(sizes).tolist() if most >= least else []


def final_prediction_error(variance: float, capacity: int, n_fitted: int | None) -> float:
    """What a model errs by on values to come, once its κ weights are fitted to N values: v(N + κ)/(N − κ).

    Weights that least squares finds in N values have the error covariance vΣ⁻¹/N about the best ones, in a space of κ
    dimensions, which adds vκ/N. The variance v that κ weights were fitted to in them is besides too low by the factor
    1 − κ/N.

    Source: Akaike (1969), "Fitting autoregressive models for prediction". Infinite for models of as many degrees of
    freedom as there are values.

    Parameters
    ----------
    variance : float
        v, the error variance at the best weights.
    capacity : int
        κ.
    n_fitted : int or None
        N; None for a known process, of which the answer is v.

    Examples
    --------
    >>> final_prediction_error(1.0, 10, 110), final_prediction_error(1.0, 10, None)
    (1.2, 1.0)
    """
    if n_fitted is None:
        return variance
    return variance * (n_fitted + capacity) / (n_fitted - capacity) if capacity < n_fitted else np.inf


def projected(task: Task, arch: Taps) -> Found:
    """A set of taps with its best weights."""
    root, target = task.problem.root, task.problem.target
    params, _ = least_squares(root @ arch.basis, root @ target)
    return arch, params, task.problem.loss(arch.coefficients(params))


def autoregressive(task: Task) -> Iterator[Found]:
    """The most recent lags: of all orders by one recursion, and the order that costs least."""
    cheapest = 1 + int(np.argmin(task.errors[1 : task.max_params + 1]))
    for size in sorted({*task.sizes(), cheapest}):
        yield projected(task, AutoRegressiveTaps(size, task.n_inputs))


def near_and_pools(task: Task) -> Iterator[Found]:
    """Near taps and pools: for each size the best of three splits."""
    for size in task.sizes(2):
        splits = {min(max(round(share * size), 1), size - 1) for share in SPLITS}
        models = [projected(task, NearAndPools(near, size - near, task.n_inputs)) for near in sorted(splits)]
        yield min(models, key=lambda model: model[2])


def log_taps(task: Task) -> Iterator[Found]:
    """Lags at geometric distances."""
    for size in task.sizes(2):
        yield projected(task, LogTaps(task.n_inputs, size))


def stacks(task: Task) -> Iterator[Found]:
    """For each of several sizes the stacks with the lowest sums of the table."""
    skeletons = {}
    most = min(task.max_params, 2 * task.n_inputs)
    front = [one for one in best_stacks(task.table, most) if one.channels]
    for size in np.geomspace(front[0].n_params, most, SIZES) if front else ():
        within = sorted(one for one in front if one.n_params <= size + 0.5)
        skeletons.update(dict.fromkeys(within[:PER_SIZE]))
    for one in sorted(skeletons, key=lambda one: one.n_params):
        arch = Hierarchical(list(one.channels), kernel_size=list(one.kernel_sizes))
        posed, method = (task.process, "riemannian-newton") if task.future.size == 1 else (task.problem, "gauss-newton")
        with quiet():
            fit = verbs.fit(arch, posed, method=method, max_iterations=STEPS)
        yield arch, fit.params, fit.loss


FAMILIES = {
    "autoregressive": autoregressive,
    "near and pools": near_and_pools,
    "log taps": log_taps,
    "stacks": stacks,
}
"""Name → the models that are tried, simplest family first."""
