"""The far share is that of leverages, errors are of the lags that they name, and the stored result has its shape."""

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("optax")
pytest.importorskip("sklearn")
import capcore as cc
from chapters.far_structure import experiment
from chapters.far_structure.networks import LIMIT, Trained
from chapters.far_structure.series import LENGTH, NULLS, SERIES, series
from chapters.far_structure.stacks import Stack, alike, all_stacks
from chapters.kit.running import sweep_here
from chapters.kit.stored import path_of, stored
from chapters.sweeps.engine import sweep


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


def test_a_short_stack_has_no_far_share_and_a_validation_error(rng):
    values = np.convolve(rng.normal(size=1700), 0.7 ** np.arange(100))[100:1700]
    share, error = experiment.far_share(Stack((4, 4), (4,)), 3.0 + values)
    assert share == 0
    assert error == pytest.approx(1, abs=0.25)  # variance of 240 innovations: standard error 0.09


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


def test_series_are_what_they_say():
    for name in SERIES | NULLS:
        values = series(name)
        assert len(values) == (1047 if "volume" in name else LENGTH) and np.isfinite(values).all()
    far = {name: experiment.autocorrelation(series(name))[experiment.FAR] for name in NULLS}
    assert all(np.abs(each).max() < 4 / np.sqrt(1047) for each in far.values())
    assert sorted(series("shuffled volume")) == pytest.approx(sorted(series("volume of trade")))


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


def test_the_run_has_what_it_says():
    settings = experiment.SETTINGS | experiment.QUICK | {"series": ["AR(1)"]}
    found = experiment.run(settings, sweep_here)
    assert np.shape(found["networks"]["tanh"]["AR(1)"]["far"]) == (2, 2) and list(found["curves"]["AR(1)"]) == ["0"]
    assert found["series"]["AR(1)"]["far share"][1] == 0


@pytest.mark.ci
def test_a_sweep_gives_what_this_process_gives():
    settings = experiment.SETTINGS | experiment.QUICK | {"series": ["AR(1)"], "stacks": [0]}
    assert experiment.run(settings, sweep) == experiment.run(settings, sweep_here)
