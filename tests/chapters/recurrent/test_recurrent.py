"""Recurrent models: sweeps, laws and profiles, digits beyond double precision, and where L-BFGS-B stops."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import capcore as cc
from capcore.architectures.generic import exact_rank
from chapters.kit.stored import stored
from chapters.recurrent import figures as draw
from chapters.recurrent import study
from chapters.recurrent.experiment import stops
from chapters.recurrent.multiprecision import confluent_vandermonde, rational_rank, singular_values
from chapters.recurrent.study import exponential_r2, profile_shape, recurrent_sweep, tail_law


@pytest.fixture(scope="module")
def content():
    return stored("recurrent_lbfgs")


def test_stored_parameters_have_the_stored_losses(content):
    values = content["values"]["PowerLaw"]
    for c, stored_values in values["params"].items():
        arch = cc.Recurrent(64, int(c))
        problem = cc.Problem.of(arch, cc.PowerLaw())
        for params, loss in zip(stored_values, values["losses"][c], strict=True):
            assert problem.loss(arch.coefficients(np.array(params))) == pytest.approx(loss, rel=1e-6)


def test_no_stop_is_below_the_best_optimum_which_is_monotone(content):
    best = recurrent_sweep(64, [1, 2, 4, 8], cc.PowerLaw())
    stored_values = content["values"]["PowerLaw"]["losses"]
    for c, loss in zip(best.channels, best.loss, strict=True):
        assert min(stored_values[str(c)]) >= loss * (1 - 1e-6)
    assert np.all(np.diff(best.loss) < 0)
    assert min(stored_values["8"]) > 1e3 * best.loss[-1]


@pytest.mark.parametrize(("channels", "steps"), [(1, 2), (3, 7)])
def test_every_weight_of_the_network_is_drawn(ax, channels, steps):
    assert draw.plot_recurrent(cc.Recurrent(9, channels), ax, steps) is ax
    outward, inward, onward, last = (len(edges.get_segments()) for edges in ax.collections[:4])
    assert outward == inward == channels * steps
    assert onward == channels * (steps - 1) and last == channels
    nodes = [len(dots.get_offsets()) for dots in ax.collections[4:]]
    assert nodes == [steps] * (channels + 2)
    ends = {tuple(segment[-1]) for segment in ax.collections[3].get_segments()}
    assert ends == {(0.0, channels + 1.0)}  # the most recent output
    assert [text.get_text() for text in ax.texts][:3] == [
        "input",
        f"{channels} channel" + "s" * (channels > 1),
        "output",
    ]


spread = st.lists(
    st.sampled_from(np.round(np.arange(-0.9, 1.15, 0.2), 1).tolist()), min_size=1, max_size=4, unique=True
)


@given(spread, st.integers(1, 12))
@example([1.0], 2)  # r⁰ is r¹ here, so that the slope of r⁰ decides
def test_well_conditioned_cases_agree_with_double_precision(poles, n):
    columns = confluent_vandermonde(poles, n)
    assert columns.shape == (n, 2 * len(poles))
    expected = np.linalg.svd(columns, compute_uv=False)
    assert_allclose(singular_values(poles, n), expected, atol=1e-13)
    assert rational_rank(poles, n) == min(2 * len(poles), n)


@given(spread)
def test_the_rank_is_the_modular_one_also_where_poles_repeat(poles):
    twice = [*poles, poles[0]]
    arch = cc.Recurrent(10, len(twice))
    params = arch.assemble(twice, np.ones(len(twice)))
    assert rational_rank(twice, 10) == exact_rank(arch, params=params) == 2 * len(poles)


def test_what_double_precision_does_not_see():
    poles = np.random.default_rng(0).uniform(0, 1, 16)
    exact, double = singular_values(poles, 64), np.linalg.svd(confluent_vandermonde(poles, 64), compute_uv=False)
    assert exact.shape == (32,) and 0 < exact[-1] < 1e-22
    seen = exact > 1e-13
    assert_allclose(double[seen], exact[seen], atol=1e-14)
    assert np.linalg.matrix_rank(confluent_vandermonde(poles, 64)) < 30
    assert rational_rank(poles, 64) == 32


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
    assert [alloc.total for alloc in few.allocations().values()] == [2, 4, 8]


@given(st.floats(0.1, 3), st.floats(0.1, 10))
def test_exponential_laws_are_straight(rate, prefactor):
    x = np.array([2, 4, 6, 10, 16])
    assert exponential_r2(x, prefactor * np.exp(-rate * x)) == pytest.approx(1)
    assert exponential_r2(x, prefactor * x**-rate) < 0.99


@given(st.integers(1, 4), st.floats(0.3, 2))
def test_a_head_and_a_power_law(head, exponent):
    lags = np.arange(head, 40)
    profile = np.concatenate([np.ones(head), 0.9 * (lags / head) ** -exponent])
    result = profile_shape(profile)
    assert result.head == head and result.tail_r2 == pytest.approx(1) and result.tail_rise == 0
    assert result.holds
    assert tail_law(profile, 40).exponent == pytest.approx(-exponent)


@pytest.fixture(scope="module")
def quick_content():
    settings = {"n_inputs": 8, "channels": [1, 2, 4, 8], "seeds": [0, 1, 2], "max_iterations": 200}
    values = {name: stops(cc.processes.FAMILIES[name](), settings) for name in ("PowerLaw", "AR1")}
    return {"settings": settings, "values": values}


def test_profiles_are_those_of_the_lowest_loss(quick_content):
    shapes = study.shapes(quick_content, [1, 2])
    runs = quick_content["values"]["AR1"]
    best = np.array(runs["params"]["2"][int(np.argmin(runs["losses"]["2"]))])
    profile = cc.allocate(
        lambda w: sum(w[j] * w[2 + j] ** np.arange(8) * w[4 + j] for j in range(2)), best, cc.AR1()
    ).per_input
    assert shapes["AR1"][2].head == profile_shape(profile).head
    assert shapes["AR1"][2].tail_r2 == pytest.approx(profile_shape(profile).tail_r2, abs=1e-6)
    with pytest.raises(KeyError):
        study.shapes(quick_content, [16])
