"""Random features against plain least squares, labels that are wrong as often as asked, and the peak at the rank."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.double_descent import experiment, study
from chapters.double_descent.effective import least_squares, model_complexity
from tests.strategies import seeds


@given(seeds, st.integers(2, 12), st.integers(2, 12))
def test_the_path_is_least_squares_and_ridge(seed, n, p):
    rng = np.random.default_rng(seed)
    x, y, z = rng.standard_normal((n, p)), rng.standard_normal((n, 3)), rng.standard_normal((5, p))
    points, test_points, least, shrunk = study.least_norm_path(x, y, z, [0.1, 10.0])
    coefficients = np.linalg.pinv(x) @ y
    np.testing.assert_allclose(points @ least, x @ coefficients, atol=1e-8)
    np.testing.assert_allclose(test_points @ least, z @ coefficients, atol=1e-6 * np.abs(coefficients).max())
    for penalty, each in zip([0.1, 10.0], shrunk, strict=True):
        solved = np.linalg.solve(x.T @ x + penalty * np.mean(x**2) * np.eye(p), x.T @ y)
        np.testing.assert_allclose(points @ each, x @ solved, atol=1e-9)
        np.testing.assert_allclose(test_points @ each, z @ solved, atol=1e-9)


def test_fewer_features_are_the_first_of_more():
    inputs = experiment.digits()[0]
    draw = study.RandomFeatures(30, np.random.default_rng(1))
    found = draw(inputs)
    expected = np.maximum((inputs - draw.means) / draw.scale @ draw.weights[:, :7] + draw.offsets[:7], 0)
    np.testing.assert_allclose(found[:, :7], expected, atol=1e-12)
    assert found.shape == (1797, 30) and found.min() == 0


def test_no_feature_is_dead():
    """Features that are zero on all images would make the rank, and with it the complexity, smaller than p."""
    found = study.RandomFeatures(500, np.random.default_rng(2))(experiment.digits()[0])
    assert (found > 0).mean(axis=0).min() > 0.01


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_as_many_labels_are_wrong_as_asked(share):
    labels = np.arange(500) % 10
    found = experiment.relabelled(labels, "wrong", np.random.default_rng(0), share)
    assert np.mean(found != labels) == share and set(found.tolist()) <= set(range(10))
    shuffled = experiment.relabelled(labels, "shuffled", np.random.default_rng(0))
    assert sorted(shuffled.tolist()) == sorted(labels.tolist()) and np.mean(shuffled == labels) < 0.2
    assert np.array_equal(experiment.relabelled(labels, "right", np.random.default_rng(0), share), labels)


def test_a_split_takes_every_image_once_and_tests_on_right_labels():
    inputs, labels = experiment.digits()
    assert inputs.shape == (1797, 64) and (inputs.min(), inputs.max()) == (-1, 1)
    found = experiment.split(100, "shuffled", np.random.default_rng(0))
    together = np.concatenate([found.inputs, found.test_inputs])
    np.testing.assert_array_equal(np.sort(together, axis=0), np.sort(inputs, axis=0))
    known = {tuple(image): int(label) for image, label in zip(inputs, labels, strict=True)}
    assert [known[tuple(image)] for image in found.test_inputs] == found.test_digits.tolist()


def test_errors_of_predictions_that_are_known():
    labels = np.array([0, 1, 2, 9])
    assert experiment.squared_error(np.zeros((4, 10)), labels) == pytest.approx(0.9)
    assert experiment.squared_error(experiment.one_hot(labels), labels) == 0
    assert experiment.wrong_share(experiment.one_hot(np.array([0, 1, 3, 9])), labels) == 0.25


@pytest.fixture(scope="module")
def curves():
    return study.feature_curves([10, 30, 50, 80, 200], 50, ["right", "wrong", "shuffled"], 4, 3)


@pytest.mark.parametrize("kind", ["right", "wrong", "shuffled"])
def test_the_peak_is_where_the_complexity_is_the_sample(curves, kind):
    found = curves[kind]
    assert found.peak == 50 and found.most_missed == 0
    fitted = found.mean("train")
    assert (fitted[:2] > 1e-3).all() and (fitted[2:] < 1e-10).all()
    mean, low, high = found.height(30)
    assert 1 < low < mean < high
    assert found.first_within("train", 1e-6) == 50 and found.first_within("train", -1.0) is None
    assert (found.errors["ridge"] <= 1.01 * found.errors["test"]).all()


def test_kinds_of_labels_do_not_disturb_one_another(curves):
    alone = study.feature_curves([10, 30, 50, 80, 200], 50, ["right"], 4, 3)["right"]
    np.testing.assert_allclose(alone.errors["train"], curves["right"].errors["train"], atol=1e-9)
    np.testing.assert_allclose(alone.errors["ridge"], curves["right"].errors["ridge"], rtol=1e-6)


def test_the_complexity_of_random_features_is_their_number():
    found = model_complexity(
        least_squares,
        study.feature_sample(30, "wrong", np.random.default_rng(0)),
        np.random.default_rng(1),
        epsilon=1e-6,
        maximum=100,
        n_trials=3,
    )
    assert (found.value, found.monotone) == (30, True)


def test_the_share_of_wrong_digits_is_a_weaker_criterion():
    sample = study.feature_sample(30, "wrong", np.random.default_rng(0))
    found = model_complexity(
        study.wrong_digits(least_squares), sample, np.random.default_rng(1), epsilon=0.01, maximum=100, n_trials=5
    )
    assert found.value > 30


def test_bad_input():
    with pytest.raises(ValueError, match="kind: found 'wrongly'"):
        experiment.relabelled(np.arange(3), "wrongly", np.random.default_rng(0))
    with pytest.raises(ValueError, match="share: found 2"):
        experiment.relabelled(np.arange(3), "wrong", np.random.default_rng(0), 2)
    with pytest.raises(ValueError, match="n: found 1797, expected fewer than the 1797 images"):
        experiment.split(1797, "right", np.random.default_rng(0))
    with pytest.raises(ValueError, match="n_features: found 0"):
        study.RandomFeatures(0, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"procedure: found 0\.5, expected a function"):
        study.wrong_digits(lambda x, y, rng: 0.5)(np.ones((2, 2)), np.ones((2, 10)), np.random.default_rng(0))
