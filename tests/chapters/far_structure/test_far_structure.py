"""Far share and far structure: networks by two routes, resamples, planted effects, and the stored result."""

import jax.numpy as jnp
import numpy as np
import pytest

import capcore as cc
from chapters.far_structure import criteria, experiment, resampling, study
from chapters.far_structure.networks import (
    LIMIT,
    UNITS,
    Trained,
    errors,
    first_params,
    forecasts,
    generated,
    next_values,
    parts,
)
from chapters.far_structure.series import LENGTH, NULLS, SERIES, series
from chapters.far_structure.stacks import Stack, alike
from chapters.kit.running import sweep_here
from chapters.kit.stored import path_of, stored
from chapters.shared.correlation import rank_scores
from chapters.shared.rank_statistics import partial_spearman
from chapters.sweeps.engine import sweep

pytest.importorskip("jax")
pytest.importorskip("optax")
pytest.importorskip("sklearn")

KINDS = ("linear", "tanh", "gated")


def made(slope, rng, noise=0.5, n_seeds=5):
    """What ``experiment.run`` returns, were the logarithm of the far error −slope times the far share, and noise."""
    stacks = alike()
    names = [*SERIES, *NULLS]
    models = list(dict.fromkeys(stack.model for stack in stacks))
    of = [models.index(stack.model) for stack in stacks]
    shares = {name: rng.uniform(0, 0.5, size=len(models))[of] for name in names}

    def networks(name):
        mean = -slope * (name in SERIES) * shares[name] + noise * rng.normal(size=len(stacks))
        far = np.exp(mean + 0.1 * rng.normal(size=(n_seeds, len(stacks))))
        loss = np.exp(0.05 * rng.normal(size=(n_seeds, len(stacks))))
        return {"loss": loss.tolist(), "far": np.round(1000 * far).tolist()}

    return {
        "stacks": [
            {
                "kernels": stack.kernels,
                "channels": stack.channels,
                "capacity": stack.capacity,
                "parameters": [stack.n_params] * len(KINDS),
            }
            for stack in stacks
        ],
        "series": {
            name: {
                "autocorrelation": [0.2 * (name in SERIES)] * 65,
                "far share": shares[name].tolist(),
            }
            for name in names
        },
        "networks": {kind: {name: networks(name) for name in names} for kind in KINDS},
    }


def test_the_far_share_is_that_of_a_projection():
    """On the columns of C ∂A/∂W, by differences, at the weights that fit the first 60 % of the series."""
    stack, values = alike()[3], series("warped season")
    process = cc.estimate_process(values[:960], 64)
    params = cc.fit(stack.arch, process).params
    steps = np.eye(len(params))  # coefficients are linear in each weight, so that differences are exact
    slopes = [stack.arch.coefficients(params + s) - stack.arch.coefficients(params - s) for s in steps]
    left, sizes, _ = np.linalg.svd(process.covariance(64) @ np.array(slopes).T, full_matrices=False)
    leverages = np.sum(left[:, : stack.capacity] ** 2, axis=1)
    assert sizes[stack.capacity] < 1e-9 * sizes[stack.capacity - 1]
    assert experiment.far_share(stack, values) == pytest.approx(leverages[32:].sum() / stack.capacity, abs=1e-8)


def test_the_far_error_is_that_of_the_far_lags(rng):
    """Two seeds of white noise against a truth that is off by 0.3 in one half; a third seed diverges."""
    values = rng.normal(size=(1, 3, 8, 3000))
    values[0, 2, 0, 5] = LIMIT
    for lags, size in ((slice(33, 65), 0.3), (slice(1, 33), 0.0)):
        truth = np.zeros((1, 65))
        truth[:, lags] = 0.3
        result = experiment.judged(Trained(None, np.ones((1, 3, 3)), values), truth, 100)
        assert result["far"][0, :2] == pytest.approx(size, abs=0.02)
        assert np.isnan([result[name][0, 2] for name in ("far", "loss")]).all()
        assert np.isfinite(result["curve"]).all()


def test_the_stored_result_has_its_shape():
    content = stored("far_structure")
    values, n = content["values"], len(alike())
    assert content["settings"] == experiment.SETTINGS
    assert path_of("far_structure").stat().st_size <= 150_000
    assert list(values["series"]) == [*SERIES, *NULLS] and list(values["networks"]) == ["linear", "tanh", "gated"]
    assert [entry["capacity"] for entry in values["stacks"]] == [stack.capacity for stack in alike()]
    for name, entry in values["series"].items():
        if name != "Lorenz":  # chaos: other arithmetic gives another series
            assert entry["autocorrelation"] == [round(value, 3) for value in experiment.autocorrelation(series(name))]
        assert len(entry["far share"]) == n and all(0 < share < 1 for share in entry["far share"])
        for kind in values["networks"]:
            rows = values["networks"][kind][name]
            assert [len(row) for row in rows["loss"] + rows["far"]] == [n] * 10
            loss, far = (np.array(rows[quantity], dtype=float) for quantity in ("loss", "far"))
            assert np.array_equal(np.isnan(loss), np.isnan(far))
            assert np.nanmin(loss) > 0 and np.nanmin(far) > 0 and np.nanmax(far) < 20_000


@pytest.mark.ci
def test_a_sweep_gives_what_this_process_gives():
    settings = experiment.SETTINGS | experiment.QUICK | {"series": ["AR(1)"], "stacks": [0]}
    assert experiment.run(settings, sweep) == experiment.run(settings, sweep_here)


STACK = Stack((2, 4, 2, 4), (2, 3, 2))


@pytest.mark.parametrize("units", UNITS)
def test_a_series_and_its_windows_have_the_same_forecasts(units, rng):
    params, series = first_params(STACK, units, 1), rng.normal(size=100).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(series, 64)[:, ::-1]
    result = forecasts(params, series, STACK.kernels, units)
    assert np.allclose(result, next_values(params, windows, STACK.kernels, units), atol=1e-5)  # single precision
    left = errors(params, series, STACK.kernels, units)
    assert np.allclose(left, series[64:] - result[:-1], atol=1e-6)


def test_without_residuals_a_network_follows_its_own_forecasts(rng):
    params, series = first_params(STACK, "tanh", 3), np.pad(rng.normal(size=200), (0, LENGTH - 200)).astype(np.float32)
    weights = parts(200)[0]
    result = generated(params, series, weights, jnp.zeros(LENGTH - 64), 0, STACK.kernels, "tanh", (2, 5))
    past = series[: round(0.6 * 200)]
    for value in np.asarray(result[0]):
        expected = next_values(params, past[None, -1:-65:-1], STACK.kernels, "tanh")
        assert value == pytest.approx(float(expected[0]), abs=1e-5)
        past = np.append(past, value).astype(np.float32)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """300 resamples, which move an end of an interval by some 0.02."""
    monkeypatch.setattr(resampling, "RESAMPLES", 300)


def both_networks(values):
    return study.Networks(values, SERIES), study.Networks(values, NULLS)


def test_partial_correlations_are_those_of_regressed_ranks(rng):
    x, y, *given = rng.normal(size=(4, 30, 25)).round(1)  # with ties
    result = partial_spearman(x, y, given)
    for row, value in enumerate(result):
        first, second = rank_scores(x[row], y[row], np.array([column[row] for column in given]))
        assert value == pytest.approx(first @ second, abs=1e-12)


def test_what_is_common_to_series_is_not_averaged_away(rng):
    """The same stacks are drawn for all: with equal series the mean is as uncertain as each."""
    values = made(2.0, rng)
    for kind in values["networks"].values():
        kind.update(dict.fromkeys(kind, kind["Lorenz"]))
    values["series"] = dict.fromkeys(values["series"], values["series"]["Lorenz"])
    rows, drawn = study.Networks(values, SERIES).effects("tanh")
    assert np.allclose(resampling.over_series(rows, drawn), resampling.interval(rows[0]), atol=1e-12)


def test_a_planted_effect_is_found(rng):
    result = study.Findings(*both_networks(made(20.0, rng)))  # nine models: one of 8 is missed on two series
    assert result.answer == "yes"
    assert all(effect.high < 0 for name, effect in result.by_series["tanh"].items() if name in SERIES)
    assert result.effect["nonlinear"].high < min(criteria.WANTED, result.chance)
    assert result.null["nonlinear"].high > 0


def test_chance_is_not_found(rng):
    result = study.Findings(*both_networks(made(0.0, rng)))
    assert result.answer == "no"
    assert result.effect["nonlinear"].low < 0 < result.effect["nonlinear"].high
    assert result.chance < result.effect["nonlinear"].mean and result.p > criteria.LEVEL


def test_signs_are_flipped_in_all_ways(rng):
    effects = rng.normal(-0.3, 1, size=8)
    signs = np.sign(rng.normal(size=(20_000, 8)))
    among = np.mean((signs * effects).mean(axis=1) <= effects.mean())
    assert resampling.sign_flips(effects) == pytest.approx(among, abs=0.015)  # four standard errors


def test_stacks_alike_are_in_their_bands():
    assert {stack.arch.n_inputs for stack in alike()} == {64}
    assert all(int(stack.arch.generic_capacity()) == stack.capacity for stack in alike())
    assert all(stack.arch.n_params == stack.n_params for stack in alike())
