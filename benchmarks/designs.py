"""A design by the bond table: against random search with as many fits, and whole, for thousands of inputs."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import Row, best_of
from capcore.architectures import Hierarchical
from capcore.designs.bonds import STARTS, bond_table
from capcore.designs.choosing import design
from capcore.large.fit import fit_large
from capcore.large.quadratic import ToeplitzProblem
from capcore.processes import PowerLaw
from chapters.design_bound.design_search import designs
from chapters.design_bound.searches import Purse, at_random
from chapters.design_bound.stacks import Stack

PROCESS = PowerLaw()
TRIED = 12  # stacks that a design fits
LIMIT = 120.0  # seconds that a design of thousands of inputs may take


def rows(quick: bool = False) -> Iterator[Row]:
    """Power law with exponent ½."""
    yield _against_random_search(*((32, 24) if quick else (128, 64)))
    yield _whole(*((64, 24) if quick else (4096, 256)))


def _against_random_search(n_inputs: int, budget: int) -> Row:
    """Three starts of each entry of the table and twelve stacks, against as many random stacks."""
    problem = ToeplitzProblem.of(PROCESS, n_inputs)

    def loss(stack: Stack) -> float:
        return fit_large(Hierarchical(list(stack[1]), kernel_size=list(stack[0])), problem, max_iterations=60).loss

    def ours() -> tuple[float, int]:
        table = bond_table(PROCESS, n_inputs)
        return min(map(loss, designs(table, budget, TRIED))), table.n_fits * (1 + STARTS) + TRIED

    seconds, (found, fits) = best_of(ours)
    peer_seconds, theirs = best_of(lambda: at_random(Purse(loss, fits), n_inputs, budget, seed=0))
    work = f"best stack of {budget} parameters, n = {n_inputs:,}, by the bond table"
    name = f"random search with as many fits, {fits}"
    agreement = f"loss over that of the search {found / theirs:.2f}"
    return Row(work, name, seconds, peer_seconds, agreement, found <= theirs * (1 + 1e-6))


def _whole(n_inputs: int, budget: int) -> Row:
    """``cc.design`` with its usual families."""
    seconds, found = best_of(lambda: design(PROCESS, n_inputs=n_inputs, max_params=budget))
    lost = found.best.loss / found.variance
    work = f"design of {budget} parameters, n = {n_inputs:,}: {len(found.candidates)} models of four families"
    agreement = f"{found.best.words}, loss {lost:.0e} v*; at most {LIMIT:.0f} s"
    return Row(work, "none: no other program bounds what it finds", seconds, None, agreement, seconds < LIMIT)
