"""The data of the explorer: the orders of the dilations, the symmetry of one of them, and what is stored."""

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.fitting.optimum import fit
from capcore.processes import PowerLaw
from capcore.processes.problem import Problem
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
from chapters.kit.stored import stored


@pytest.fixture(scope="module")
def values():
    return stored("where_capacity_goes")["values"]


def profile(entry, n):
    return np.array(entry[2].split(), dtype=int) if entry[2] else np.full(n, 1000)


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


@pytest.mark.parametrize("channels", range(1, 9))
def test_coarse_first_is_the_same_model_read_from_the_other_end(values, channels):
    fine, coarse = (values["models"][name_of(channels, order, 6)] for order in ("fine first", "coarse first"))
    assert fine["forward"] == coarse["backward"][::-1] and fine["generic_total"] == coarse["generic_total"]
    one, other = fine["optimum"][0], coarse["optimum"][0]
    assert np.abs(profile(one, 64) - profile(other, 64)).max() <= 1
    assert one[1] == pytest.approx(other[1], rel=0.01)


def test_alternating_dilations_are_another_model(values):
    fine, alternating = (values["models"][name_of(2, order, 6)]["optimum"][0] for order in SETTINGS["orders"][::2])
    assert alternating[1] > 5 * fine[1]


def test_every_profile_sums_to_its_total(values):
    assert len(values["models"]) == 60
    for name, model in values["models"].items():
        n = 2 ** int(name.split()[0])
        for entry in [*model["optimum"], *model["lbfgs"]]:
            found = profile(entry, n)
            assert found.size == n and abs(found.sum() - 1000 * entry[0]) <= n / 2
            assert found.min() >= 0 and found.max() <= 1000
        for optimum, stopped in zip(model["optimum"], model["lbfgs"], strict=True):
            assert stopped[1] >= 0.9 * optimum[1], name


def test_a_stored_entry_is_that_of_a_fit_from_a_random_start(values):
    arch = Hierarchical(2, dilations=[1, 16, 2, 8, 4])
    problem = Problem.of(arch, PowerLaw())
    found, kept = summary(arch, problem, fit(arch, problem, rng=3)), values["models"]["5 alternating 2"]["optimum"][0]
    assert found[0] == kept[0] and found[1] == pytest.approx(kept[1], rel=0.01)
    assert np.abs(profile(found, 32) - profile(kept, 32)).max() <= 1


def test_where_every_input_counts_in_full_none_is_listed():
    arch = stack(full_width(3), "fine first", 3)
    problem = Problem.of(arch, PowerLaw())
    assert summary(arch, problem, fit(arch, problem, rng=0)) == [8, 0.0, ""]


def test_a_quick_run_has_the_shape_of_the_stored_one(values):
    quick = run({**SETTINGS, **QUICK, "orders": ["fine first"], "families": ["PowerLaw"]})
    assert set(quick) == set(values) and "3 fine first 2,1" in quick["models"]
    kept, found = values["models"]["3 fine first 1"], quick["models"]["3 fine first 1"]
    assert set(kept) == set(found) and kept["forward"] == found["forward"]
    assert found["optimum"] == kept["optimum"][:1]
