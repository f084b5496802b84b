"""Series with missing values: against a double loop, within their standard errors, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigvalsh, toeplitz

import capcore as cc
from capcore.processes.time_series import estimate_process, sieve_bootstrap
from tests.processes.test_time_series import ar1
from tests.strategies import refused, seeds

N = 5


def with_gaps(values, share, seed):
    return np.where(np.random.default_rng(seed).random(values.size) < share, np.nan, values)


def by_two_loops(series, lag):
    """(1 − τ/m) × mean product, and the number of pairs, from the pairs of values that are there."""
    mean, m = np.nanmean(series), series.size
    products = [
        (series[t] - mean) * (series[t + lag] - mean)
        for t in range(m - lag)
        if not (np.isnan(series[t]) or np.isnan(series[t + lag]))
    ]
    return (1 - lag / m) * np.mean(products), len(products)


@given(seeds, st.floats(0.01, 0.3))
@settings(max_examples=20, deadline=None)
def test_it_is_the_sum_over_the_pairs_that_are_there(seed, share):
    series = with_gaps(ar1(200, seed), share, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        process = estimate_process(series, N)
    expected, pairs = zip(*(by_two_loops(series, lag) for lag in range(N + 1)), strict=True)
    assert process.pairs.tolist() == list(pairs)
    assert process.values[1:] == pytest.approx(expected[1:], rel=1e-10, abs=1e-12)
    assert process.values[0] >= expected[0] * (1 - 1e-10)


def test_the_rule_for_pairs_is_that_of_length_for_a_complete_series(rng):
    """4(n + 1) values are enough, with and without a gap that leaves 3(n + 1) pairs."""
    values = rng.normal(size=4 * (N + 1))
    assert estimate_process(values, N).pairs[-1] == 4 * (N + 1) - N
    longer = np.r_[values, np.nan, rng.normal()]
    assert estimate_process(longer, N).pairs[0] == 4 * (N + 1) + 1


FORMS = {
    "a list with None": lambda v, gone: [None if g else x for x, g in zip(v, gone, strict=True)],
    "a tuple with NaN": lambda v, gone: tuple(np.where(gone, np.nan, v)),
    "a masked array": lambda v, gone: np.ma.array(np.where(gone, 1e9, v), mask=gone),
    "mask and NaN": lambda v, gone: np.ma.array(np.where(gone, np.nan, v), mask=gone & (np.arange(v.size) % 2 == 0)),
    "a pandas series": lambda v, gone: pd.Series(np.where(gone, np.nan, v)),
    "pandas' NA": lambda v, gone: pd.Series(np.where(gone, np.nan, v)).astype("Float64"),
    "NA among objects": lambda v, gone: pd.Series([pd.NA if g else x for x, g in zip(v, gone, strict=True)]),
    "with dates": lambda v, gone: pd.Series(np.where(gone, np.nan, v), pd.date_range("2020", periods=v.size)),
    "across summer time": lambda v, gone: pd.Series(
        np.where(gone, np.nan, v), pd.date_range("2020", periods=v.size, tz="Europe/Paris")
    ),
    "by months": lambda v, gone: pd.Series(np.where(gone, np.nan, v), pd.period_range("1900", None, v.size, "M")),
    "dates left out, and put back": lambda v, gone: pd.Series(v, pd.date_range("2020", None, v.size))[~gone].asfreq(
        "D"
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_missing_may_be_said_in_any_way(form):
    values, gone = ar1(400, 1), np.random.default_rng(2).random(400) < 0.2
    gone[[0, -1]] = False
    given = FORMS[form](values, gone)
    expected = estimate_process(np.where(gone, np.nan, values), N)
    assert np.array_equal(estimate_process(given, N).values, expected.values)
    assert estimate_process(given, N).pairs[0] == np.count_nonzero(~gone)


def test_whole_numbers_under_a_mask():
    values = np.random.default_rng(0).integers(0, 9, 200)
    gone = np.arange(200) % 9 == 0
    found = estimate_process(np.ma.array(values, mask=gone), N).values
    assert np.array_equal(found, estimate_process(np.where(gone, np.nan, values), N).values)


def scarce():
    """A wave with noise of which less than half is there: its pairwise autocovariance is not positive definite."""
    rng = np.random.default_rng(1)
    return with_gaps(np.sin(0.7 * np.arange(400)) + 0.05 * rng.normal(size=400), 0.55, 3)


def test_what_is_not_positive_definite_is_made_so_by_the_least_white_noise_that_is_sure():
    series, n = scarce(), 15
    raw = np.array([by_two_loops(series, lag)[0] for lag in range(n + 1)])
    least = eigvalsh(toeplitz(raw))[0]
    assert least < 0
    with pytest.warns(UserWarning, match=f"not positive definite.*White noise of {-2 * least / raw[0]:.1%} of its var"):
        process = estimate_process(series, n)
    assert process.values - raw == pytest.approx(-2 * least * np.eye(n + 1)[0])
    assert eigvalsh(process.covariance(n + 1))[0] == pytest.approx(-least)
    arch = cc.Hierarchical(channels=2, n_layers=3)
    assert cc.allocate(arch, cc.fit(arch, process), process).total == 8


test_refusals = refused(
    lambda series: estimate_process(series, N),
    (with_gaps(ar1(100, 0), 0.9, 1), r"series: found \d+ values, expected at least 24"),
    (np.where(np.arange(400) % 2, np.nan, ar1(400, 0)), "found 0 pairs of values at lag 1, expected at least 18 "),
    (np.full(50, np.nan), "series: found 0 values"),
    (np.r_[ar1(100, 0), np.nan, np.inf], r"1 value\(s\) that are NaN or infinite .*\(101,\)"),
    (np.where(np.arange(100) % 9, 3.0, np.nan), "series: found the constant 3"),
    (pd.Series(ar1(99, 0), pd.date_range("2020", periods=100).delete(40)), r"2020-02-11.* after 2020-02-09.*asfreq"),
    (pd.Series(ar1(100, 0), pd.date_range("2020", periods=100)[::-1]), "ascending dates.*series.to_numpy"),
    (
        pd.Series(ar1(40, 0), pd.DatetimeIndex(["2020-01-01"] * 40)),
        "2020-01-01 .*after 2020-01-01.*expected ascending dates",
    ),
    (np.ma.array(np.arange(40).astype("M8[D]"), mask=np.arange(40) == 3), "series: found "),
    ([None] * 30 + ["one"], "series: found objects that are no numbers"),
    (np.full((30, 2), np.nan), r"shape \(30, 2\), expected 1 dim"),
)


def test_what_the_advice_about_dates_says_works():
    left_out = pd.Series(ar1(99, 0), pd.date_range("2020", periods=100).delete(40))
    assert estimate_process(left_out.to_numpy(), N).pairs[0] == 99
    days = pd.Series(ar1(100, 0), pd.bdate_range("2020", periods=100))  # steps of the calendar
    assert estimate_process(days, N).pairs[0] == 100


def test_a_bootstrap_needs_every_value():
    with pytest.raises(ValueError, match=r"series: found 1 value\(s\) that are NaN"):
        sieve_bootstrap(np.r_[ar1(100, 0), np.nan], 4, 2)
