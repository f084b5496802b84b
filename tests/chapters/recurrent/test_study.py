"""Sweeps of recurrent models over the number of channels, and the shape of their laws and profiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore as cc
from capcore.processes import FAMILIES
from chapters.kit.stored import stored
from chapters.recurrent import study
from chapters.recurrent.experiment import stops
from chapters.recurrent.study import (
    exponential_r2,
    models_by_channels,
    profile_shape,
    recurrent_sweep,
    sweep_families,
    tail_law,
    until_full,
)


@pytest.fixture(scope="module")
def sweep():
    return recurrent_sweep(16, [4, 1, 2, 20], cc.PowerLaw())


def test_a_sweep_is_what_single_fits_give(sweep):
    assert sweep.channels.tolist() == [1, 2, 4, 20]
    for c in (1, 2, 4):
        single = cc.fit(cc.Recurrent(16, c), cc.PowerLaw(), rng=0)
        assert np.array_equal(sweep.params[c], single.params)
        assert sweep.loss[sweep.channels == c] == pytest.approx(single.loss)
    assert np.all(np.diff(sweep.loss) <= 0)
    assert sweep.n_params.tolist() == [3, 6, 12, 60]
    assert sweep.converged[:2].all()


def test_capacities_three_ways(sweep):
    assert sweep.exact_capacity().tolist() == [2, 4, 8, 16]
    few = sweep.only([1, 2, 4])
    assert few.exact_capacity_at_optimum().tolist() == [2, 4, 8]
    assert few.numerical_capacity().tolist() == [2, 4, 8]
    assert [found.total for found in few.allocations().values()] == [2, 4, 8]


def test_a_part_of_a_sweep(sweep):
    part = sweep.only([20, 2, 7])
    assert part.channels.tolist() == [2, 20] and list(part.params) == [2, 20]
    assert part.loss.tolist() == sweep.loss[[1, 3]].tolist()
    assert [curve.tolist() for curve in part.curve] == [[2, 20], part.loss.tolist()]


def test_attained_targets_have_an_excess_of_zero():
    families = sweep_families(64, [1, 2])
    assert list(families) == list(FAMILIES)
    assert families["AR1"].excess.tolist() == [0, 0]
    assert families["DampedCosine"].excess[0] > 0 and families["DampedCosine"].excess[1] == 0
    assert np.array_equal(families["PowerLaw"].excess, families["PowerLaw"].loss)


# --- laws -------------------------------------------------------------------------------------------------------------


@given(st.floats(0.1, 3), st.floats(0.1, 10))
def test_exponential_laws_are_straight(rate, prefactor):
    x = np.array([2, 4, 6, 10, 16])
    assert exponential_r2(x, prefactor * np.exp(-rate * x)) == pytest.approx(1)
    assert exponential_r2(x, prefactor * x**-rate) < 0.99


def test_exponential_laws_that_cannot_be_judged():
    assert exponential_r2([2, 4, 6], [1.0, 0.1, 0.0]) == 0
    assert exponential_r2([2, 4], [1.0, 0.1]) == 0
    assert exponential_r2([2, 2, 2], [1.0, 0.1, 0.5]) == 0


def test_exponential_r2_is_numpys_correlation():
    x, y = np.array([1.0, 2, 5, 7]), np.array([1.0, 0.3, 0.5, 0.01])
    assert exponential_r2(x, y) == pytest.approx(np.corrcoef(x, np.log(y))[0, 1] ** 2)


def test_the_mean_factor():
    assert study.mean_factor([8.0, 4.0, 2.0, 1.0]) == pytest.approx(2)
    assert study.mean_factor([8.0, 0.0]) == study.mean_factor([8.0]) == 1


def test_until_full():
    capacity, loss = until_full(64, [1, 2, 32, 64, 128], [5.0, 4.0, 3.0, 2.0, 1.0])
    assert capacity.tolist() == [2, 4, 64] and loss.tolist() == [5.0, 4.0, 3.0]
    assert until_full(2, [1, 2], [1.0, 0.5])[0].tolist() == [2]


# --- profiles ---------------------------------------------------------------------------------------------------------


@given(st.integers(1, 4), st.floats(0.3, 2))
def test_a_head_and_a_power_law(head, exponent):
    lags = np.arange(head, 40)
    profile = np.concatenate([np.ones(head), 0.9 * (lags / head) ** -exponent])
    found = profile_shape(profile)
    assert found.head == head and found.tail_r2 == pytest.approx(1) and found.tail_rise == 0
    assert found.holds
    assert tail_law(profile, 40).exponent == pytest.approx(-exponent)


def test_profiles_that_do_not_fit_the_description():
    lags = np.arange(1.0, 40)
    no_head = np.append(0.98, 0.9 * lags**-1.0)
    assert profile_shape(no_head).head == 0 and not profile_shape(no_head).holds
    exponential = np.append(1.0, 0.9 * np.exp(-lags))
    assert profile_shape(exponential).tail_r2 < 0.95 and not profile_shape(exponential).holds
    edge = np.append(1.0, 0.9 * lags**-1.0)
    edge[-1] = 0.5
    assert profile_shape(edge).tail_rise == pytest.approx(0.5 - 0.9 / 38) and not profile_shape(edge).holds
    assert tail_law(edge, 39).r_squared == pytest.approx(1)  # without the edge


def test_the_rise_from_the_head_to_the_tail_does_not_count_but_one_without_a_head_does():
    assert profile_shape([1.0, 0.5, 0.4]).tail_rise == 0
    assert profile_shape([0.1, 0.5, 0.4]).tail_rise == pytest.approx(0.4)


def test_profiles_without_a_tail():
    assert profile_shape(np.ones(5)) == (5, 0.0, 0.0)
    assert profile_shape([0.5]) == (0, 0.0, 0.0)
    assert profile_shape([1.0, 0.5, 0.2]).tail_r2 == 0  # two points are always straight


# --- stored runs ------------------------------------------------------------------------------------------------------


def test_stored_runs_only_where_they_are_of_this_model():
    content = stored("recurrent_lbfgs")
    default = study.registered_stops(content, cc.PowerLaw(), 64, [1], [0])
    assert default.is_stored and default.losses.shape == (9, 10)
    assert default.losses.tolist() == list(content["values"]["PowerLaw"]["losses"].values())
    for process, n in ((cc.PowerLaw(0.6), 8), (cc.PowerLaw(), 8)):
        other = study.registered_stops(content, process, n, [2, 1], [0, 1, 2])
        assert not other.is_stored and other.channels.tolist() == [1, 2] and other.losses.shape == (2, 3)
    assert study.registered_stops(content, cc.AR1(0.9), 64, [1], [0]).losses[0].max() < 1e-10


def test_the_closest_poles():
    arch = cc.Recurrent(8, 4)
    gap, weights = study.closest_poles(arch, arch.assemble([0.5, -1.0, 0.9, 0.49], [1.0, 2.0, 3.0, -4.0]))
    assert gap == pytest.approx(0.01) and weights.tolist() == [-4, 1]
    assert study.closest_poles(cc.Recurrent(8, 1), np.ones(3))[0] == np.inf


@pytest.mark.parametrize(
    ("channels", "message"),
    [
        (4, "channels: found 4, expected a non-empty list"),
        ([], r"channels: found \[\], expected a non-empty list"),
        ("12", "channels: found '12'"),
        ([1, 0], "channels: found 0, expected a whole number of at least 1"),
        ([1.5], "channels: found 1.5"),
    ],
)
def test_refused_channels(channels, message):
    with pytest.raises(ValueError, match=message):
        recurrent_sweep(8, channels, cc.PowerLaw())
    with pytest.raises(ValueError, match="few"):
        models_by_channels(8, channels, "few")


@pytest.fixture(scope="module")
def content():
    settings = {"n_inputs": 8, "channels": [1, 2, 4, 8], "seeds": [0, 1, 2], "max_iterations": 200}
    values = {name: stops(cc.processes.FAMILIES[name](), settings) for name in ("PowerLaw", "AR1")}
    return {"settings": settings, "values": values}


def test_the_line_is_through_medians_and_ends_with_the_first_full_model(content):
    found = study.loss_r2(content)
    assert list(found) == ["PowerLaw", "AR1"]
    losses = content["values"]["PowerLaw"]["losses"]
    y = np.log([sorted(losses[c])[1] for c in ("1", "2", "4")])
    assert found["PowerLaw"] == pytest.approx(np.corrcoef(np.log([2, 4, 8]), y)[0, 1] ** 2)


def test_profiles_are_those_of_the_lowest_loss(content):
    found = study.shapes(content, [1, 2])
    runs = content["values"]["AR1"]
    best = np.array(runs["params"]["2"][int(np.argmin(runs["losses"]["2"]))])
    profile = cc.allocate(
        lambda w: sum(w[j] * w[2 + j] ** np.arange(8) * w[4 + j] for j in range(2)), best, cc.AR1()
    ).per_input
    assert found["AR1"][2].head == profile_shape(profile).head
    assert found["AR1"][2].tail_r2 == pytest.approx(profile_shape(profile).tail_r2, abs=1e-6)
    with pytest.raises(KeyError):
        study.shapes(content, [16])
