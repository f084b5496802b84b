"""Rank correlations within groups, and their resamples."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from chapters.shared.families import family_correlations
from chapters.spectra_accuracy.family_resampling import Estimate, lesser, within
from tests.strategies import seeds


def networks(seed, n=7, families=3):
    rng = np.random.default_rng(seed)
    size = n * families
    columns = {name: rng.normal(size=size) for name in ("test", "alpha", "one", "two")}
    columns["one"] = columns["one"].round(1)  # with ties
    return pd.DataFrame({**columns, "family": np.repeat(list("abcdef")[:families], n)})


@given(seeds, st.integers(4, 12))
def test_the_mean_of_the_families_is_scipys(seed, n):
    table = networks(seed, n)
    expected = np.mean([spearmanr(part["one"], part["test"])[0] for _, part in table.groupby("family")])
    assert within(table, "one", n_resamples=1).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("fixed", [(), ("one", "two")])
@given(seed=seeds)
def test_it_is_what_family_correlations_gives(fixed, seed):
    """At fixed quantities or without."""
    table = networks(seed, 9)
    expected = family_correlations(
        table["alpha"],
        table["test"],
        table["family"],
        np.random.default_rng(0),
        given=table[list(fixed)].to_numpy().T if fixed else None,
        n_resamples=100,
    )
    found = within(table, "alpha", given=fixed, n_resamples=1)
    assert found.value == pytest.approx(expected.within.rho, abs=1e-9)


@given(seeds)
def test_monotone_maps_change_nothing_and_signs_turn(seed):
    table = networks(seed)
    first = within(table, "alpha", n_resamples=20)
    table["other"] = np.exp(table["alpha"])
    table["turned"] = -table["alpha"]
    np.testing.assert_allclose(within(table, "other", n_resamples=20).draws, first.draws)
    np.testing.assert_allclose(within(table, "turned", n_resamples=20).draws, -first.draws)


def test_what_a_metric_shares_with_what_is_fixed_is_taken_out():
    table = networks(0, 60)
    table["alpha"] = table["two"] + 0.01 * table["alpha"]
    table["test"] = table["two"] + 0.3 * table["test"]
    assert within(table, "alpha", n_resamples=1).value > 0.8
    assert abs(within(table, "alpha", given=("two",), n_resamples=1).value) < 0.25
    assert within(table, "two", given=("two",), n_resamples=1).value == 0.0


def test_intervals_of_independent_columns_hold_zero_about_as_often_as_they_say():
    hits = [
        found.low <= 0 <= found.high for found in (within(networks(s, 30), "alpha", n_resamples=200) for s in range(60))
    ]
    assert 0.85 <= np.mean(hits) <= 1.0  # 0.95 by design; four standard errors of 60 are 0.11


def test_differences_are_paired():
    table = networks(1, 30)
    table["near"] = table["alpha"] + 1e-3 * table["two"]
    first, second = within(table, "alpha", n_resamples=200), within(table, "near", n_resamples=200)
    difference = first - second
    assert difference.high - difference.low < 0.2 * (first.high - first.low)


def test_estimates():
    estimate = Estimate(-0.5, np.linspace(-1, 1, 401))
    assert (estimate.low, estimate.high) == pytest.approx((-0.95, 0.95))
    assert abs(estimate).value == 0.5 and abs(estimate).low >= 0
    least = lesser(estimate, Estimate(0.0, np.zeros(401)))
    assert least.value == -0.5 and least.draws.max() == 0
    assert str(estimate) == "-0.50 (-0.95 to 0.95)"


def test_unknown_columns_are_told():
    with pytest.raises(ValueError, match=r"column: found 'alhpa'.*Did you mean 'alpha'"):
        within(networks(0), "alhpa")
