"""Singular values, ranks and capacities of recurrent models beyond double precision."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import capcore as cc
from capcore.architectures.generic import exact_rank
from chapters.recurrent.multiprecision import confluent_vandermonde, rational_rank, singular_values

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


def test_digits_that_do_not_suffice_say_so():
    poles = np.random.default_rng(0).uniform(0, 1, 16)
    few = singular_values(poles, 64, digits=40)
    assert few[-1] == 0 and few[0] == pytest.approx(singular_values(poles, 64)[0])


def test_precision_is_put_back():
    from flint import ctx

    before = ctx.dps
    singular_values([0.5], 4, digits=300)
    assert ctx.dps == before


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: singular_values([0.5, np.nan], 4), "poles: .*NaN"),
        (lambda: singular_values([0.5], 0), "n_inputs: found 0"),
        (lambda: singular_values([0.5], 4, digits=0), "digits: found 0"),
        (lambda: rational_rank([0.5], 4.5), "n_inputs: found 4.5"),
        (lambda: rational_rank([], 4), "poles: found an empty array"),
    ],
)
def test_refusals(use, message):
    with pytest.raises(ValueError, match=message):
        use()
