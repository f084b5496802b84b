"""Random stacks beside their bounds, ratios to searches, and what a design says of a series."""

import re
from pathlib import Path

import numpy as np
import pytest

import capcore as cc
from capcore.designs.bonds import bond_table
from chapters.design_certificate import study
from chapters.kit.stored import stored

ROOT = Path(__file__).parents[3]


def test_random_stacks_lose_at_least_their_bound():
    found = study.tried(cc.PowerLaw(), bond_table(cc.PowerLaw(), 32), 24, 20, seed=0)
    assert found.below == 0 and found.factor >= 1 - 1e-9 and found.rank_correlation > 0.8
    assert np.all(found.sums >= found.bounds)


def test_a_stack_below_its_bound_is_counted():
    table = bond_table(cc.PowerLaw(), 32)
    for row in table.losses.values():
        row += table.variance
    assert study.tried(cc.PowerLaw(), table, 24, 5, seed=0).below == 5


def cell(design, *losses):
    return {"design": design, "random": list(losses)}


def test_ratios_count_each_process_once():
    values = {
        "a": {"cells": {"1": cell(1.0, 4.0), "2": cell(1.0, 4.0), "3": cell(1.0, 4.0)}},
        "b": {"cells": {"1": cell(1.0, 1.0, 1.0, 9.0)}},
        "rounding": {"cells": {"1": cell(1e-16, 1e-15)}},
    }
    found = study.compared(values, "random")
    assert (found.won, found.cells, found.mean) == (3, 4, pytest.approx(0.5)) and found.share == 0.75
    assert found.low == pytest.approx(0.25) and found.high == pytest.approx(1.0)


def test_equal_stacks_are_no_gain():
    values = {"a": {"cells": {"1": cell(1.0, 1.0 + 1e-9), "2": cell(1.0, 1.02)}}}
    assert study.ahead(values, "random") == 1 and study.compared(values, "random").won == 2


def test_a_loss_of_rounding_beside_one_that_is_not_decides():
    found = study.ratios({"a": {"cells": {"1": cell(0.0, 1e-10)}}}, "random")
    assert found["a"] == pytest.approx([1e-4])


def test_two_scales_are_compared_with_the_bound():
    values = {"a": {"cells": {"8": {"pools": 1.0, "bound": 2.0}}}, "b": {"cells": {"8": {"pools": 2.0, "bound": 1.0}}}}
    assert study.two_scales(values, 8) == 1
    below = {"a": {"cells": {"8": {"pools": 1.0, "bound": 2.0, "proven": 1.5}}}}
    above = {"b": {"cells": {"8": {"pools": 1.0, "bound": 2.0, "proven": 0.5}}}}
    assert study.two_scales(below, 8, "proven") == 1 and study.two_scales(above, 8, "proven") == 0


def test_the_stored_rows_say_both_bounds():
    rows = [
        study.scales_row(size, budget, values)
        for size, values in stored("design_search")["values"].items()
        for budget in stored("design_search")["settings"]["sizes"][size]
    ]
    assert all(each.proven <= each.fitted <= 7 and each.visible <= each.fitted for each in rows)
    assert all(each.margin <= study.VISIBLE for each in rows)
    assert rows[0].shown(7)["below the proven bound"] == f"{rows[0].proven} of 7"


def test_at_equal_capacity_a_stack_can_be_better():
    """Three channels between 8 and 16: 72 weights, less nine for a change of basis; pools of 64 lose more."""
    stack, process = study.at_equal_capacity(), cc.PowerLaw(0.5)
    assert stack.capacity == 72 - 9
    splits = [cc.fit(cc.NearAndPools(near, 64 - near, 128), process).loss for near in (16, 32, 48)]
    assert stack.loss < min(splits) / process.predictor(128)[1]


def test_near_taps_and_pools_enter_where_no_stack_does():
    assert study.enters(cc.design(cc.PowerLaw(), n_inputs=32, max_params=24))
    with pytest.warns(UserWarning, match="without loss"):
        attained = cc.design(cc.AR1(0.5), n_inputs=32, max_params=24)
    assert not study.enters(attained)


def test_the_page_on_the_bound_prints_what_it_shows(capsys):
    """Either sign of the free entry is a local optimum: the losses have two values."""
    page = (ROOT / "book" / "design_bound.md").read_text("utf8")
    (code,), (shown,) = (re.findall(rf"```{kind}\n(.*?)```", page, re.S) for kind in ("python", "text"))
    exec(code, {})
    assert capsys.readouterr().out == shown
