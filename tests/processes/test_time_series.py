"""From a series to a process: it recovers what is known, its error bars are honest, and bad series are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import toeplitz
from scipy.signal import lfilter

import capcore as cc
from capcore.checks.arguments import quiet
from capcore.processes.time_series import estimate_process, sieve_bootstrap
from tests.strategies import refused

PHI = 0.6


def ar1(length, seed):
    noise = np.random.default_rng(seed).normal(size=length + 200) * np.sqrt(1 - PHI**2)
    return lfilter([1.0], [1.0, -PHI], noise)[200:]


def bartlett(length, lags):
    """(k,) standard errors of the estimates for AR(1): √(1/m Σ_k c_k² + c_{k+τ} c_{k−τ}), Bartlett's formula."""
    k = np.arange(-400, 401)
    c = lambda lag: PHI ** np.abs(lag)  # noqa: E731
    return np.sqrt([np.sum(c(k) ** 2 + c(k + tau) * c(k - tau)) / length for tau in lags])


def test_the_bootstrap_has_the_standard_errors_of_bartletts_formula():
    draws = np.array([p.autocovariance(5) for p in sieve_bootstrap(ar1(4000, 0), 5, 200, seed=1)])
    assert draws.std(axis=0) == pytest.approx(bartlett(4000, range(5)), rel=0.25)
    assert np.array_equal(draws[0], sieve_bootstrap(ar1(4000, 0), 5, 1, seed=1)[0].autocovariance(5))


def test_it_is_the_textbook_sum():
    values = np.array([1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 1.0, 3.0])
    y = values - values.mean()
    expected = [np.sum(y[: 8 - lag] * y[lag:]) / 8 for lag in range(2)]
    assert estimate_process(values, 1).autocovariance(2) == pytest.approx(expected)


@given(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), arrays(float, 4 * (n + 1), elements=st.floats(-9, 9))))
)
def test_it_is_positive_definite_for_any_series(case):
    """Or refused, where the series is constant, or its scale or its covariance no match for double precision."""
    n, values = case
    try:
        with quiet():
            process = estimate_process(values, n)
    except ValueError as error:
        if not any(
            words in str(error)
            for words in ("constant", "numerically singular", "c_0", "squares leave double precision")
        ):
            raise
        return
    assert np.linalg.eigvalsh(toeplitz(process.autocovariance(n + 1)))[0] > 0


NOISE = np.random.default_rng(0).normal(size=600)


@pytest.mark.parametrize(
    ("series", "what"),
    [
        (np.arange(600) / 2 + NOISE, "last value"),
        (np.cumsum(NOISE), "last value"),
        (np.where(np.arange(600) % 7, np.cumsum(NOISE), np.nan), "last value"),
        (20 * np.cos(np.arange(600) * np.pi / 6) + np.convolve(NOISE, np.ones(9), mode="same"), "own predictor"),
    ],
    ids=["trend", "random walk", "with gaps", "season"],
)
def test_a_trend_or_a_season_is_warned_of_and_the_error_is_that_of_the_series(series, what):
    """Both errors by their definitions; of 600 values 150 at least are needed for 16 inputs."""
    with pytest.warns(UserWarning, match="its differences.*least squares") as record:
        process = estimate_process(series, 16)
    weights, stated = process.predictor(16)
    centred = series - np.nanmean(series)
    within = np.mean(np.square(lfilter(np.r_[1, -weights], [1.0], centred)[16:]))
    limits = {"last value": np.nanmean(np.square(np.diff(series))), "own predictor": (1.2 + 10 / 600) * within}
    assert f"v* = {stated:.3g}, expected at most {limits[what]:.3g}, " in process.notes[-1]
    assert [str(one.message) for one in record] == process.notes
    with pytest.warns(UserWarning, match=r"least squares|expected the promised"):
        assert cc.design(series, max_params=4, n_inputs=16, families=["log taps"]).notes


@pytest.mark.parametrize("process", [cc.AR1(0.6), cc.PowerLaw(0.5), cc.FractionalGaussianNoise(0.8)], ids=repr)
def test_no_stationary_series_is_warned_of(process, rng):
    root = np.linalg.cholesky(process.covariance(300))
    assert not any(estimate_process(root @ rng.normal(size=300), 32).notes for _ in range(20))


def test_a_shift_and_a_scale(rng):
    series = rng.normal(size=300)
    expected = estimate_process(series, 5).autocovariance(6)
    assert estimate_process(1e6 + series, 5).autocovariance(6) == pytest.approx(expected, rel=1e-5)
    assert estimate_process(-3 * series, 5).autocovariance(6) == pytest.approx(9 * expected)


test_bad_series = refused(
    estimate_process,
    (np.arange(259.0), 64, r"series: found 259 values, expected at least 260 \(4 for each of 65 lags\). Give a longer"),
    (1e-141 * np.arange(50.0) ** 0.5, 4, r"series: found values up to .*e-141, expected 1e-140.*other units"),
    (np.full(100, 7.0), 4, "series: found the constant 7, expected values that vary"),
    (1e9 + 1e-5 * np.sin(np.arange(100.0)), 4, "series: found the constant"),
    (np.r_[np.arange(50.0), np.inf], 4, r"series: found 1 value\(s\) that are NaN .*index \(50,\)"),
    (np.ones((50, 2)), 4, r"series: found an array of shape \(50, 2\), expected 1 dimension"),
    (["one", "two"], 4, "series: found text, expected real numbers"),
    ([], 4, "series: found an empty array"),
    (np.arange(50.0), 0, "n_inputs: found 0, expected a whole number of at least 1"),
    (
        np.linspace(-6, 6, 801) * np.exp(-np.square(np.linspace(-6, 6, 801))),
        100,
        "series: autocovariance: .*difference the",
    ),
)


def test_a_bootstrap_of_nothing(rng):
    with pytest.raises(ValueError, match="n_draws: found 0"):
        sieve_bootstrap(rng.normal(size=100), 4, 0)
