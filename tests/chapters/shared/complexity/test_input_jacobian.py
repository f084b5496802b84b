"""Sensitivity: slopes of the probabilities, and what changes nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from chapters.shared.complexity import random_network
from chapters.shared.complexity.input_jacobian import probability_jacobian, sensitivity
from tests.strategies import seeds


def case(seed, activation="tanh"):
    rng = np.random.default_rng(seed)
    return random_network([3, 6, 5, 4], rng, bias_scale=0.3, activation=activation), rng.normal(size=(5, 3))


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


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("of: found 'logit', expected one of .* Did you mean 'logits'", lambda: sensitivity(*case(0), "logit")),
        ("network: found one output", lambda: sensitivity([([[1.0]], [0.0])], [[1.0]])),
        (r"inputs: found shape \(5, 2\), expected \(n, 3\)", lambda: sensitivity(case(0)[0], case(0)[1][:, :2])),
    ],
)
def test_bad_input_is_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()
