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
    train_all,
)
from chapters.far_structure.series import LENGTH, NULLS, SERIES, series
from chapters.far_structure.stacks import Stack, alike, all_stacks
from chapters.kit.running import sweep_here
from chapters.kit.stored import path_of, stored
from chapters.shared.correlation import rank_scores
from chapters.sweeps.engine import sweep

pytest.importorskip("jax")
pytest.importorskip("optax")
pytest.importorskip("sklearn")

KINDS = ("linear", "tanh", "gated")


def made(slope, rng, noise=0.5, n_seeds=5):
    """What ``experiment.run`` returns, were the logarithm of the far error −slope times the far share, and noise."""
    stacks = all_stacks()
    names = [*SERIES, *NULLS]
    models = list(dict.fromkeys(each.model for each in stacks))
    of = [models.index(each.model) for each in stacks]
    shares = {name: rng.uniform(0, 0.5, size=len(models))[of] for name in names}

    def networks(name):
        mean = -slope * (name in SERIES) * shares[name] + noise * rng.normal(size=len(stacks))
        far = np.exp(mean + 0.1 * rng.normal(size=(n_seeds, len(stacks))))
        loss = np.exp(0.05 * rng.normal(size=(n_seeds, len(stacks))))
        return {"loss": loss.tolist(), "far": np.round(1000 * far).tolist()}

    return {
        "stacks": [
            {
                "kernels": each.kernels,
                "channels": each.channels,
                "field": each.n_inputs,
                "capacity": each.capacity,
                "parameters": [each.n_params] * len(KINDS),
            }
            for each in stacks
        ],
        "series": {
            name: {
                "autocorrelation": [0.2 * (name in SERIES)] * 65,
                "far share": shares[name].tolist(),
                "validation": rng.uniform(1, 2, size=len(stacks)).tolist(),
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
    share, _ = experiment.far_share(stack, values)
    assert share == pytest.approx(leverages[32:].sum() / stack.capacity, abs=1e-8)


def test_the_far_error_is_that_of_the_far_lags(rng):
    """Two seeds of white noise against a truth that is off by 0.3 in one half; a third seed diverges."""
    values = rng.normal(size=(1, 3, 8, 3000))
    values[0, 2, 0, 5] = LIMIT
    for lags, size in ((slice(33, 65), 0.3), (slice(1, 33), 0.0)):
        truth = np.zeros((1, 65))
        truth[:, lags] = 0.3
        found = experiment.judged(Trained(None, np.ones((1, 3, 3)), values), truth, 100)
        assert found["far"][0, :2] == pytest.approx(size, abs=0.02)
        assert np.isnan([found[name][0, 2] for name in ("far", "loss")]).all()
        assert np.isfinite(found["curve"]).all()


def test_the_stored_result_has_its_shape():
    content = stored("far_structure")
    values, n = content["values"], len(all_stacks())
    assert content["settings"] == experiment.SETTINGS
    assert path_of("far_structure").stat().st_size <= 150_000
    assert list(values["series"]) == [*SERIES, *NULLS] and list(values["networks"]) == ["linear", "tanh", "gated"]
    assert [(each["field"], each["capacity"]) for each in values["stacks"]] == [
        (each.n_inputs, each.capacity) for each in all_stacks()
    ]
    for name, each in values["series"].items():
        assert each["autocorrelation"] == [round(value, 3) for value in experiment.autocorrelation(series(name))]
        assert len(each["far share"]) == len(each["validation"]) == n
        assert [0 < share < 1 for share in each["far share"]] == [stack.n_inputs == 64 for stack in all_stacks()]
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
    found = forecasts(params, series, STACK.kernels, units)
    assert np.allclose(found, next_values(params, windows, STACK.kernels, units), atol=1e-5)  # single precision
    left = errors(params, series, STACK.kernels, units)
    assert np.allclose(left, series[64:] - found[:-1], atol=1e-6)


def test_without_residuals_a_network_follows_its_own_forecasts(rng):
    params, series = first_params(STACK, "tanh", 3), np.pad(rng.normal(size=200), (0, LENGTH - 200)).astype(np.float32)
    weights = parts(200)[0]
    found = generated(params, series, weights, jnp.zeros(LENGTH - 64), 0, STACK.kernels, "tanh", (2, 5))
    past = series[: round(0.6 * 200)]
    for value in np.asarray(found[0]):
        expected = next_values(params, past[None, -1:-65:-1], STACK.kernels, "tanh")
        assert value == pytest.approx(float(expected[0]), abs=1e-5)
        past = np.append(past, value).astype(np.float32)


def test_residuals_come_from_training_alone(rng):
    """With weights of zero what is generated is residuals: those of training, each about equally often."""
    params = [(0 * weights, bias) for weights, bias in first_params(STACK, "linear", 0)]
    weights = parts(400)[0]
    left = jnp.arange(LENGTH - 64) / 100
    found = np.asarray(generated(params, jnp.zeros(LENGTH), weights, left, 0, STACK.kernels, "linear", (4, 4000)))
    seen, counts = np.unique(np.round(100 * found).astype(int), return_counts=True)
    assert seen.tolist() == list(range(round(0.6 * 400) - 64))
    assert np.all(np.abs(counts - 16000 / 176) < 6 * np.sqrt(16000 / 176))


def test_training_learns_and_padding_does_not_count(rng):
    """Of an AR(1) with coefficient 0.8 the innovations have 0.36 of the variance."""
    series = np.convolve(rng.normal(size=1000), 0.8 ** np.arange(30))[:900]
    data = np.array([np.pad(series, (0, LENGTH - 900), constant_values=each) for each in (0.0, 7.0)])
    losses = train_all(STACK, "tanh", data, [900, 900], [0], 200, (2, 4)).losses
    assert np.all(losses < 0.7 * series.var())
    assert np.allclose(losses[0], losses[1], rtol=1e-5)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """300 resamples, which move an end of an interval by some 0.02."""
    monkeypatch.setattr(resampling.draws, "__defaults__", (300,))
    monkeypatch.setattr(resampling.chance, "__defaults__", (300,))


def both_networks(values):
    return study.Networks.of(values, SERIES), study.Networks.of(values, NULLS)


def test_partial_correlations_are_those_of_regressed_ranks(rng):
    x, y, *given = rng.normal(size=(4, 30, 25)).round(1)  # with ties
    found = resampling.partial_spearman(x, y, given)
    for row, value in enumerate(found):
        first, second = rank_scores(x[row], y[row], np.array([each[row] for each in given]))
        assert value == pytest.approx(first @ second, abs=1e-12)


def test_series_are_drawn_for_their_mean(rng):
    """Effects that no stack changes leave the series to scatter: a standard error of spread / √14."""
    effects = rng.normal(size=14)
    drawn = resampling.draws(np.arange(25), 5, 14, 4000)
    found = resampling.over_series(np.tile(effects[:, None], 4001), drawn)
    half = 1.96 * effects.std() / np.sqrt(14)
    assert found.mean == pytest.approx(effects.mean())
    assert [found.high - found.mean, found.mean - found.low] == pytest.approx([half, half], rel=0.15)  # not normal


def test_what_is_common_to_series_is_not_averaged_away(rng):
    """The same stacks are drawn for all: with equal series the mean is as uncertain as each."""
    values = made(2.0, rng)
    for kind in values["networks"].values():
        kind.update(dict.fromkeys(kind, kind["Lorenz"]))
    values["series"] = dict.fromkeys(values["series"], values["series"]["Lorenz"])
    rows, drawn = study.Networks.of(values, SERIES).effects("tanh")
    assert np.allclose(resampling.over_series(rows, drawn), resampling.interval(rows[0]), atol=1e-12)


def test_a_planted_effect_is_found(rng):
    found = study.found(*both_networks(made(20.0, rng)))  # nine models: one of 8 is missed on two series
    assert found.answer == "yes"
    assert all(each.high < 0 for name, each in found.by_series["tanh"].items() if name in SERIES)
    assert found.effect["nonlinear"].high < criteria.WANTED < found.chance
    assert found.null["nonlinear"].high > 0


def test_chance_is_not_found(rng):
    found = study.found(*both_networks(made(0.0, rng)))
    assert found.answer == "no"
    assert found.effect["nonlinear"].low < 0 < found.effect["nonlinear"].high
    assert found.chance < found.effect["nonlinear"].mean and found.p > criteria.LEVEL


def test_signs_are_flipped_in_all_ways(rng):
    effects = rng.normal(-0.3, 1, size=8)
    signs = np.sign(rng.normal(size=(20_000, 8)))
    among = np.mean((signs * effects).mean(axis=1) <= effects.mean())
    assert resampling.sign_flips(effects) == pytest.approx(among, abs=0.015)  # four standard errors


def test_a_better_competitor_is_seen(rng):
    values = made(8.0, rng, noise=0.1)
    found = study.competitors(both_networks(values)[0])
    assert all(difference.low > 0 for name, (_, difference) in found.items() if name != "far share")
    for name, each in values["series"].items():
        each["validation"] = np.mean(values["networks"]["tanh"][name]["far"], axis=0).tolist()
        values["networks"]["gated"][name] = values["networks"]["tanh"][name]
    assert study.competitors(both_networks(values)[0])["validation error"][1].high < 0


def test_stacks_alike_are_in_their_bands():
    assert {each.n_inputs for each in alike()} == {64}
    assert all(int(each.arch.generic_capacity()) == each.capacity for each in alike())
    assert all(each.arch.n_params == each.n_params for each in alike())


def test_models_are_drawn_with_all_their_stacks(rng):
    models = np.array([0, 0, 1, 2, 2, 2])
    drawn = resampling.draws(models, 5, 2, 200)
    assert drawn.stacks[0, :6].tolist() == list(range(6)) and (drawn.stacks[0, 6:] == -1).all()
    for row in drawn.stacks:
        counts = np.bincount(row[row >= 0], minlength=6)
        assert counts[[0, 2, 3]].sum() == 3
        assert counts.tolist() == counts[[0, 0, 2, 3, 3, 3]].tolist()
    assert np.isnan(drawn.of(np.arange(6))[drawn.stacks < 0]).all()


def test_the_stacks_alike_are_nine_linear_models():
    """As the page says: layers that meet at a full bond merge, and stacks that are one model have one far share."""
    some, _ = study.networks()
    shares = some.share[:, some.alike].T.round(3)
    models = some.models[some.alike]
    assert len(shares) == 25 and len(np.unique(shares, axis=0)) == len(np.unique(models)) == 9
    assert all(len(np.unique(shares[models == each], axis=0)) == 1 for each in models)
