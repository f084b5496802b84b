"""What the walls cover, where they end, and what a fit below an entry does to it."""

import re

import numpy as np
import pytest

import capcore as cc
from capcore.designs.bonds import BondTable, bond_table, divisors
from capcore.designs.search import mended, wall
from tests.designs.test_search import every_stack

TASK = cc.PowerLaw()


def of_rank_nine(rng, blocks, size):
    """An autoregression whose coefficients are a matrix of rank 9, with a row for each block."""
    found = rng.normal(size=(blocks, 9)) @ rng.normal(size=(9, size))
    return cc.AutoRegressive(0.9 * found.ravel() / np.abs(found).sum())


def of_rank_one():
    """AR(9) whose nine coefficients are a product of rank 1, A_{3k+i} = V_k U_i."""
    return cc.AutoRegressive(np.kron([0.5, 0.25, 0.15], [0.6, 0.2, 0.2]))


def test_the_report_names_the_stacks_that_it_bounds():
    """A stack of kernels 3 and 3 has six weights and no loss; what is said of 16 inputs is not said of it."""
    process = of_rank_one()
    small = cc.Hierarchical(1, kernel_size=[3, 3])
    left = cc.fit(small, process).loss + process.predictor(9)[1] - process.predictor(16)[1]
    assert small.n_params == 6 and left == pytest.approx(0, abs=1e-9)
    found = cc.design(process, max_params=8, n_inputs=16, families=["stacks"])
    assert found.wall[-1][1] > 1e-6 * found.variance and found.proven_wall[-1][1] > 0
    text = found.report()
    told = re.findall(r".*lose at least.*|.*loses less.*|.*weights:$", text, re.M)
    assert told[0] == ("Stacks without overlap or skip connections whose kernels multiply to 16, of at most 8 weights:")
    assert len(told) == 2 and "which may be too high" in told[1] and "proven: " in told[1]
    covered = [cc.Hierarchical(1, kernel_size=kernels) for kernels in ([4, 4], [2, 2, 4], [2, 2, 2, 2])]
    for arch in (each for each in covered if each.n_params <= 8):
        assert cc.fit(arch, process).loss >= found.wall[-1][1] * (1 - 1e-9)


def test_ranks_beyond_the_table_are_not_claimed_to_cost(rng):
    """With 512 inputs nine channels take 432 weights and leave no loss, which a table of eight would deny."""
    process = of_rank_nine(rng, 32, 16)
    table = bond_table(process, 512)
    arch = cc.Hierarchical(9, kernel_size=[16, 32])
    assert arch.n_params == 432 and table.bound(arch) == 0
    loss = cc.fit(arch, process).loss
    claimed = {budget: wall(table, budget)[-1][1] for budget in (200, 432)}
    assert loss == pytest.approx(0, abs=1e-12)
    assert claimed[200] > 1e-9 and claimed[432] == 0


@pytest.mark.parametrize("n", [16, 36])
def test_the_walls_are_those_of_all_stacks(n, rng):
    """By listing all stacks of all ranks, where all but the first cost nothing, and where they cost less and less."""
    full = {m: np.sort(rng.random(min(m, n // m)))[::-1] for m in divisors(n)}
    free = {m: np.r_[row[:1], np.zeros(len(row) - 1)] for m, row in full.items()}
    table = BondTable(n, 1.0, free, full, 0)
    for found, losses in ((wall(table, n), free), (wall(table, n, proven=True), full)):
        listed = every_stack(BondTable(n, 1.0, losses, {}, 0), max)
        for budget in range(found[0][0], n + 1):
            bound = [each for at, each in found if at <= budget][-1]
            assert bound == pytest.approx(min(score for params, score in listed if params <= budget))
    assert wall(BondTable(n, 1.0, free, {}, 0), n, proven=True) == []


def test_an_entry_that_a_stack_is_below_is_lowered():
    table = bond_table(TASK, 16)
    stack = cc.Hierarchical(1, kernel_size=[4, 4])
    loss, before = cc.fit(stack, TASK).loss, table.losses[4].copy()
    assert mended(table, [(stack, loss)]) == 0
    table.losses[4][:2] = 1.0
    assert table.bound(stack) > loss and mended(table, [(stack, loss)]) == 2
    assert table.bound(stack) == min(loss, 1.0) == pytest.approx(before[0], rel=1e-7)
    assert mended(table, [(stack, loss)]) == 0


def test_a_violation_is_mended(monkeypatch):
    """With entries a thousandth of v* too high, stacks go below, and entries are lowered."""
    from capcore.designs import families

    def wrong(*task):
        table = bond_table(*task)
        for row in table.losses.values():
            row += 1e-3 * table.variance
        return table

    monkeypatch.setattr(families, "bond_table", wrong)
    found = cc.design(TASK, n_inputs=32, max_params=24)
    stacks = [each for each in found.candidates if each.family == "stacks"]
    assert all(each.bound <= each.loss for each in stacks)
