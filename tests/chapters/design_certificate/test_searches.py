"""Searches spend what they have and no more, and find what is there to be found."""

import importlib.util

import pytest

from chapters.design_certificate.searches import SEARCHES, TRIES, Purse, tpe
from chapters.design_certificate.stacks import channels_of, size

INSTALLED = importlib.util.find_spec("optuna") is not None
OWN = [name for name in SEARCHES if name != "tpe" or INSTALLED]


def target(stack):
    """A loss that more channels at the last bond lower."""
    return 1 / (1 + stack[1][-1]) + len(stack[0])


@pytest.mark.parametrize("name", OWN)
def test_a_search_spends_its_fits_on_different_stacks(name):
    purse = Purse(target, 20)
    least = SEARCHES[name](purse, 64, 32, 0)
    assert len(purse.found) <= 20 and purse.asked <= TRIES * 20 + 1
    assert len(purse.found) == 20 or purse.asked >= TRIES * 20
    assert least == min(map(target, purse.found)) == purse.least
    assert all(size(stack) <= 32 for stack in purse.found)


def test_a_stack_that_was_fitted_costs_nothing():
    called = []
    purse = Purse(lambda stack: called.append(stack) or 1.0, 2)
    stack = ((8, 8), (1,))
    assert purse.loss(stack) == purse.loss(stack) == 1.0 and called == [stack] and not purse.spent
    purse.loss(((4, 16), (1,)))
    assert purse.spent


def test_evolution_finds_better_ones_than_chance():
    wanted = {1: 2, 2: 3, 4: 3, 5: 2}

    def distance(stack):
        found = channels_of(stack)
        return sum(abs(found.get(cut, 0) - wanted.get(cut, 0)) for cut in range(1, 7))

    def at(name):
        return [SEARCHES[name](Purse(distance, 60), 128, 96, seed) for seed in range(6)]

    assert sum(at("evolution")) < sum(at("random"))


@pytest.mark.skipif(INSTALLED, reason="optuna is installed here")
def test_without_optuna_its_search_says_so():
    with pytest.raises(ModuleNotFoundError, match="optuna"):
        tpe(Purse(target, 3), 64, 32, 0)
