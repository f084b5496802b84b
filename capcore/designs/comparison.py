"""Compare architectures: every model is fitted from several starts, and what its optima agree on is said.

One fit of one start can mislead: it may end at a local optimum, and where the target is attained exactly, optima of one
loss differ in their capacity.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from capcore import verbs
from capcore.architectures.base import Architecture, check_architecture
from capcore.checks.arguments import of_kind, plain_number, plain_seed, positive_integer, quiet
from capcore.fitting.optimum import STATIONARY
from capcore.large.fft import covariance_product
from capcore.large.leverage import in_threads
from capcore.processes import Process
from capcore.processes.kernels import as_process
from capcore.processes.problem import Problem
from capcore.results.fit_and_allocation import Allocation, Fit
from capcore.results.notebook import line
from capcore.results.text_table import text_table

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

EPS = float(np.finfo(float).eps)
LONGEST = 4096
"""Inputs of a tensor train beyond which it starts once: from a random start it takes hundreds of Newton steps, to where
its default start ends after some ten."""


@dataclass(frozen=True, eq=False)
class Optima:
    """What the starts of one model end at, best first.

    Attributes
    ----------
    name : str
        Of the model.
    arch : Architecture
        The model.
    fits : list of Fit
        By loss; those of the rounding of v* in the order of the starts, of which the first is the default one.
    groups : list of int
        The optimum that each fit is at: fits of one number have the same loss and the same coefficients.
    allocations : list of Allocation
        Of the first fits, those that tie for the best loss.
    """

    name: str
    arch: Architecture
    fits: list[Fit]
    groups: list[int]
    allocations: list[Allocation] = field(repr=False)

    @property
    def best(self) -> Fit:
        """The fit of the lowest loss."""
        return self.fits[0]

    @property
    def losses(self) -> np.ndarray:
        """(starts,) losses, ascending up to the rounding of v*."""
        return np.array([fit.loss for fit in self.fits])

    @property
    def variance(self) -> float:
        """v*, the least possible variance of the prediction error; NaN where the fit does not give it."""
        return float(getattr(self.best, "variance", np.nan)) - self.best.loss

    @property
    def n_agreeing(self) -> int:
        """Starts that end at the best optimum."""
        return self.groups.count(0)

    @property
    def n_converged(self) -> int:
        """Starts that converged."""
        return sum(fit.converged for fit in self.fits)

    @property
    def n_optima(self) -> int:
        """Distinct optima at which some start converged."""
        return len({group for group, fit in zip(self.groups, self.fits, strict=True) if fit.converged})

    @property
    def totals(self) -> tuple[int, int]:
        """Least and largest κ of the optima that tie for the best."""
        totals = [allocation.total for allocation in self.allocations]
        return min(totals), max(totals)

    @property
    def profile(self) -> np.ndarray:
        """(3, n) capacity of every input: at the best optimum, and the least and the largest over those that tie.

        Of every octave of lag, where the allocation lists no inputs.
        """
        profiles = np.array([getattr(one, "per_input", one.per_octave) for one in self.allocations])
        return np.array([profiles[0], profiles.min(axis=0), profiles.max(axis=0)])

    def words(self) -> str:
        """One to three sentences: how many starts agree, and what they differ in."""
        count, tied, (least, most) = len(self.fits), len(self.allocations), self.totals
        floor, worst = EPS * self.variance, self.fits[-1].loss
        if count == 1:
            sentences = ["one start"]
        elif self.n_agreeing == count:
            sentences = [f"all {count} starts {'attain the target' if worst <= floor else 'end at the same optimum'}"]
        elif tied == count:
            sentences = [f"all {count} starts reach the same loss, at different coefficients"]
        else:
            where = "in local optima" if all(fit.converged for fit in self.fits[tied:]) else "higher"
            ratio = f"{worst / self.best.loss:,.1f} times the best loss" if self.best.loss > floor else ""
            far = ratio or f"{worst / self.variance:.1e} of the least variance; the best attain the target"
            sentences = [f"{count - tied} of {count} starts end {where}, up to {far}"]
            if tied == 1:
                sentences.append("only one reaches the best loss, so more starts may find a better one")
        if self.n_converged < count:
            sentences.append(f"{count - self.n_converged} of {count} did not converge")
        if least < most:
            sentences.append(f"optima of the best loss have capacities from {least} to {most}")
        elif self.allocations[0].generic_total not in (None, least):
            sentences.append(f"the capacity {least} is not the generic {self.allocations[0].generic_total}")
        return f"{self.name}: {'; '.join(sentences)}."


COLUMNS: dict[str, Callable[[Optima], str]] = {
    "model": lambda one: one.name,
    "inputs": lambda one: f"{one.arch.n_inputs:,}",
    "weights": lambda one: f"{one.arch.n_params:,}",
    "best loss": lambda one: f"{one.best.loss:.2e}",
    "worst": lambda one: f"{one.losses.max():.2e}",
    "agree": lambda one: f"{one.n_agreeing}/{len(one.fits)}",
    "optima": lambda one: f"{one.n_optima}",
    "capacity": lambda one: "–".join(f"{total:,}" for total in dict.fromkeys(one.totals)),
}
"""The columns of the table in words."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """What several models end at, from several starts each.

    Attributes
    ----------
    process : Process or Problem
        What they predict.
    models : dict
        Name → :class:`Optima`.
    """

    process: Process | Problem
    models: dict[str, Optima]

    def __repr__(self) -> str:
        return f"Comparison({', '.join(f'{name}: {one.best.loss:.2e}' for name, one in self.models.items())})"

    def __str__(self) -> str:
        return self.table()

    def __getitem__(self, name: str) -> Optima:
        return self.models[name]

    def table(self) -> str:
        """A row for each model, as text, and below it what has to be said in words."""
        return "\n".join([text_table(self._cells(), [*COLUMNS]), "", *(one.words() for one in self.models.values())])

    def to_dataframe(self) -> pandas.DataFrame:
        """The table with a row for each model, named after it."""
        import pandas

        rows = [
            {
                "model": one.name,
                "inputs": one.arch.n_inputs,
                "weights": one.arch.n_params,
                "loss": one.best.loss,
                "loss/v*": one.best.loss / one.variance,
                "worst": one.losses.max(),
                "starts": len(one.fits),
                "agree": one.n_agreeing,
                "converged": one.n_converged,
                "optima": one.n_optima,
                "least capacity": one.totals[0],
                "most capacity": one.totals[1],
            }
            for one in self.models.values()
        ]
        return pandas.DataFrame(rows).set_index("model")

    def plot(self) -> Figure:
        """One picture: losses of all starts, and the capacity of every input with its range. Needs matplotlib."""
        from capcore.plotting import plot_comparison

        return plot_comparison(self.models)

    def _repr_html_(self) -> str:
        rows = "".join([line(COLUMNS, "th"), *map(line, self._cells())])
        words = "".join(f"<li>{escape(one.words())}</li>" for one in self.models.values())
        return f"<table><caption>Comparison</caption>{rows}</table><ul>{words}</ul>"

    def _cells(self) -> list[list[str]]:
        return [[cell(one) for cell in COLUMNS.values()] for one in self.models.values()]


def compare(
    models: Mapping[str, Architecture],
    process: Process | Problem,
    *,
    starts: int = 10,
    rng: np.random.Generator | int | None = None,
    workers: int | None = None,
    progress: bool = False,
    **options: Any,
) -> Comparison:
    """Fit every model from several starts, and allocate the capacity of its best optima.

    The first start of a model is its default, all others are random. Tensor trains of more than 4,096 inputs start
    once: random starts of theirs take hundreds of long steps, to the same optimum. So do fits by octaves, which have no
    other start.

    Two fits are at the same optimum if their losses differ by at most a millionth, and their coefficients, in the
    metric Σ of the prediction, by at most two thousandths of the square root of the loss: at the relative offset of
    10⁻³ at which Bates & Watts call a fit converged, each may be half as far off. Losses that no longer show in the sum
    v* + loss, in double precision, are equal.

    Parameters
    ----------
    models : dict
        Name → architecture.
    process : Process or Problem
        What they predict; a posed problem for models of its size.
    starts : int, default 10
        Of every model.
    rng : numpy.random.Generator or int, default 0
        The same seed gives the same answer, for any number of workers, and whatever else is compared.
    workers : int, optional
        Fits at a time, in threads with one BLAS thread each; by default one for each processor. Threads need no
        ``if __name__ == "__main__"``.
    progress : bool, default False
        Show a progress bar.
    **options : float
        Of :func:`~capcore.verbs.fit`: ``method``, ``rebalance``, ``max_iterations``, …

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        For arguments that cannot be used, and for options that a model's method has not.
    TooLargeError
        For a model that would not fit into memory.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import PowerLaw
    >>> result = compare({"c = 1": Hierarchical(1, 4), "c = 2": Hierarchical(2, 4)}, PowerLaw(), starts=3)
    >>> print(result)  # doctest: +NORMALIZE_WHITESPACE
    model  inputs  weights  best loss     worst  agree  optima  capacity
    c = 1      16        8   1.48e-03  1.48e-03    3/3       1         5
    c = 2      16       24   1.56e-05  1.56e-05    3/3       1        12
    <BLANKLINE>
    c = 1: all 3 starts end at the same optimum.
    c = 2: all 3 starts end at the same optimum.
    """
    rng = plain_number(rng, "rng")
    plain_seed(rng)
    count = positive_integer(starts, "starts")
    of_kind(models, "models", Mapping, "a mapping of names to architectures")
    if not models:
        raise ValueError("models: found none, expected a mapping of names to architectures, such as {'small': arch}.")
    for name, arch in models.items():
        of_kind(name, "models", str, "names that are text")
        check_architecture(arch, "arch")
    process = as_process(process, "process")
    for name in ("start", "n_starts"):
        if name in options:
            raise ValueError(f"{name}: found {options[name]!r}, expected none: compare chooses the starts; see starts.")
    threads = _processors() if workers is None else positive_integer(workers, "workers")
    seeds = np.random.default_rng(0 if rng is None else rng).integers(2**63, size=count).tolist()
    method = options.get("method", "auto")

    def fit(job: tuple[str, int]) -> Fit:
        name, i = job
        return verbs.fit(models[name], process, start="random" if i else "auto", rng=seeds[i], **options)

    def capacity(job: tuple[str, Fit]) -> Allocation:
        with quiet():  # what a warning would say is in the words
            return verbs.allocate(models[job[0]], job[1], process)

    def results(work: Callable[[Any], Any], jobs: list[tuple[str, Any]]) -> dict[str, list[Any]]:
        """The results of each model, in the order of its jobs."""
        by_name: dict[str, list[Any]] = {name: [] for name in models}
        bar = tqdm(in_threads(work, jobs, threads), total=len(jobs), unit="fit", disable=not progress)
        for (name, _), result in zip(jobs, bar, strict=True):
            by_name[name].append(result)
        return by_name

    counts = {name: 1 if _starts_once(arch, process, method) else count for name, arch in models.items()}
    fits = results(fit, [(name, i) for name in models for i in range(counts[name])])
    ends = {name: _groups(arch, process, fits[name]) for name, arch in models.items()}
    allocations = results(capacity, [(name, fit) for name, (fits, _, tied) in ends.items() for fit in fits[:tied]])
    optima = {
        name: Optima(name, models[name], fits, groups, allocations[name]) for name, (fits, groups, _) in ends.items()
    }
    return Comparison(process, optima)


def _starts_once(arch: Any, process: Any, method: object) -> bool:
    chosen = verbs.fit_method(arch, process, "auto", {}, True) if method == "auto" else method
    return chosen == "octaves" or (chosen == "riemannian-newton" and arch.n_inputs > LONGEST)


def _processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _groups(arch: Architecture, process: Any, fits: Sequence[Fit]) -> tuple[list[Fit], list[int], int]:
    """The fits by loss, the optimum that each is at, and how many tie for the best loss."""
    if len(fits) == 1:
        return [*fits], [0], 1
    floor = EPS * min(fit.variance for fit in fits)
    ordered = sorted(fits, key=lambda fit: max(fit.loss, floor))
    product = covariance_product(process, arch.n_inputs, arch.input_dim)

    def same_loss(first: Fit, second: Fit) -> bool:
        return second.loss <= max((1 + STATIONARY**2) * first.loss, floor)

    def same(first: Fit, second: Fit) -> bool:
        gap = (first.coefficients - second.coefficients)[:, None]
        squared = float(gap[:, 0] @ product(gap)[:, 0])
        return same_loss(first, second) and squared <= max(4 * STATIONARY**2 * first.loss, 4 * floor)

    firsts: list[Fit] = []
    groups = []
    for fit in ordered:
        near = next((k for k, first in enumerate(firsts) if same(first, fit)), len(firsts))
        if near == len(firsts):
            firsts.append(fit)
        groups.append(near)
    return ordered, groups, sum(same_loss(ordered[0], fit) for fit in ordered)
