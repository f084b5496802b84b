"""Squared gradients of small networks: against finite differences, and over all signs of all weights."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapters.random_signs import study as nets
from chapters.random_signs.study import law
from tests.strategies import seeds


def output(weights, f, x):
    """The network's output 0 at inputs (m, n)."""
    for w in weights[:-1]:
        x = f.value(x @ w)
    return x @ weights[-1][:, 0]


@pytest.mark.parametrize("name", ["identity", "tanh", "relu", "sine"])
def test_gradients_are_finite_differences(name):
    rng = np.random.default_rng(0)
    f = nets.sine(3.0) if name == "sine" else nets.activation(name)
    weights = nets.dense_layers(4, 3, rng)
    x = rng.normal(size=(5, 4))
    step = 1e-6
    for i, e in enumerate(np.eye(4)):
        slope = (output(weights, f, x + step * e) - output(weights, f, x - step * e)) / (2 * step)
        # the error of central differences: third derivatives times 1e-12, and rounding of 1e-16 over the step
        np.testing.assert_allclose(nets.input_gradients(weights, f, x)[:, i], slope, atol=1e-7)


@given(seeds, st.sampled_from(["tanh", "relu"]))
def test_every_input_may_have_weights_of_its_own(seed, name):
    rng = np.random.default_rng(seed)
    f, x = nets.activation(name), rng.normal(size=(3, 2))
    own = [rng.normal(size=(3, 2, 2)) for _ in range(3)]
    together = nets.input_gradients(own, f, x)
    for i in range(3):
        alone = nets.input_gradients([w[i] for w in own], f, x[i : i + 1])
        np.testing.assert_allclose(together[i], alone[0], atol=1e-12)


def mean_over_all_signs(weights, f, x):
    """Every sign of every weight that matters, enumerated."""
    sizes = [w.size for w in weights]
    all_signs = np.array(list(product([-1.0, 1.0], repeat=sum(sizes))))
    parts = np.split(all_signs, np.cumsum(sizes)[:-1], axis=1)
    signed = [w * part.reshape(-1, *w.shape) for w, part in zip(weights, parts, strict=True)]
    return np.mean(nets.input_gradients(signed, f, np.tile(x, (len(all_signs), 1))) ** 2, axis=0)


@settings(max_examples=15)
@given(seeds)
def test_for_relu_the_mean_over_signs_of_weights_is_the_law_at_every_input(seed):
    """The proof of the chapter, by enumeration: exact at any width and depth, so up to rounding of 1,024 terms."""
    rng = np.random.default_rng(seed)
    weights = [*nets.dense_layers(2, 2, rng), rng.normal(size=(2, 1))]
    found = mean_over_all_signs(weights, nets.activation("relu"), rng.normal(size=2))
    np.testing.assert_allclose(found * 2**2, law(weights), rtol=1e-10)


def test_for_tanh_it_is_not():
    """Otherwise the enumeration would show nothing: slopes of tanh depend on the size of what they are taken at."""
    rng = np.random.default_rng(3)
    weights = [*nets.dense_layers(2, 2, rng), rng.normal(size=(2, 1))]
    found = mean_over_all_signs(weights, nets.activation("tanh"), 2 * rng.normal(size=2))
    shares, expected = found / found.sum(), law(weights) / law(weights).sum()
    assert np.abs(shares - expected).max() > 0.01


def test_samples_over_signs_keep_the_sizes_of_weights():
    """Without hidden units there is nothing to interfere: every draw is the law."""
    weights = [np.array([[0.6], [-0.8]])]
    samples = nets.over_weight_signs(weights, nets.activation("tanh"), 2_003, np.random.default_rng(0))
    assert samples.shape == (2_003, 2)
    np.testing.assert_allclose(samples, np.tile([0.36, 0.64], (2_003, 1)), rtol=1e-12)


def test_fast_sines_have_the_mean_square_of_uniform_phases():
    """One hidden unit: the mean of cos² over 20,000 phases, to five standard errors of √(1/8)/√20,000."""
    weights = [np.ones((1, 1)), np.ones((1, 1))]
    samples = nets.over_inputs(weights, nets.sine(50.0), 20_000, np.random.default_rng(1))
    assert samples.mean() == pytest.approx(1.0, abs=5 * 2 * np.sqrt(1 / 8 / 20_000))


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("frequency: found 0", lambda: nets.sine(0.0)),
        ("activation: found 'gelu'", lambda: nets.activation("gelu")),
        ("width: found 0", lambda: nets.dense_layers(0, 2, np.random.default_rng(0))),
        ("positions: found 2", lambda: nets.convolutional_layers(2, 1, 2, np.random.default_rng(0))),
        ("inputs", lambda: nets.input_gradients([np.eye(2)] * 2, nets.sine(1.0), [[np.nan, 0.0]])),
    ],
)
def test_bad_input_is_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()
