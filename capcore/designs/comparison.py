"""Compare architectures: every model is fitted from several starts, and what its optima agree on is said.

One fit of one start can mislead: it may end at a local optimum, and where the target is attained exactly, optima of one
loss differ in their capacity.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from capcore import verbs
from capcore.architectures.base import Architecture
from capcore.checks.arguments import of_kind, plain_number, plain_seed, positive_integer, quiet
from capcore.fitting.optimum import STATIONARY
from capcore.large.fft import covariance_product
from capcore.large.leverage import in_threads
from capcore.processes import Process
from capcore.processes.kernels import as_process
from capcore.processes.problem import Problem
from capcore.results.fit_and_allocation import Allocation, Fit

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
        By loss.
    starts : list of int
        Which start each fit is of; 0 is the default start.
    groups : list of int
        The optimum that each fit is at: fits of one number have the same loss and the same coefficients.
    allocations : list of Allocation
        Of the first fits, those that tie for the best loss.
    """

    name: str
    arch: Architecture
    fits: list[Fit]
    starts: list[int]
    groups: list[int]
    allocations: list[Allocation] = field(repr=False)

    @property
    def best(self) -> Fit:
        """The fit of the lowest loss."""
        return self.fits[0]

    @property
    def losses(self) -> np.ndarray:
        """(starts,) losses, ascending; those of the rounding of v* in the order of the starts."""
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
        found = [each.total for each in self.allocations]
        return min(found), max(found)

    @cached_property
    def profile(self) -> np.ndarray:
        """(3, n) capacity of every input: at the best optimum, and the least and the largest over those that tie.

        Of every octave of lag, where the allocation lists no inputs.
        """
        found = np.array([getattr(each, "per_input", each.per_octave) for each in self.allocations])
        return np.array([found[0], found.min(axis=0), found.max(axis=0)])

    def words(self) -> str:
        """One to three sentences: how many starts agree, and what they differ in."""
        count, tied = len(self.fits), len(self.allocations)
        if count == 1:
            said = ["one start" + (", as its inputs are many" if self.arch.n_inputs > LONGEST else "")]
        elif self.n_agreeing == count:
            attained = self.losses.max() <= EPS * self.variance
            said = [f"all {count} starts {'attain the target' if attained else 'end at the same optimum'}"]
        elif tied == count:
            said = [f"all {count} starts reach the same loss, at different coefficients"]
        else:
            said = [f"{count - tied} of {count} starts end {self._elsewhere(self.fits[tied:])}"]
            if tied == 1:
                said.append("only one reaches the best loss, so more starts may find a better one")
        if self.n_converged < count:
            said.append(f"{count - self.n_converged} of {count} did not converge")
        least, most = self.totals
        if least < most:
            said.append(f"optima of the best loss have capacities from {least} to {most}")
        elif self.allocations[0].generic_total not in (None, least):
            said.append(f"the capacity {least} is not the generic {self.allocations[0].generic_total}")
        return f"{self.name}: {'; '.join(said)}."

    def _elsewhere(self, others: Sequence[Fit]) -> str:
        where = "in local optima" if all(fit.converged for fit in others) else "higher"
        worst, floor = others[-1].loss, EPS * self.variance
        if self.best.loss <= floor:
            return f"{where}, up to {worst / self.variance:.1e} of the least variance; the best attain the target"
        times = worst / self.best.loss
        return f"{where}, up to {f'{times:.1f}' if times < 100 else f'{times:,.0f}'} times the best loss"


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
        return f"Comparison({', '.join(f'{name}: {each.best.loss:.2e}' for name, each in self.models.items())})"

    def __str__(self) -> str:
        return self.table()

    def __getitem__(self, name: str) -> Optima:
        return self.models[name]

    @property
    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                "model": each.name,
                "inputs": each.arch.n_inputs,
                "weights": each.arch.n_params,
                "loss": each.best.loss,
                "loss/v*": each.best.loss / each.variance,
                "worst": each.losses.max(),
                "starts": len(each.fits),
                "agree": each.n_agreeing,
                "converged": each.n_converged,
                "optima": each.n_optima,
                "least capacity": each.totals[0],
                "most capacity": each.totals[1],
            }
            for each in self.models.values()
        ]

    def table(self) -> str:
        """A row for each model, as text, and below it what has to be said in words."""
        head, *body = self._cells()
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in (head, *body)
        ]
        return "\n".join([*lines, "", *(each.words() for each in self.models.values())])

    def to_dataframe(self) -> pandas.DataFrame:
        """The table with a row for each model, named after it."""
        import pandas

        return pandas.DataFrame(self._rows).set_index("model")

    def plot(self) -> Figure:
        """One picture: losses of all starts, and the capacity of every input with its range. Needs matplotlib."""
        from capcore.plotting import plot_comparison

        return plot_comparison(self.models)

    def _repr_html_(self) -> str:
        from html import escape

        head, *body = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self._cells()]
        rows = "".join(f"<tr>{row}</tr>" for row in body)
        words = "".join(f"<li>{escape(each.words())}</li>" for each in self.models.values())
        table = f"<table><caption>Comparison</caption><tr>{head.replace('td>', 'th>')}</tr>{rows}</table>"
        return f"{table}<ul>{words}</ul>"

    def _cells(self) -> list[list[str]]:
        shown: dict[str, Callable[[dict[str, Any]], str]] = {
            "model": lambda row: str(row["model"]),
            "inputs": lambda row: f"{row['inputs']:,}",
            "weights": lambda row: f"{row['weights']:,}",
            "best loss": lambda row: f"{row['loss']:.2e}",
            "worst": lambda row: f"{row['worst']:.2e}",
            "agree": lambda row: f"{row['agree']}/{row['starts']}",
            "optima": lambda row: str(row["optima"]),
            "capacity": lambda row: _range(row["least capacity"], row["most capacity"]),
        }
        return [[*shown], *([cell(row) for cell in shown.values()] for row in self._rows)]


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
    >>> found = compare({"c = 1": Hierarchical(1, 4), "c = 2": Hierarchical(2, 4)}, PowerLaw(), starts=3)
    >>> print(found)  # doctest: +NORMALIZE_WHITESPACE
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
        verbs.check_kinds(arch)
    process = as_process(process, "process")
    for name in ("start", "n_starts"):
        if name in options:
            raise ValueError(f"{name}: found {options[name]!r}, expected none: compare chooses the starts; see starts.")
    workers = _processors() if workers is None else positive_integer(workers, "workers")
    drawn = np.random.default_rng(0 if rng is None else rng).integers(2**63, size=count)
    seeds = [int(seed) for seed in drawn]
    method = options.get("method", "auto")
    jobs = [(name, i) for name, arch in models.items() for i in range(_starts_of(arch, process, method, count))]

    def one(job: tuple[str, int]) -> Fit:
        name, i = job
        start = "random" if i else "auto"
        return verbs.fit(models[name], process, start=start, rng=seeds[i], **options)

    fits = _in_threads(one, jobs, workers, progress)
    by_name: dict[str, list[tuple[int, Fit]]] = {name: [] for name in models}
    for (name, i), fit in zip(jobs, fits, strict=True):
        by_name[name].append((i, fit))
    ends = {name: _groups(models[name], process, found) for name, found in by_name.items()}
    tied = [(name, i) for name, (found, _, count) in ends.items() for i in range(count)]

    def capacity(job: tuple[str, int]) -> Allocation:
        name, i = job
        with quiet():  # what a warning would say is in the words
            return verbs.allocate(models[name], ends[name][0][i][1], process)

    capacities = dict(zip(tied, _in_threads(capacity, tied, workers, progress), strict=True))
    return Comparison(
        process,
        {
            name: Optima(
                name,
                models[name],
                [fit for _, fit in found],
                [i for i, _ in found],
                groups,
                [capacities[name, i] for i in range(count)],
            )
            for name, (found, groups, count) in ends.items()
        },
    )


def _starts_of(arch: Any, process: Any, method: object, starts: int) -> int:
    """How many starts a model is given."""
    chosen = verbs.fit_method(arch, process, "auto") if method == "auto" else method
    long = chosen == "riemannian-newton" and arch.n_inputs > LONGEST
    return 1 if long or chosen == "octaves" else starts


def _processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_threads(work: Callable[[Any], Any], jobs: Sequence[Any], workers: int, progress: bool) -> list[Any]:
    """The answers in the order of the jobs."""
    return list(tqdm(in_threads(work, jobs, workers), total=len(jobs), unit="fit", disable=not progress))


def _groups(
    arch: Architecture, process: Any, found: Sequence[tuple[int, Fit]]
) -> tuple[list[tuple[int, Fit]], list[int], int]:
    """The fits by loss, the optimum that each is at, and how many tie for the best loss."""
    if len(found) == 1:
        return [*found], [0], 1
    floor = EPS * min(fit.variance for _, fit in found)
    ordered = sorted(found, key=lambda each: (max(each[1].loss, floor), each[0]))
    fits = [fit for _, fit in ordered]
    product = covariance_product(process, arch.n_inputs, arch.input_dim)

    def same_loss(first: Fit, second: Fit) -> bool:
        return second.loss <= max((1 + STATIONARY**2) * first.loss, floor)

    def same(first: Fit, second: Fit) -> bool:
        gap = (first.coefficients - second.coefficients)[:, None]
        squared = float(gap[:, 0] @ product(gap)[:, 0])
        return same_loss(first, second) and squared <= max(4 * STATIONARY**2 * first.loss, 4 * floor)

    firsts: list[Fit] = []
    groups = []
    for fit in fits:
        near = next((k for k, first in enumerate(firsts) if same(first, fit)), len(firsts))
        if near == len(firsts):
            firsts.append(fit)
        groups.append(near)
    return ordered, groups, sum(same_loss(fits[0], fit) for fit in fits)


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"
