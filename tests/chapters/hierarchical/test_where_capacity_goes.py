"""The data of the explorer: the orders of the dilations, the symmetry of one of them, and what is stored."""

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.optimum import Problem, fit
from capcore.processes import PowerLaw
from chapters.hierarchical.where_capacity_goes import (
    QUICK,
    SETTINGS,
    digit_start,
    dilations_in,
    full_width,
    name_of,
    run,
    stack,
    summary,
)
from chapters.stored import stored


@pytest.fixture(scope="module")
def values():
    return stored("where_capacity_goes")["values"]


def profile(entry, n):
    return np.array(entry["per_input"].split(), dtype=int) if entry["per_input"] else np.full(n, 1000)


@pytest.mark.parametrize("depth", range(1, 8))
@pytest.mark.parametrize("order", SETTINGS["orders"])
def test_every_order_holds_each_dilation_once(order, depth):
    assert sorted(dilations_in(order, depth)) == [2**l for l in range(depth)]


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match="found 'fine', expected one of"):
        dilations_in("fine", 3)


@pytest.mark.parametrize("depth", SETTINGS["depths"])
def test_full_width_is_the_first_at_which_every_input_counts(depth):
    widest = full_width(depth)
    assert stack(widest, "fine first", depth).generic_capacity() == 2**depth
    assert stack(widest - 1, "fine first", depth).generic_capacity() < 2**depth


@pytest.mark.parametrize("order", SETTINGS["orders"])
def test_the_start_has_the_coefficients_where_the_model_can(order, rng):
    """At full width the TT-SVD in the order of the dilations is the target itself, at its lags."""
    arch, target = stack(2, order, 3), rng.normal(size=8)
    np.testing.assert_allclose(arch.coefficients(digit_start(arch, target, 0)), target, atol=1e-12)


def test_coarse_first_is_the_same_model_read_from_the_other_end(values):
    lists = [[2, 4, 6, 4, 2], *range(1, 9)]
    for channels in lists:
        back = channels[::-1] if isinstance(channels, list) else channels
        fine, coarse = (
            values["models"][name_of(each, order, 6)]
            for each, order in ((channels, "fine first"), (back, "coarse first"))
        )
        assert fine["forward"] == coarse["backward"][::-1] and fine["generic_total"] == coarse["generic_total"]
        one, other = fine["optimum"]["PowerLaw"], coarse["optimum"]["PowerLaw"]
        assert np.abs(profile(one, 64) - profile(other, 64)).max() <= 1
        assert one["loss"] == pytest.approx(other["loss"], rel=0.01)


def test_alternating_dilations_are_another_model(values):
    fine, alternating = (
        values["models"][name_of(2, order, 6)]["optimum"]["PowerLaw"] for order in SETTINGS["orders"][::2]
    )
    assert alternating["loss"] > 5 * fine["loss"]


def test_every_profile_sums_to_its_total(values):
    assert len(values["models"]) == 72
    for name, model in values["models"].items():
        n = 2 ** int(name.split()[0])
        for entry in [*model["optimum"].values(), *model["lbfgs"].values()]:
            found = profile(entry, n)
            assert found.size == n and abs(found.sum() - 1000 * entry["total"]) <= n / 2
            assert found.min() >= 0 and found.max() <= 1000
        for family, stopped in model["lbfgs"].items():
            assert stopped["loss"] >= 0.9 * model["optimum"][family]["loss"], (name, family)


def test_a_stored_entry_is_that_of_a_fit_from_a_random_start(values):
    arch = Hierarchical(2, dilations=[1, 16, 2, 8, 4])
    problem = Problem.of(arch, PowerLaw())
    found, kept = fit(arch, problem, rng=3), values["models"]["5 alternating 2"]["optimum"]["PowerLaw"]
    again = summary(arch, problem, found)
    assert again["total"] == kept["total"] and again["loss"] == pytest.approx(kept["loss"], rel=0.01)
    assert np.abs(profile(again, 32) - profile(kept, 32)).max() <= 1


def test_a_quick_run_has_the_shape_of_the_stored_one(values):
    quick = run({**SETTINGS, **QUICK, "orders": ["alternating"], "families": ["PowerLaw"]})
    assert set(quick) == set(values) and "3 alternating 2,1" in quick["models"]
    stored_one, fresh = values["models"]["3 alternating 2"], quick["models"]["3 alternating 2"]
    assert {**fresh, "optimum": 0, "lbfgs": 0} == {**stored_one, "optimum": 0, "lbfgs": 0}
    assert fresh["optimum"]["PowerLaw"] == stored_one["optimum"]["PowerLaw"]
