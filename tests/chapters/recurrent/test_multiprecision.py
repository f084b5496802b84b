"""Singular values, ranks and capacities of recurrent models beyond double precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import capcore as cc
from capcore.generic import exact_rank
from chapters.recurrent.multiprecision import capacity_per_input, confluent_vandermonde, rational_rank, singular_values
from chapters.shared import survey

spread = st.lists(
    st.sampled_from(np.round(np.arange(-0.9, 1.15, 0.2), 1).tolist()), min_size=1, max_size=4, unique=True
)


@given(spread, st.integers(1, 12))
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


def test_digits_that_do_not_suffice_say_so():
    poles = np.random.default_rng(0).uniform(0, 1, 16)
    few = singular_values(poles, 64, digits=40)
    assert few[-1] == 0 and few[0] == pytest.approx(singular_values(poles, 64)[0])
    with pytest.raises(ZeroDivisionError):
        capacity_per_input(poles, np.eye(64), digits=20)


def test_precision_is_put_back():
    from flint import ctx

    before = ctx.dps
    singular_values([0.5], 4, digits=300)
    assert ctx.dps == before


def test_capacities_agree_where_double_precision_suffices():
    arch, process = cc.Recurrent(24, 3), cc.PowerLaw()
    fit = cc.fit(arch, process)
    found = survey.allocate_quietly(arch, fit.params, cc.Problem.of(arch, process))
    assert found.total == 6
    assert_allclose(capacity_per_input(arch.poles(fit.params), process.covariance(24)), found.per_input, atol=1e-8)


def test_capacities_sum_to_the_exact_rank_where_it_does_not():
    poles = np.random.default_rng(0).uniform(0, 1, 16)
    arch, covariance = cc.Recurrent(64, 16), cc.PowerLaw().covariance(64)
    exact = capacity_per_input(poles, covariance)
    problem = cc.Problem.of(arch, cc.PowerLaw())
    numerical = survey.allocate_quietly(arch, arch.assemble(poles, np.ones(16)), problem)
    assert exact.sum() == pytest.approx(32, abs=1e-9) and numerical.total < 30
    assert np.all((exact > -1e-12) & (exact < 1 + 1e-12))


def test_as_many_directions_as_inputs_fill_every_input():
    poles = np.linspace(-0.9, 0.9, 8)
    assert_allclose(capacity_per_input(poles, cc.PowerLaw().covariance(16)), 1, atol=1e-12)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: singular_values([0.5, np.nan], 4), "poles: .*NaN"),
        (lambda: singular_values([0.5], 0), "n_inputs: found 0"),
        (lambda: singular_values([0.5], 4, digits=0), "digits: found 0"),
        (lambda: rational_rank([0.5], 4.5), "n_inputs: found 4.5"),
        (lambda: rational_rank([], 4), "poles: found an empty array"),
        (lambda: capacity_per_input([0.1, 0.2, 0.3], np.eye(5)), "poles: found 3, expected at most 2"),
    ],
)
def test_refusals(use, message):
    with pytest.raises(ValueError, match=message):
        use()
