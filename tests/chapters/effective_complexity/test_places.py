"""Sensitivity by forward accumulation, and the points off the data where it is measured."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from chapters.effective_complexity.images import midpoints, shuffled_features, uniform_box
from chapters.shared.complexity import sensitivity
from tests.chapters.shared.complexity.test_input_jacobian import case
from tests.strategies import seeds


def forward_sensitivity(network, inputs, of):
    """What ``sensitivity`` gives, from the inputs up."""
    levels = network.pre_activations(inputs)
    found = np.repeat(network.weights[0][None], len(levels[0]), axis=0)  # (n, d, units)
    for z, w in zip(levels[:-1], network.weights[1:], strict=True):
        found = (found * network.phi.derivative(z)[:, None, :]) @ w
    if of == "probabilities":
        p = softmax(levels[-1], axis=1)[:, None, :]
        found = found * p - (found @ np.swapaxes(p, 1, 2)) * p
    return np.linalg.norm(found, axis=(1, 2))


@given(seeds, st.sampled_from(["relu", "tanh", "logistic", "hard_tanh"]), st.sampled_from(["probabilities", "logits"]))
def test_forward_and_backward_agree(seed, activation, of):
    network, inputs = case(seed, activation)
    np.testing.assert_allclose(
        forward_sensitivity(network, inputs, of), sensitivity(network, inputs, of), rtol=1e-10, atol=1e-14
    )


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
        ("labels: found 1 kind", lambda: midpoints(np.ones((3, 2)), [1, 1, 1], 2, np.random.default_rng(0))),
        ("labels: found 2 kind.* in 2, expected", lambda: midpoints(np.ones((3, 2)), [1, 0], 2, None)),
        ("n: found 0", lambda: uniform_box([[0.0]], 0, np.random.default_rng(0))),
    ],
)
def test_bad_input_is_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()
