"""Families of models, simplest first: for each, models of several sizes up to a budget, with their best weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from capcore import verbs
from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.recurrent import Recurrent
from capcore.architectures.sum import Sum
from capcore.architectures.taps import AutoRegressiveTaps, LogTaps, NearAndPools, Taps
from capcore.checks.arguments import quiet
from capcore.designs.bonds import BondTable, bond_table
from capcore.designs.candidates import final_prediction_error, values_behind
from capcore.designs.search import Skeleton, best_stacks
from capcore.fitting.projection import least_squares, without
from capcore.processes import Process
from capcore.processes.problem import Problem
from capcore.processes.toeplitz import levinson_durbin

SIZES = 12  # of models of a family, at most, at even distances in the logarithm
SPLITS = (0.25, 0.5, 0.75)  # share of the parameters that are near taps
PER_SIZE = 2  # stacks that are fitted for each size
STEPS = 200
LONGEST_POLES = 5  # channels of recurrent models

Found = tuple[Any, np.ndarray, float]
"""A model, its best weights, and its loss."""


@dataclass(frozen=True, eq=False)
class Task:
    """What all families share: the process, its problem, and the budget."""

    process: Process
    n_inputs: int
    max_params: int
    n_observed: int | None
    far: bool
    rng: Any

    @cached_property
    def problem(self) -> Problem:
        """The problem of all inputs."""
        return Problem.of(AutoRegressiveTaps(1, self.n_inputs), self.process)

    @cached_property
    def variances(self) -> np.ndarray:
        """(n + 1,) least prediction variance from the last 0, 1, … n inputs."""
        return levinson_durbin(self.process.autocovariance(self.n_inputs + 1)).variances

    @cached_property
    def table(self) -> BondTable:
        """The bond table."""
        return bond_table(self.process, self.n_inputs)

    def sizes(self, least: int = 1) -> list[int]:
        """Numbers of parameters to try.

        >>> Task(None, 64, 64, None, False, 0).sizes()
        [1, 2, 3, 5, 7, 10, 14, 21, 30, 44, 64]
        """
        most = min(self.max_params, self.n_inputs)
        if most < least:
            return []
        return sorted({*np.round(np.geomspace(least, most, SIZES)).astype(int).tolist()})


def projected(task: Task, arch: Taps) -> Found:
    """A set of taps with its best weights."""
    root, target = task.problem.root, task.problem.target
    params, _ = least_squares(root @ arch.basis, root @ target)
    return arch, params, task.problem.loss(arch.coefficients(params))


def autoregressive(task: Task) -> Iterator[Found]:
    """The most recent lags: of all orders by one recursion, and the order that costs least."""
    variances = task.variances
    sizes, most = task.sizes(), min(task.max_params, task.n_inputs, len(variances) - 1)
    if task.n_observed is not None:
        fitted_to = values_behind(task.process)
        errors = {
            q: final_prediction_error(float(variances[q]), q, task.n_observed, fitted_to) for q in range(1, most + 1)
        }
        sizes = sorted({*sizes, *([min(errors, key=lambda q: errors[q])] if errors else [])})
    for size in sizes:
        yield projected(task, AutoRegressiveTaps(size, task.n_inputs))


def near_and_pools(task: Task) -> Iterator[Found]:
    """Near taps and pools: for each size the best of three splits."""
    for size in task.sizes(2):
        splits = {min(max(round(share * size), 1), size - 1) for share in SPLITS}
        found = [projected(task, NearAndPools(near, size - near, task.n_inputs)) for near in sorted(splits)]
        yield min(found, key=lambda each: each[2])


def log_taps(task: Task) -> Iterator[Found]:
    """Lags at geometric distances."""
    for size in task.sizes(2):
        yield projected(task, LogTaps(task.n_inputs, size))


def recurrent(task: Task) -> Iterator[Found]:
    """Sums of exponentials."""
    for channels in range(1, min(LONGEST_POLES, task.max_params // 3) + 1):
        yield fitted(task, Recurrent(task.n_inputs, channels))


def stacks(task: Task) -> Iterator[Found]:
    """Stacks without overlap whose kernels multiply to the inputs, chosen by the bond table."""
    for each in chosen(task):
        yield fitted(task, Hierarchical(list(each.channels), kernel_size=list(each.kernel_sizes)))


def chosen(task: Task) -> list[Skeleton]:
    """For each of several sizes the stacks with the lowest sums of the table, and if asked for some that look far."""
    found: dict[tuple[Any, Any], Skeleton] = {}
    most = min(task.max_params, 2 * task.n_inputs)
    for last in (1, 2, 3, 4) if task.far else (1,):
        front = best_stacks(task.table, most, keep=4, last_rank=last)
        front = [each for each in front if each.channels]
        if not front:
            continue
        for size in np.geomspace(front[0].n_params, most, SIZES):
            within = sorted(each for each in front if each.n_params <= size + 0.5)
            for each in within[:PER_SIZE]:
                found[each.kernel_sizes, each.channels] = each
    return sorted(found.values(), key=lambda each: each.n_params)


def overlapping(task: Task) -> Iterator[Found]:
    """Stacks of kernel 3 and dilations 1, 2, 4, …, as in temporal convolutional networks, with equal channels."""
    layers = max(int(np.log2((task.n_inputs - 1) / 2 + 1)), 1)
    for channels in range(1, 9):
        arch = Hierarchical(channels, layers, kernel_size=3, dilations=[2**l for l in range(layers)])
        if arch.n_params > task.max_params or arch.n_inputs > task.n_inputs:
            return
        yield fitted(task, arch)


def taps_and_stack(task: Task) -> Iterator[Found]:
    """Near taps beside a stack, which then has the distant past to itself."""
    for each in chosen(task):
        near = max(each.n_params // 3, 1)
        if each.n_params + near <= task.max_params and near < task.n_inputs:
            stack = Hierarchical(list(each.channels), kernel_size=list(each.kernel_sizes))
            yield fitted(task, Sum(AutoRegressiveTaps(near), stack))


FAMILIES: dict[str, Callable[[Task], Iterator[Found]]] = {
    "autoregressive": autoregressive,
    "near and pools": near_and_pools,
    "log taps": log_taps,
    "recurrent": recurrent,
    "stacks": stacks,
    "overlapping stacks": overlapping,
    "taps and stack": taps_and_stack,
}
"""Name → the models that are tried, simplest family first."""
USUAL = ("autoregressive", "near and pools", "log taps", "stacks")


def fitted(task: Task, arch: Any) -> Found:
    """A model with its best weights; one that reads fewer inputs predicts as well as these allow."""
    short = arch.n_inputs < task.n_inputs
    problem = without(task.problem, np.zeros((task.n_inputs, 1)), arch.n_inputs) if short else task.problem
    train = isinstance(arch, Hierarchical) and arch.has_disjoint_supports and not short
    options: dict[str, Any] = {"method": "riemannian-newton"} if train else {}
    if isinstance(arch, Hierarchical) and not arch.has_disjoint_supports:
        options = {"method": "gauss-newton"}
    if isinstance(arch, Hierarchical):
        options["max_iterations"] = STEPS
    with quiet():
        found = verbs.fit(arch, task.process if train else problem, rng=task.rng, **options)
    missed = problem.variance - task.problem.variance
    return arch, found.params, float(found.loss + missed)
