"""Stacks, searches and bounds: laws, and what is stored made again in part."""

import importlib.util
import re

import numpy as np
import pytest

import capcore as cc
from capcore.designs.bonds import bond_table, bonds
from chapters.design_bound import design_search, study
from chapters.design_bound import figures as draw
from chapters.design_bound.searches import SEARCHES, TRIES, Purse
from chapters.design_bound.stacks import changed, channels_of, random_stack, size, stack_of
from chapters.kit.stored import stored
from chapters.shared.named_processes import named
from tests.listings import cells

SEARCHED = stored("design_search")


VALUES, SETTINGS = SEARCHED["values"], SEARCHED["settings"]


def test_a_quick_search_has_what_the_page_reads():
    quick = design_search.SETTINGS | design_search.QUICK
    (values,) = design_search.run(quick).values()
    assert list(values) == ["power law, exponent 0.5", "music-like"]
    for process in values.values():
        assert process["below"] == 0 and max(process["spent"].values()) <= process["fits"]
        (cell,) = process["cells"].values()
        assert cell["proven"] <= cell["bound"] * (1 + 1e-9) <= cell["design"] * (1 + 2e-9)
        assert len(cell["random"]) == len(quick["seeds"])


@pytest.mark.parametrize(
    "n_inputs", [pytest.param(n, marks=pytest.mark.slow if n == "128" else pytest.mark.ci) for n in VALUES]
)
def test_the_stored_cells_are_those_of_the_criterion(n_inputs):
    assert SETTINGS == design_search.SETTINGS and len(VALUES[n_inputs]) == 7 and len(SETTINGS["seeds"]) == 5
    cells = [cell for process in VALUES[n_inputs].values() for cell in process["cells"].values()]
    assert len(cells) == 21
    for name, process in VALUES[n_inputs].items():
        table = bond_table(named()[name], int(n_inputs))
        assert process["fits"] == 3 * table.n_fits + SETTINGS["tried"] >= max(process["spent"].values())
        for budget, cell in process["cells"].items():
            kernels, channels = cell["stack"]
            assert size((tuple(kernels), tuple(channels))) <= int(budget) and np.prod(kernels) == int(n_inputs)
            lowest = min(cell["design"], *(loss for search in SETTINGS["searches"] for loss in cell[search]))
            assert cell["bound"] <= lowest + 1e-9 and cell["proven"] <= cell["bound"] + 1e-12


def test_the_wall_lies_below_all_stacks(ax):
    result = cc.design(cc.PowerLaw(), n_inputs=32, max_params=24)
    draw.plot_wall(result, ax)
    (grey,) = ax.collections
    (edge,) = grey.get_paths()
    stacks = next(line for line in ax.lines if line.get_label() == "stacks")
    sizes, losses = np.array(stacks.get_data())
    assert not edge.contains_points(np.c_[sizes, 1.001 * losses]).any()
    assert edge.contains_points([(sizes[0] + 0.5, result.wall[0][1] / result.variance / 2)]).all()
    labels = {line.get_label() for line in ax.lines if not line.get_label().startswith("_")}
    assert labels == {look["label"] for look in draw.LOOKS.values()}
    (proven,) = (line for line in ax.lines if line.get_linestyle() == "--" and line.get_label().startswith("_"))
    at, level = proven.get_data()
    assert edge.contains_points(np.c_[np.add(at[:-1], 0.01), level[:-1]]).all()


INSTALLED = importlib.util.find_spec("optuna") is not None


OWN = [name for name in SEARCHES if name != "tpe" or INSTALLED]


def target(stack):
    """A loss that more channels at the last bond lower."""
    return 1 / (1 + stack[1][-1]) + len(stack[0])


@pytest.mark.parametrize("name", OWN)
def test_a_search_spends_its_fits_on_different_stacks(name):
    purse = Purse(target, 20)
    least = SEARCHES[name](purse, 64, 32, 0)
    assert len(purse.losses) <= 20 and purse.asked <= TRIES * 20 + 1
    assert len(purse.losses) == 20 or purse.asked >= TRIES * 20
    assert least == min(map(target, purse.losses)) == purse.least
    assert all(size(stack) <= 32 for stack in purse.losses)


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


def cell(design, *losses):
    return {"design": design, "random": list(losses)}


def test_ratios_count_each_process_once():
    values = {
        "a": {"cells": {"1": cell(1.0, 4.0), "2": cell(1.0, 4.0), "3": cell(1.0, 4.0)}},
        "b": {"cells": {"1": cell(1.0, 1.0, 1.0, 9.0)}},
        "rounding": {"cells": {"1": cell(1e-16, 1e-15)}},
    }
    comparison = study.compared(values, "random")
    assert (comparison.won, comparison.cells, comparison.mean) == (
        3,
        4,
        pytest.approx(0.5),
    ) and comparison.share == 0.75
    assert comparison.low == pytest.approx(0.25) and comparison.high == pytest.approx(1.0)


def test_the_page_on_the_bound_prints_what_it_shows(capsys):
    """Either sign of the free entry is a local optimum: the losses have two values."""
    page = "\n".join(cell.source for cell in cells("design_bound"))
    (code,), (shown,) = (re.findall(rf"```{kind}\n(.*?)```", page, re.S) for kind in ("python", "text"))
    exec(code, {})
    assert capsys.readouterr().out == shown
