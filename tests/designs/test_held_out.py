"""Errors on the end of a series: by their definition, without leakage, and what is said of promises."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.linalg import toeplitz
from scipy.signal import lfilter

import capcore as cc
from capcore.checks.arguments import quiet
from capcore.designs.held_out import HeldOut, Tested, ahead, future_weights, in_text, margin, seasonal_period

ONLY = {"families": ["autoregressive"]}


def simulated(coefficients, size, seed=0, noise=None):
    """A series of an autoregression, after a run-in."""
    noise = np.random.default_rng(seed).normal(size=size + 300) if noise is None else noise
    return lfilter([1.0], [1.0, *-np.asarray(coefficients)], noise)[300:]


def differenced(values, lags):
    for lag in lags:
        values = values[lag:] - values[:-lag]
    return values


def carried(values, lags, horizon):
    """The value h steps after the last one if all differences to come are 0: the recursion, step by step."""
    polynomial = np.ones(1)
    for lag in lags:
        polynomial = np.convolve(polynomial, np.r_[1.0, np.zeros(lag - 1), -1.0])
    values = list(values)
    for _ in range(horizon):
        values.append(-sum(c * values[-k] for k, c in enumerate(polynomial) if k))
    return values[-1]


def by_definition(series, n, horizon, lags, origins):
    """Mean squared errors of least squares with n lags, one forecast after the other, in the units of the series."""
    filled = list(series)
    for i, value in enumerate(filled):
        filled[i] = filled[i - 1] if np.isnan(value) else value
    filled, lost, squares = np.array(filled), sum(lags), []

    def pair(end):
        window = differenced(filled[: end + 1], lags)[::-1][:n]
        return np.r_[window, 1.0], series[end + horizon] - carried(filled[: end + 1], lags, horizon)

    for start, stop in pairwise(origins):
        past = [pair(end) for end in range(lost + n - 1, start - horizon)]
        rows, targets = map(np.array, zip(*past, strict=True))
        there = np.isfinite(targets)
        weights = np.linalg.lstsq(rows[there], targets[there])[0]
        errors = [target - row @ weights for row, target in map(pair, range(start - 1, stop - 1))]
        squares.append(np.nanmean(np.square(errors)))
    return np.array(squares)


@pytest.mark.parametrize(
    ("horizon", "differences", "season"),
    [(1, 0, None), (3, 0, None), (1, 1, None), (2, 2, None), (5, 1, 4), (6, 0, 4)],
)
@pytest.mark.parametrize("gaps", [False, True])
def test_errors_are_those_of_forecasts_made_one_by_one(horizon, differences, season, gaps):
    """Differences are undone by their recursion; 160 values, of a size at which sums lose nothing that shows."""
    series = 50 + simulated([0.5, 0.3], 160) + np.tile([3.0, 0.0, -1.0, 2.0], 40)
    if gaps:
        series[7::11] = np.nan
    trial = HeldOut(series, 3, horizon, differences, season)
    arch, posed = cc.AutoRegressiveTaps(3), trial.posed(3)
    tested, weights = trial.tested(arch, np.zeros(3), {"least squares": posed["least squares"]}, 1.0)
    lags = [1] * differences + ([season] if season else [])
    np.testing.assert_allclose(tested.squares, by_definition(series, 3, horizon, lags, trial.origins), rtol=1e-6)
    assert trial.origins[-1] == len(series) - horizon + 1 and len(tested.squares) >= 5 and weights.shape == (3,)


def test_nothing_after_an_origin_enters_what_comes_before():
    """The last two stretches become other numbers: errors of the others stay, to the last digit."""
    series = simulated([0.5, 0.3], 600)
    first = cc.design(series, max_params=4, n_inputs=8, horizon=2)
    origins = first.held_out.origins
    changed = series.copy()
    changed[origins[-3] + 1 :] = 1e3 * np.cos(np.arange(600 - origins[-3] - 1))
    with quiet():
        other = cc.design(changed, max_params=4, n_inputs=8, horizon=2)
    assert [one.words for one in first.candidates] == [one.words for one in other.candidates]
    pairs = [(one.held_out, two.held_out) for one, two in zip(first.candidates, other.candidates, strict=True)]
    for one, two in pairs:
        assert one.promised == two.promised
        if one.fitted == two.fitted:
            np.testing.assert_array_equal(one.squares[:-2], two.squares[:-2])
    assert sum(one.fitted == two.fitted for one, two in pairs) > 1
    for (name, one), two in zip(first.baselines.items(), other.baselines.values(), strict=True):
        np.testing.assert_array_equal(one.squares[:-2], two.squares[:-2], err_msg=name)
        assert np.all(one.squares[-2:] != two.squares[-2:])


@pytest.mark.parametrize("horizon", [1, 3])
def test_the_error_of_an_autoregression_tends_to_that_of_its_process(horizon):
    """8,000 squared errors, of which neighbours share h − 1 terms: a standard error of at most √(2h/8000) = 2.7 %."""
    trial = HeldOut(simulated([0.5, 0.3], 40_000), 8, horizon)
    process = cc.AutoRegressive([0.5, 0.3])
    variance = ahead(process, 8, future_weights(horizon)).variance
    for way, posed in trial.posed(8).items():
        tested, weights = trial.tested(cc.AutoRegressiveTaps(2, 8), np.zeros(2), {way: posed}, variance)
        assert np.mean(tested.squares) == pytest.approx(variance, rel=0.1)
        np.testing.assert_allclose(weights, ahead(process, 2, future_weights(horizon)).target, atol=0.04)
        assert not tested.misses()


def test_the_target_of_several_steps_solves_the_normal_equations():
    process, n, h = cc.PowerLaw(0.5), 6, 4
    lags = process.autocovariance(n + h)
    for future in (future_weights(h), future_weights(h, [1, 3])):
        problem = ahead(process, n, future)
        joint = toeplitz(lags)  # of the h values to come, newest first, and the n inputs
        cross = joint[h:, :h] @ future[::-1]
        np.testing.assert_allclose(toeplitz(lags[:n]) @ problem.target, cross, rtol=1e-9)
        total = future[::-1] @ joint[:h, :h] @ future[::-1]
        assert problem.variance == pytest.approx(total - problem.target @ cross)
    found = cc.design(process, max_params=4, n_inputs=16, horizon=3)
    direct = ahead(process, 16, future_weights(3))
    for one in found.candidates:
        assert one.loss == pytest.approx(direct.loss(one.arch.coefficients(one.params)), rel=1e-6)
    assert "Nothing was held out" in found.report() and found.held_out is None and found.baselines == {}


def test_models_that_are_not_linear_in_their_weights_are_fitted_to_the_data():
    """The loss of a stack under the second moments of the data is lower with weights from them than from elsewhere."""
    series = simulated([0.5, 0.3], 400)
    found = cc.design(series, max_params=12, n_inputs=8, families=["stacks"])
    trial = found.held_out
    (problem, _), stack = trial.posed(8)["least squares"][0], found.candidates[0]
    before = stack.arch.init(np.random.default_rng(0))
    tested, _ = trial.tested(stack.arch, before, {"least squares": trial.posed(8)["least squares"]}, 1.0)
    best = cc.fit(stack.arch, problem).loss
    assert best < 1e-2 and tested.error == pytest.approx(stack.held_out.error, rel=0.05)


@pytest.mark.parametrize(
    ("values", "period"),
    [
        (np.tile([1.0, 5.0, 2.0, 0.0, 3.0, 1.0, 1.0], 30), 7),
        (np.cos(np.arange(300) * np.pi / 6) + 0.02 * np.arange(300), 12),
        (np.random.default_rng(0).normal(size=300), None),
        (np.arange(50.0), None),
        (np.cumsum(np.random.default_rng(3).normal(size=200)), None),
        (np.arange(3.0), None),
        (np.round(3 * np.sin(np.arange(1200) * np.pi / 180), 1), 360),
    ],
)
def test_seasons(values, period):
    assert seasonal_period(values) == period


def planted(kind, size, seed):
    at = np.arange(size)
    noise = simulated([0.5], size, seed)
    if kind == "break":
        return np.r_[simulated([0.6], size // 2, seed), simulated([-0.3], size // 2, seed + 50)]
    return noise + {"trend": 100 * at / size, "season": 20 * np.sin(at * np.pi / 6) + 10 * np.cos(at * np.pi / 2)}[kind]


@pytest.mark.parametrize(
    ("kind", "told"), [("trend", "it has a trend"), ("season", "season of 12"), ("break", "different autoregressions")]
)
def test_what_is_planted_is_told(kind, told):
    """In at least eight of ten series of 600 values, with its remedy, at which the promise holds."""
    notes = []
    for seed in range(10):
        with quiet():
            notes.append(" ".join(cc.design(planted(kind, 600, seed), max_params=6, n_inputs=16, **ONLY).notes))
    assert sum(told in note for note in notes) >= 8
    if kind == "trend":
        assert sum("With differences=1 it is" in note for note in notes) >= 8
        with quiet():
            mended = [
                cc.design(planted(kind, 600, i), max_params=6, n_inputs=16, differences=1, **ONLY) for i in range(10)
            ]
        assert sum("held out" in " ".join(each.notes) for each in mended) <= 2


STATIONARY = {
    "white": lambda m, rng: rng.normal(size=m),
    "persistent": lambda m, rng: simulated([0.9], m, noise=rng.normal(size=m + 300)),
    "cyclic": lambda m, rng: simulated([1.5, -0.8], m, noise=rng.normal(size=m + 300)),
    "moving average": lambda m, rng: lfilter([1.0, 0.8, 0.5], [1.0], rng.normal(size=m)),
    "skewed": lambda m, rng: simulated([0.5], m, noise=rng.exponential(size=m + 300)),
}


def test_stationary_series_are_flagged_in_at_most_five_of_a_hundred():
    """The level is 1 in 100 for independent normal means, to which those of five stretches of 16 values come close."""
    flagged = 0
    for name, draw in STATIONARY.items():
        for seed in range(20):
            with quiet():
                series = draw(400, np.random.default_rng([seed, len(name)]))
                notes = cc.design(series, max_params=4, n_inputs=16, **ONLY).notes
            flagged += any("held out" in note for note in notes)
    assert flagged <= 5


def test_small_rules():
    one, other = (Tested(np.array(squares)) for squares in ([1.0, 1.2, 0.8, 1.0], [2.0, 2.1, 1.9, 2.0]))
    assert one.beats(other) and one.beats(other, 0.01) and not other.beats(one) and not one.beats(one)
    gain = other.squares - one.squares
    assert one.beats(other, 1e-3) == (gain.mean() > margin(gain, 2e-3))
    assert one.error == 1.0 and one.margin == pytest.approx(margin(one.squares) / 2)
    for promise, missed in ((1.0, False), (3.0, True), (0.2, True)):
        assert Tested(one.squares, promised=promise).misses() is missed
    assert in_text([{"model": "a", "error": 1.0, "±": 0.123}, {"model": "b", "error": np.nan}]) == [
        {"model": "a", "error": "1", "±": "0.12"},
        {"model": "b", "error": "", "±": ""},
    ]


def test_baselines_are_what_they_are_called():
    series = np.tile([1.0, 5.0, 2.0, 0.0], 50) + np.random.default_rng(0).normal(size=200)
    trial = HeldOut(series, 4, horizon=6)
    found, origins = trial.baselines(4), trial.origins
    for name, back in (("repeating the last value", 6), ("repeating the last season (4)", 8)):
        for square, (start, stop) in zip(found[name].squares, pairwise(origins), strict=True):
            targets = np.arange(start + 5, stop + 5)
            assert square == pytest.approx(np.mean((series[targets] - series[targets - back]) ** 2))
    (lags,) = (name for name in found if "least squares with" in name)
    assert 1 <= int(lags.split()[3]) <= 4


def test_the_window_is_the_longest_that_fits():
    for size, n in ((40, 4), (500, 64), (3000, 256)):
        series = simulated([0.5], size)
        found = cc.design(series, max_params=4, **ONLY)
        assert found.n_inputs == n and f"with a window of {n}." in found.report()


def test_the_least_capacity_within_one_standard_error_is_recommended():
    found = cc.design(simulated([0.5, 0.3], 1000), max_params=10, n_inputs=16)
    least = min((one.held_out for one in found.candidates), key=lambda one: one.error)
    good = [one for one in found.candidates if not least.beats(one.held_out)]
    assert found.best.capacity == min(one.capacity for one in good) and found.best in found.models
    text = found.report()
    assert text.startswith(f"Use {found.best.words}, weights by {found.best.held_out.fitted}: on 5 stretches")
    assert "the baseline to beat before anything is trained" in text
    axis = found.plot()
    assert axis.get_ylabel() == "error on what was held out" and any(
        found.best.held_out.error in line.get_ydata() for line in axis.lines
    )
    plt.close(axis.figure)
    pytest.importorskip("pandas")
    table = found.to_dataframe()
    assert table["error"].tolist()[: len(found.models)] == [one.held_out.error for one in found.models]
    assert table["model"].tolist()[-len(found.baselines) :] == [*found.baselines]


def test_models_are_compared_on_a_series():
    series, models = simulated([0.5, 0.3], 500), {"taps": cc.AutoRegressiveTaps(3), "stack": cc.Hierarchical(1, 4)}
    found = cc.compare(models, series, starts=2, horizon=2)
    trial = HeldOut(series, 16, 2)
    for name, arch in models.items():
        one = found.models[name]
        tested, _ = trial.tested(arch, one.fits[0].params, trial.posed(arch.n_inputs), one.held_out.promised**2)
        np.testing.assert_array_equal(tested.squares, one.held_out.squares)
    lines = found.table().splitlines()
    assert lines[0].split()[:2] == ["model", "inputs"] and "promised" in lines[0]
    assert [line for line in lines if line.startswith("repeating the last value")]
    assert cc.compare(models, cc.PowerLaw(), starts=1).baselines == {}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"horizon": 0}, "horizon: found 0, expected"),
        ({"differences": -1}, "differences: found -1, expected"),
        ({"season": 1}, "season: found 1, expected"),
        ({"n_inputs": 64}, "series: found 160 values before those held out, expected at least 260"),
        ({"horizon": 150}, "series: found 0 values before those held out"),
        ({"season": 190}, "series: found 0 values before those held out"),
        ({"process": np.ones(200)}, "series: found the constant"),
        ({"process": np.r_[simulated([0.5], 180), np.full(20, np.nan)]}, "series: found no value in a stretch"),
        ({"process": cc.AR1(), "season": 4}, "expected a series"),
        ({"process": cc.AR1(), "horizon": 0}, "horizon: found 0"),
    ],
    ids=str,
)
def test_bad_input(options, told):
    with pytest.raises(TypeError, match="more than the next value"):
        cc.compare({"a": cc.AutoRegressiveTaps(2)}, cc.Problem.of(cc.AutoRegressiveTaps(2), cc.AR1()), horizon=2)
    with pytest.raises(ValueError, match=told):
        cc.design(**{"process": simulated([0.5], 200), "max_params": 4, "n_inputs": 8, **ONLY, **options})
