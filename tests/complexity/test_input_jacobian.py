"""Sensitivity: forward against backward, slopes of the probabilities, and points off the data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from capcore.complexity import random_network
from capcore.complexity.input_jacobian import (
    forward_sensitivity,
    midpoints,
    probability_jacobian,
    sensitivity,
    shuffled_features,
    uniform_box,
)
from tests.strategies import seeds


def case(seed, activation="tanh"):
    rng = np.random.default_rng(seed)
    return random_network([3, 6, 5, 4], rng, bias_scale=0.3, activation=activation), rng.normal(size=(5, 3))


@given(seeds, st.sampled_from(["relu", "tanh", "logistic", "hard_tanh"]), st.sampled_from(["probabilities", "logits"]))
def test_forward_and_backward_agree(seed, activation, of):
    network, inputs = case(seed, activation)
    np.testing.assert_allclose(
        forward_sensitivity(network, inputs, of), sensitivity(network, inputs, of), rtol=1e-10, atol=1e-14
    )


@given(seeds)
def test_the_jacobian_is_the_slope_of_the_probabilities(seed):
    network, inputs = case(seed)
    step = 1e-6
    for j in range(3):
        up, down = (softmax(network(inputs + s * np.eye(3)[j]), axis=1) for s in (step, -step))
        found = probability_jacobian(network, inputs)
        np.testing.assert_allclose(found[:, :, j], (up - down) / (2 * step), atol=1e-8)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-14)  # probabilities add up to one


@given(seeds, st.floats(-5, 5))
def test_a_common_shift_of_the_logits_changes_nothing(seed, shift):
    network, inputs = case(seed)
    pairs = [*zip(network.weights, network.biases, strict=True)]
    pairs[-1] = (pairs[-1][0], pairs[-1][1] + shift)
    moved = type(network)(*zip(*pairs, strict=True), network.activation)
    np.testing.assert_allclose(sensitivity(moved, inputs), sensitivity(network, inputs), rtol=1e-9)


@given(seeds)
def test_probabilities_move_at_most_half_as_fast_as_logits(seed):
    network, inputs = case(seed)
    ratio = sensitivity(network, inputs) / sensitivity(network, inputs, "logits")
    assert np.all(ratio <= 0.5 + 1e-12)  # the largest eigenvalue of diag p − ppᵀ is at most one half


def test_points_off_the_data():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(400, 2)) @ [[1.0, 0.9], [0.0, 0.4]]
    shuffled = shuffled_features(inputs, 4_000, rng)
    for j in range(2):
        assert set(shuffled[:, j]) <= set(inputs[:, j])
    assert np.corrcoef(inputs.T)[0, 1] > 0.85
    assert abs(np.corrcoef(shuffled.T)[0, 1]) < 0.08  # five standard errors of 4,000 pairs
    box = uniform_box(inputs, 4_000, rng)
    assert np.all(box >= inputs.min(axis=0)) and np.all(box <= inputs.max(axis=0))
    np.testing.assert_allclose(box.mean(axis=0), (inputs.min(axis=0) + inputs.max(axis=0)) / 2, atol=0.15)


def test_midpoints_lie_between_points_of_different_labels():
    inputs, labels = np.arange(6.0)[:, None] ** 2, [0, 0, 0, 1, 1, 1]
    between = {(a + b) / 2 for a in inputs[:3, 0] for b in inputs[3:, 0]}
    found = midpoints(inputs, labels, 200, np.random.default_rng(0))
    assert set(found[:, 0]) == between


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("of: found 'logit', expected one of .* Did you mean 'logits'", lambda: sensitivity(*case(0), "logit")),
        ("network: found one output", lambda: sensitivity([([[1.0]], [0.0])], [[1.0]])),
        ("labels: found 1 kind", lambda: midpoints(np.ones((3, 2)), [1, 1, 1], 2, np.random.default_rng(0))),
        ("labels: found 2 kind.* in 2, expected", lambda: midpoints(np.ones((3, 2)), [1, 0], 2, None)),
        (r"inputs: found shape \(5, 2\), expected \(n, 3\)", lambda: sensitivity(case(0)[0], case(0)[1][:, :2])),
        ("n: found 0", lambda: uniform_box([[0.0]], 0, np.random.default_rng(0))),
    ],
)
def test_bad_input_is_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()
