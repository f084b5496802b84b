"""Comparisons: starts that agree are counted as one optimum, others are said, and nothing depends on the workers."""

import warnings
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

import capcore as cc
from capcore.designs.comparison import LONGEST, _groups
from tests.strategies import refused

TASK = cc.PowerLaw(0.5)
TRAIN, RECURRENT = cc.Hierarchical(2, 4), cc.Recurrent(16, 2)
TILED = cc.Hierarchical(2, dilations=[1, 2, 4, 8] * 2)
NO_CHANGE = cc.Linear(np.eye(2))


@pytest.fixture(scope="module")
def found():
    return cc.compare({"train": TRAIN, "recurrent": RECURRENT}, TASK, starts=3)


@pytest.fixture(scope="module")
def local():
    """Local optima: plain descents where dilations overlap."""
    return cc.compare({"tiled": TILED}, TASK, starts=4, method="gauss-newton", max_iterations=300)


def end(loss, coefficients, converged=True):
    """A fit of two coefficients; the process is white noise with v* = 1."""
    return SimpleNamespace(loss=loss, variance=1 + loss, coefficients=np.array(coefficients), converged=converged)


def grouped(*ends):
    white = cc.Problem(np.zeros(2), np.eye(2), np.eye(2), 1.0)
    ordered, groups, tied = _groups(NO_CHANGE, white, ends)
    return [[fit is one for one in ends].index(True) for fit in ordered], groups, tied


def test_a_model_alone_gives_what_it_gives_beside_others(found):
    alone = cc.compare({"recurrent": RECURRENT}, TASK, starts=3).models["recurrent"]
    assert alone.losses.tolist() == found.models["recurrent"].losses.tolist()
    np.testing.assert_array_equal(alone.profile, found.models["recurrent"].profile)


def test_the_first_start_is_the_default_one(found):
    train = found.models["train"]
    default = cc.fit(TRAIN, TASK).loss
    assert default > 0 and any(loss == pytest.approx(default, rel=1e-12) for loss in train.losses)
    assert train.groups == [0, 0, 0] and train.totals == (12, 12)


def test_groups_have_one_loss_and_one_predictor(local):
    tiled, problem = local.models["tiled"], cc.Problem.of(TILED, TASK)
    assert max(tiled.groups) > 0 and np.all(np.diff(tiled.losses) >= 0)
    for i, one in enumerate(tiled.fits):
        for j, other in enumerate(tiled.fits[:i]):
            apart = np.linalg.norm(problem.root @ (one.coefficients - other.coefficients)) / np.sqrt(other.loss)
            assert (apart <= 2e-3) == (tiled.groups[i] == tiled.groups[j])


def test_losses_and_coefficients_decide_together():
    at = [0.1, 0.0]
    assert grouped(end(1e-2, at), end(1e-2 * (1 + 5e-7), at)) == ([0, 1], [0, 0], 2)
    assert grouped(end(1e-2 * (1 + 5e-6), at), end(1e-2, at)) == ([1, 0], [0, 1], 1)  # another loss
    near, far = [0.1, 1.9e-4], [0.1, 2.1e-4]  # √loss = 0.1
    assert grouped(end(1e-2, at), end(1e-2, near)) == ([0, 1], [0, 0], 2)
    assert grouped(end(1e-2, at), end(1e-2, far)) == ([0, 1], [0, 1], 2)  # a mirror image, say
    assert grouped(end(1e-20, [1e-10, 0.0]), end(0.0, [0.0, 0.0])) == ([0, 1], [0, 0], 2)  # v* + loss is v*


def test_optima_that_tie_give_ranges_and_no_warnings():
    # An AR(1) target is attained with one channel: those that are left over decide the rank.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optima = cc.compare({"train": cc.Hierarchical(4, 5)}, cc.AR1(0.9), starts=3).models["train"]
    totals = [each.total for each in optima.allocations]
    assert len(totals) == 3 and optima.totals == (min(totals), max(totals)) and min(totals) < max(totals)
    best, least, most = optima.profile
    profiles = np.array([each.per_input for each in optima.allocations])
    np.testing.assert_array_equal([least, most], [profiles.min(axis=0), profiles.max(axis=0)])
    assert best.sum() == pytest.approx(optima.allocations[0].total)


def test_long_trains_start_once():
    long = cc.Hierarchical(1, 13)
    assert long.n_inputs > LONGEST
    found = cc.compare({"newton": long}, TASK, starts=3).models["newton"]
    assert len(found.fits) == 1
    octaves = cc.compare({"short": TRAIN}, TASK, starts=3, method="octaves")
    assert len(octaves.models["short"].fits) == 1
    longest = cc.compare({"very long": cc.Hierarchical(1, 25)}, TASK, starts=3)
    assert longest.models["very long"].profile.shape == (3, 26)
    assert np.isnan(longest.to_dataframe()["error"].item())
    assert longest.to_dataframe()["excess"].item() == longest.models["very long"].losses[0]
    figure = longest.plot()
    assert figure.axes[1].get_xlabel() == "octave of lag"
    plt.close(figure)


def test_tables_have_a_row_for_each_model(found):
    heads, *rows = found.table().splitlines()
    assert heads.split()[:4] == ["model", "inputs", "weights", "error"] and len(rows) == 2
    assert rows[0].split() == ["train", "16", "24", "0.47652", "1.5642e-05", "1.5642e-05", "3/3", "1", "12"]
    frame = found.to_dataframe()
    assert frame.loc["train", "error"] == found.models["train"].fits[0].variance


def test_one_yardstick_for_windows_of_all_lengths():
    """The same forecast from a short and a long window errs as much; its loss is of its own window."""
    models = {
        "4": cc.AutoRegressiveTaps(4),
        "32": cc.AutoRegressiveTaps(4, n_inputs=32),
        "stack": cc.Hierarchical(2, 5),
    }
    found = cc.compare(models, TASK, starts=2)
    short, long, stack = found.to_dataframe()["excess"]
    variances = [TASK.predictor(n)[1] for n in (4, 32)]
    assert found.models["4"].losses[0] < 1e-20
    assert short == pytest.approx(long, rel=1e-9) == pytest.approx(variances[0] - variances[1], rel=1e-9)
    assert stack < short / 100


def test_the_picture_has_errors_and_profiles(found):
    figure = found.plot()
    left, right = figure.axes
    assert left.get_yscale() == "log" and len(right.collections) == 2
    np.testing.assert_allclose(left.lines[0].get_ydata(), found.to_dataframe().loc["train", "excess"], rtol=1e-9)
    np.testing.assert_array_equal(right.lines[1].get_ydata(), found.models["recurrent"].profile[0])
    plt.close(figure)


test_bad_input_is_refused = refused(
    lambda changed: cc.compare(**{"models": {"a": TRAIN}, "task": TASK, "starts": 1, **changed}),
    ({"models": {}}, "models: found none"),
    ({"starts": 0}, "starts: found 0"),
    ({"n_starts": 2}, "n_starts: found 2"),
    ({"start": "random"}, "start: found 'random', expected none: compare chooses it. Set starts"),
    ({"method": "newton"}, "method: found 'newton'"),
    ({"ftol": 1.0}, "ftol"),
)


test_bad_input_is_refused_by_type = refused(
    lambda changed: cc.compare(**{"models": {"a": TRAIN}, "task": TASK, "starts": 1, **changed}),
    ({"models": [TRAIN]}, "models"),
    ({"models": {1: TRAIN}}, "models"),
    ({"models": {"a": cc.Hierarchical}}, "expected an instance. Make one"),
    ({"task": "power law"}, "expected a Process"),
    error=TypeError,
)
