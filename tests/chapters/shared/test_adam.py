"""The trainer: one step by hand, runs that do not see each other, and bad input."""

import numpy as np
import pytest

from chapters.shared.adam import train
from chapters.shared.complexity import Network, random_network
from chapters.shared.complexity.gradients import loss_gradients

RNG = np.random.default_rng(0)
INPUTS, LABELS = RNG.normal(size=(30, 3)), RNG.integers(0, 3, 30)


def starts(n=3, **options):
    return [random_network([3, 8, 3], np.random.default_rng(seed), bias_scale=0.1, **options) for seed in range(n)]


def fresh(n=3):
    return [np.random.default_rng(100 + seed) for seed in range(n)]


def test_the_first_step_of_adam_is_the_sign_of_the_gradient():
    network = starts(1)[0]
    run = train([network], INPUTS, LABELS, fresh(1), n_epochs=1, batch_size=30, learning_rate=0.01)
    loss, gradients, _ = loss_gradients(network.weights, network.biases, network.phi, INPUTS, LABELS)
    for before, after, gradient in zip(network.weights, run.final[0].weights, gradients, strict=True):
        clear = np.abs(gradient) > 1e-5  # ε is 1e-8
        np.testing.assert_allclose((after - before)[clear], -0.01 * np.sign(gradient)[clear], rtol=2e-3)
    assert run.losses[0, 0] == pytest.approx(loss, rel=1e-12)


def test_adam_by_hand():
    """One weight, f = w x at x = 1, target 0: the gradient is w, and the recursion can be written down."""
    rate, w, m, v = 0.1, 1.0, 0.0, 0.0
    run = train([Network([[[1.0]]], [[0.0]])], [[1.0]], [[0.0]], fresh(1), "squared", rate, 20, biases=False)
    for k in range(1, 21):
        m, v = 0.9 * m + 0.1 * w, 0.999 * v + 0.001 * w**2
        w -= rate * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.999**k)) + 1e-8)
    assert run.final[0].weights[0].item() == pytest.approx(w, rel=1e-12)
    assert run.final[0].biases[0].item() == 0


def test_a_run_does_not_depend_on_its_neighbours():
    labels = np.stack([LABELS, LABELS[::-1], np.zeros(30, int)])
    rates = [1e-3, 1e-2, 3e-3]
    together = train(starts(), INPUTS, labels, fresh(), n_epochs=5, batch_size=7, learning_rate=rates)
    for i in range(3):
        alone = train([starts()[i]], INPUTS, labels[i], [fresh()[i]], n_epochs=5, batch_size=7, learning_rate=rates[i])
        for a, b in zip(together.final[i].weights, alone.final[0].weights, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
        np.testing.assert_allclose(together.losses[:, i], alone.losses[:, 0], atol=1e-12)


def test_snapshots_and_frozen_biases():
    networks = starts()
    run = train(networks, INPUTS, LABELS, fresh(), n_epochs=6, snapshots=[0, 2], biases=False, weight_decay=0.1)
    assert run.epochs == (0, 2, 6) and len(run.networks) == 3 and run.losses.shape == (6, 3)
    assert run.networks[0][1] is networks[1]
    for before, after in zip(networks, run.final, strict=True):
        np.testing.assert_array_equal(before.biases[0], after.biases[0])
        assert not np.allclose(before.weights[0], after.weights[0])
    shorter = train(networks, INPUTS, LABELS, fresh(), n_epochs=2, biases=False, weight_decay=0.1)
    np.testing.assert_array_equal(shorter.final[2].weights[1], run.networks[1][2].weights[1])


def test_decay_alone_shrinks_the_weights():
    network = Network([[[2.0]]], [[0.0]])
    run = train([network], [[0.0]], [[0.0]], fresh(1), "squared", 0.1, n_epochs=3, weight_decay=0.5)
    assert run.final[0].weights[0].item() == pytest.approx(2 * (1 - 0.05) ** 3)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_it_learns_the_labels(activation):
    run = train(starts(activation=activation), INPUTS, LABELS, fresh(), learning_rate=0.02, n_epochs=300, batch_size=10)
    assert run.losses[-1].max() < 0.5 * run.losses[0].min()
    shares = [np.mean(network(INPUTS).argmax(axis=1) == LABELS) for network in run.final]
    assert np.mean(shares) > 0.6  # random labels: a third by guessing; 8 units need not fit all 30


@pytest.mark.parametrize(
    ("message", "options"),
    [
        (r"networks: found none", {"networks": []}),
        (r"networks: found 2 different shapes", {"networks": [*starts(2), random_network([3, 4, 3], RNG)]}),
        (r"rngs: found 2 for 3 networks", {"rngs": fresh(2)}),
        (r"learning_rate: found \[0.1, 0.1\], expected a number above 0, or 3", {"learning_rate": [0.1, 0.1]}),
        (r"learning_rate: found 0", {"learning_rate": 0}),
        (r"n_epochs: found 0", {"n_epochs": 0}),
        (r"snapshots: found 9, expected at most n_epochs, 2", {"snapshots": [9]}),
        (r"weight_decay: found -1", {"weight_decay": -1}),
        (r"inputs: found shape \(30, 2\), expected \(n, 3\)", {"inputs": INPUTS[:, :2]}),
        (r"targets: found shape \(29,\)", {"targets": LABELS[1:]}),
        (r"batch_size: found 0.5", {"batch_size": 0.5}),
        (
            r"network: found one output, expected at least two for cross-entropy",
            {"networks": [random_network([3, 4, 1], RNG) for _ in range(3)], "targets": 0 * LABELS},
        ),
    ],
)
def test_bad_input_is_refused(message, options):
    settings = {"networks": starts(), "inputs": INPUTS, "targets": LABELS, "rngs": fresh(), "n_epochs": 2}
    with pytest.raises(ValueError, match=message):
        train(**{**settings, **options})
