"""Stacks as searches handle them are those of the package, and changes stay within the budget."""

import numpy as np
import pytest

import capcore as cc
from capcore.designs.bonds import bonds
from chapters.design_certificate.stacks import changed, channels_of, depth, random_stack, size, stack_of, within


def architecture(stack):
    return cc.Hierarchical(list(stack[1]), kernel_size=list(stack[0]))


@pytest.mark.parametrize("n", [16, 64, 128])
def test_random_stacks_and_their_changes(n, rng):
    budget = n // 2
    for _ in range(40):
        stack = random_stack(n, budget, rng)
        arch = architecture(stack)
        assert (arch.n_inputs, arch.n_params) == (n, size(stack)) and 0.8 * budget <= size(stack) <= budget
        assert [rank for _, rank in bonds(*stack)] == list(stack[1])
        assert stack_of(channels_of(stack), n) == stack
        other = changed(stack, n, budget, rng)
        assert other != stack and size(other) <= budget and architecture(other).n_inputs == n


def test_every_proposal_is_brought_within_the_budget(rng):
    for _ in range(60):
        asked = {cut: int(width) for cut in range(1, depth(64)) if (width := rng.integers(0, 9))}
        found = within(asked, 64, 20)
        assert size(found) <= 20 and found[1]
        assert set(channels_of(found)) >= set(asked)
    fitting = stack_of({2: 2, 4: 1}, 64)
    assert within(channels_of(fitting), 64, size(fitting)) == fitting


def test_a_budget_below_the_smallest_stack_is_refused():
    with pytest.raises(ValueError, match="found 11, expected at least 12"):
        within({}, 64, 11)


def test_all_kinds_of_changes_occur():
    rng, stack = np.random.default_rng(0), stack_of({2: 2, 4: 2}, 64)
    found = [channels_of(changed(stack, 64, 200, rng)) for _ in range(80)]
    assert {len(each) for each in found} >= {1, 2, 3}
    assert any(len(each) == 2 and sum(each.values()) != 4 for each in found)
