"""Backpropagation against finite differences, sums over points, and scikit-learn's loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.shared.complexity import random_network
from chapters.shared.complexity.gradients import check_targets, loss_gradients, output_errors, point_gradients
from tests.strategies import seeds


def case(seed, loss, activation="tanh", n=4):
    rng = np.random.default_rng(seed)
    network = random_network([3, 5, 4, 2], rng, bias_scale=0.3, activation=activation)
    targets = rng.integers(0, 2, n) if loss == "cross_entropy" else rng.normal(size=(n, 2))
    return network, rng.normal(size=(n, 3)), targets


def mean_loss(weights, biases, network, inputs, targets, loss):
    return loss_gradients(weights, biases, network.phi, inputs, targets, loss)[0]


@given(seeds, st.sampled_from(["cross_entropy", "squared"]), st.sampled_from(["tanh", "logistic", "leaky_relu"]))
def test_gradients_are_slopes_of_the_loss(seed, loss, name):
    network, inputs, targets = case(seed, loss, name)
    rest = (network, inputs, targets, loss)
    gradients = loss_gradients(network.weights, network.biases, network.phi, inputs, targets, loss)[1:]
    step, rng = 1e-6, np.random.default_rng(seed)
    move = [[rng.normal(size=p.shape) for p in parts] for parts in (network.weights, network.biases)]
    up, down = (
        mean_loss(*([p + s * m for p, m in zip(parts, by, strict=True)]
                    for parts, by in zip((network.weights, network.biases), move, strict=True)), *rest)
        for s in (step, -step)
    )  # fmt: skip
    along = sum(np.sum(g * m) for gs, ms in zip(gradients, move, strict=True) for g, m in zip(gs, ms, strict=True))
    kinks = np.concatenate(network.pre_activations(inputs)[:-1], axis=1)
    if name != "leaky_relu" or np.abs(kinks).min() > 1e-4:  # a kink within the step has no one slope
        assert along == pytest.approx((up - down) / (2 * step), abs=1e-7)


@given(seeds, st.sampled_from(["cross_entropy", "squared"]))
def test_gradients_of_points_have_the_gradient_as_their_mean(seed, loss):
    network, inputs, targets = case(seed, loss)
    _, by_weights, by_biases = loss_gradients(network.weights, network.biases, network.phi, inputs, targets, loss)
    parts = [part.ravel() for pair in zip(by_weights, by_biases, strict=True) for part in pair]
    rows = point_gradients(network, inputs, output_errors(network(inputs), targets, loss)[1])
    assert rows.shape == (4, network.n_params)
    np.testing.assert_allclose(rows.mean(axis=0), np.concatenate(parts), atol=1e-14)


@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "hard_tanh"])
def test_runs_side_by_side_are_the_runs_one_by_one(activation):
    cases = [case(seed, "cross_entropy", activation) for seed in range(3)]
    stacked = [np.stack(layer) for layer in zip(*(c[0].weights for c in cases), strict=True)]
    biases = [np.stack(layer) for layer in zip(*(c[0].biases for c in cases), strict=True)]
    inputs, targets = np.stack([c[1] for c in cases]), np.stack([c[2] for c in cases])
    found = loss_gradients(stacked, biases, cases[0][0].phi, inputs, targets)
    for i, (network, x, y) in enumerate(cases):
        alone = loss_gradients(network.weights, network.biases, network.phi, x, y)
        assert found[0][i] == pytest.approx(alone[0], abs=1e-14)
        for together, single in zip(found[1] + found[2], alone[1] + alone[2], strict=True):
            np.testing.assert_allclose(together[i], single, atol=1e-14)


def test_the_loss_is_the_one_of_scikit_learn():
    neural = pytest.importorskip("sklearn.neural_network")
    from chapters.shared.complexity import as_network

    _, inputs, _ = case(0, "cross_entropy", n=30)
    model = neural.MLPClassifier((6, 5), max_iter=1, solver="adam", alpha=0.0, random_state=0)
    labels = np.arange(30) % 3
    with pytest.warns(match="Maximum iterations"):
        model.fit(inputs, labels)
    network = as_network(model)
    from sklearn.metrics import log_loss

    losses, _ = output_errors(network(inputs), labels, "cross_entropy")
    assert losses.mean() == pytest.approx(log_loss(labels, model.predict_proba(inputs)), rel=1e-9)


@pytest.mark.parametrize(
    ("message", "targets", "shape", "loss"),
    [
        (r"targets: found shape \(3,\), expected \(4,\), one label a point", [0, 1, 0], (4, 2), "cross_entropy"),
        (r"targets: found labels outside 0 … 1", [0, 1, 2, 0], (4, 2), "cross_entropy"),
        (r"targets: found labels outside 0 … 1", [0, 1, 0.5, 0], (4, 2), "cross_entropy"),
        (r"targets: found shape \(4, 1\), expected \(2, 4, 2\) or \(4, 2\)", np.ones((4, 1)), (2, 4, 2), "squared"),
        (r"loss: found 'hinge', expected one of", [0], (1, 2), "hinge"),
        (r"targets: found 1 value\(s\) that are NaN", [0, np.nan], (2, 2), "cross_entropy"),
    ],
)
def test_bad_targets_are_refused(message, targets, shape, loss):
    with pytest.raises(ValueError, match=message):
        check_targets(targets, shape, loss)


def test_errors_that_do_not_fit_are_refused():
    network, inputs, _ = case(0, "squared")
    with pytest.raises(ValueError, match=r"errors: found shape \(3, 2\), expected \(4, 2\)"):
        point_gradients(network, inputs, np.ones((3, 2)))
