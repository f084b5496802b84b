"""What the chapter computes beside its long experiments: random stacks and their bounds, ratios, usual stacks."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from capcore import Design, Hierarchical, Process
from capcore.designs.bonds import TIGHT, BondTable
from capcore.large.fit import fit_large
from chapters.design_certificate.stacks import Stack, arch_of, random_stack

FLOOR = 1e-14  # of v*: below it losses are rounding
VISIBLE = 1e-3  # of v*: margins that a plot of forecasts would show
DRAWS = 10_000  # of the bootstrap


class Tried(NamedTuple):
    """Random stacks with their losses and the largest of their table's entries, (m,) each, over v*."""

    losses: np.ndarray
    bounds: np.ndarray

    @property
    def below(self) -> int:
        """How many lose less than their bound."""
        return int(np.sum(self.losses < self.bounds - TIGHT))


def tried(process: Process, table: BondTable, budget: int, count: int, seed: int) -> Tried:
    """So many random stacks of most of a budget, fitted."""
    rng, rows = np.random.default_rng(seed), []
    for _ in range(count):
        stack = random_stack(table.n_inputs, min(budget, table.n_inputs), rng)
        rows.append((loss(process, stack), table.bound(arch_of(stack))))
    return Tried(*np.array(rows).T / table.variance)


def loss(process: Process, stack: Stack) -> float:
    """The loss of a stack at its optimum."""
    return fit_large(arch_of(stack), process, max_iterations=60).loss


class Ratio(NamedTuple):
    """The design's loss over a search's: cells won, those that decide, the mean ratio and its interval."""

    won: int
    cells: int
    mean: float
    low: float
    high: float

    @property
    def share(self) -> float:
        """Of the cells that decide, those in which the design loses less."""
        return self.won / self.cells


def ratios(values: Mapping[str, Any], search: str) -> dict[str, np.ndarray]:
    """Process → (k,) ratios of the design's loss and the median of a search, in the cells that decide."""
    of_process = {}
    for name, process in values.items():
        cells = process["cells"].values()
        pairs = [(max(cell["design"], FLOOR), max(float(np.median(cell[search])), FLOOR)) for cell in cells]
        of_process[name] = np.array([ours / theirs for ours, theirs in pairs if max(ours, theirs) > FLOOR])
    return {name: quotients for name, quotients in of_process.items() if quotients.size}


def compared(values: Mapping[str, Any], search: str, seed: int = 0) -> Ratio:
    """The geometric mean of :func:`ratios`, each process once, with its 95 % bootstrap interval over processes.

    >>> cell = {"design": 1.0, "random": [2.0, 4.0, 8.0]}
    >>> compared({"a": {"cells": {"40": cell}}, "b": {"cells": {"40": cell}}}, "random")
    Ratio(won=2, cells=2, mean=0.25, low=0.25, high=0.25)
    """
    of_process = ratios(values, search)
    logs = np.array([np.log(quotients).mean() for quotients in of_process.values()])
    draws = np.random.default_rng(seed).choice(logs, size=(DRAWS, logs.size)).mean(axis=1)
    low, high = np.exp(np.quantile(draws, [0.025, 0.975])).tolist()
    every = np.concatenate(list(of_process.values()))
    return Ratio(int(np.sum(every < 1)), every.size, float(np.exp(logs.mean())), low, high)


def ahead(values: Mapping[str, Any], search: str) -> int:
    """Cells in which the design loses less than a search by a per cent or more: beyond the rounding of equal stacks."""
    return sum(int(np.sum(quotients < 0.99)) for quotients in ratios(values, search).values())


def enters(plan: Design) -> bool:
    """Whether near taps and pools of some size lose less than the fitted bound of stacks of at most that size."""
    pools = [candidate for candidate in plan.candidates if candidate.family == "near and pools"]
    return any(
        pool.loss < min((bound for size, bound in plan.wall if size <= pool.n_params), default=np.inf)
        for pool in pools
        if pool.n_params >= plan.wall[0][0]
    )


class Scales(NamedTuple):
    """Near taps and pools of one size: in how many processes they lose less than either bound, and by how much.

    Attributes
    ----------
    inputs, parameters : int
    fitted, proven : int
        Processes in which they are below the fitted bound, and below the proven one.
    visible : int
        Processes with a margin of more than 0.001 v* to the fitted bound.
    margin : float
        The largest of the other margins, over v*.
    """

    inputs: int
    parameters: int
    fitted: int
    proven: int
    visible: int
    margin: float

    def shown(self, of: int) -> dict[str, str]:
        """A row of the page's table."""
        return {
            "inputs": f"{self.inputs}",
            "parameters": f"{self.parameters}",
            "below the fitted bound": f"{self.fitted} of {of}",
            "below the proven bound": f"{self.proven} of {of}",
            "by more than 0.001 v*": f"{self.visible} of {of}",
        }


def scales_row(inputs: str, budget: int, values: Mapping[str, Any]) -> Scales:
    """Near taps and pools of one size against the bounds of stacks.

    >>> cells = [{"pools": 0.0, "bound": gap, "proven": -gap} for gap in (0.1, 1e-5)]
    >>> scales_row("64", 8, {name: {"cells": {"8": cell}} for name, cell in zip("ab", cells)})
    Scales(inputs=64, parameters=8, fitted=2, proven=0, visible=1, margin=1e-05)
    """
    cells = [series["cells"][str(budget)] for series in values.values()]
    gaps, proven = ([cell[bound] - cell["pools"] for cell in cells] for bound in ("bound", "proven"))
    visible, least = (sum(gap > margin for gap in gaps) for margin in (VISIBLE, 0))
    margin = max((gap for gap in gaps if gap <= VISIBLE), default=0.0)
    return Scales(int(inputs), budget, least, sum(gap > 0 for gap in proven), visible, margin)


def usual(process: Process, n_inputs: int, most: int) -> list[tuple[int, float]]:
    """(parameters, loss over v*) of stacks of kernel 2 with equal channels in all layers, up to so many parameters."""
    layers, unit, points = n_inputs.bit_length() - 1, process.predictor(n_inputs)[1], []
    for channels in range(1, most):
        arch = Hierarchical(channels, layers)
        if arch.n_params > most:
            break
        reached = loss(process, ((2,) * layers, (channels,) * (layers - 1))) / unit
        points.append((arch.n_params, max(reached, FLOOR)))
    return points
