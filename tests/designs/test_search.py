"""The dynamic programme finds what listing all stacks finds."""

import operator
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore as cc
from capcore.designs.bonds import BondTable, bonds, divisors
from capcore.designs.search import Skeleton, best_stacks, undominated


def random_table(n, most, rng):
    losses = {m: np.sort(rng.random(min(m, n // m, most)))[::-1] for m in divisors(n)}
    return BondTable(n, 1.0, losses, {}, 0)


def every_stack(table, join):
    """(parameters, score) of all stacks whose channels are attainable ranks of the table."""
    found = []
    cuts = list(table.losses)
    for chosen in product([False, True], repeat=len(cuts)):
        chain = [1, *(m for m, use in zip(cuts, chosen, strict=True) if use), table.n_inputs]
        if any(b % a for a, b in pairwise(chain)):
            continue
        kernels = [b // a for a, b in pairwise(chain)]
        for channels in product(*(range(1, len(table.losses[m]) + 1) for m in chain[1:-1])):
            arch = cc.Hierarchical(list(channels), kernel_size=kernels)
            if [rank for _, rank in bonds(kernels, channels)] != list(channels):
                continue
            entries = [table.losses[m][r - 1] for m, r in zip(chain[1:-1], channels, strict=True)]
            found.append((arch.n_params, join(entries) if entries else 0.0))
    return found


@pytest.mark.parametrize("join", [operator.add, max])
@pytest.mark.parametrize("n", [8, 12, 16])
def test_it_is_exact(n, join, rng):
    table = random_table(n, 4, rng)
    listed = every_stack(table, max if join is max else sum)
    for keep in (1, 3):
        found = best_stacks(table, 60, keep, join)
        for budget in range(2, 61):
            expected = sorted(score for params, score in listed if params <= budget)[:keep]
            got = sorted(each.score for each in found if each.n_params <= budget)[:keep]
            np.testing.assert_allclose(got, expected)


def test_what_is_found_is_a_stack_of_that_size(rng):
    table = random_table(16, 4, rng)
    for each in best_stacks(table, 80):
        arch = cc.Hierarchical(list(each.channels), kernel_size=list(each.kernel_sizes))
        assert (arch.n_params, arch.n_inputs) == (each.n_params, 16)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12), st.integers(1, 3))
def test_undominated(pairs, keep):
    found = undominated([Skeleton(s, p, (), ()) for s, p in pairs], keep)
    for budget in range(6):
        expected = sorted(s for s, p in pairs if p <= budget)[:keep]
        assert sorted(each.score for each in found if each.n_params <= budget)[:keep] == expected
