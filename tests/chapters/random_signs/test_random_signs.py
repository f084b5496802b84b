"""Squared gradients of small networks: the law of squared weights, by enumeration and by sampling."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapters.random_signs import study as study
from chapters.random_signs.study import dense_layers, law
from chapters.shared.random_signs import squared_gradients
from tests.strategies import seeds


def output(weights, f, x):
    """The network's output 0 at inputs (m, n)."""
    for w in weights[:-1]:
        x = f.value(x @ w)
    return x @ weights[-1][:, 0]


@pytest.mark.parametrize("name", ["identity", "tanh", "relu", "sine"])
def test_gradients_are_finite_differences(name):
    rng = np.random.default_rng(0)
    f = study.sine(3.0) if name == "sine" else study.activation(name)
    weights = study.dense_layers(4, 3, rng)
    x = rng.normal(size=(5, 4))
    step = 1e-6
    for i, e in enumerate(np.eye(4)):
        slope = (output(weights, f, x + step * e) - output(weights, f, x - step * e)) / (2 * step)
        # the error of central differences: third derivatives times 1e-12, and rounding of 1e-16 over the step
        np.testing.assert_allclose(study.input_gradients(weights, f, x)[:, i], slope, atol=1e-7)


def mean_over_all_signs(weights, f, x):
    """Every sign of every weight that matters, enumerated."""
    sizes = [w.size for w in weights]
    all_signs = np.array(list(product([-1.0, 1.0], repeat=sum(sizes))))
    parts = np.split(all_signs, np.cumsum(sizes)[:-1], axis=1)
    signed = [w * part.reshape(-1, *w.shape) for w, part in zip(weights, parts, strict=True)]
    return np.mean(study.input_gradients(signed, f, np.tile(x, (len(all_signs), 1))) ** 2, axis=0)


@settings(max_examples=15)
@given(seeds)
def test_for_relu_the_mean_over_signs_of_weights_is_the_law_at_every_input(seed):
    """The proof of the chapter, by enumeration: exact at any width and depth, so up to rounding of 1,024 terms."""
    rng = np.random.default_rng(seed)
    weights = [*study.dense_layers(2, 2, rng), rng.normal(size=(2, 1))]
    gradients = mean_over_all_signs(weights, study.activation("relu"), rng.normal(size=2))
    np.testing.assert_allclose(gradients * 2**2, law(weights), rtol=1e-10)


def test_for_tanh_it_is_not():
    """Otherwise the enumeration would show nothing: slopes of tanh depend on the size of what they are taken at."""
    rng = np.random.default_rng(3)
    weights = [*study.dense_layers(2, 2, rng), rng.normal(size=(2, 1))]
    gradients = mean_over_all_signs(weights, study.activation("tanh"), 2 * rng.normal(size=2))
    shares, expected = gradients / gradients.sum(), law(weights) / law(weights).sum()
    assert np.abs(shares - expected).max() > 0.01


def test_fast_sines_have_the_mean_square_of_uniform_phases():
    """One hidden unit: the mean of cos² over 20,000 phases, to five standard errors of √(1/8)/√20,000."""
    weights = [np.ones((1, 1)), np.ones((1, 1))]
    samples = study.over_inputs(weights, study.sine(50.0), 20_000, np.random.default_rng(1))
    assert samples.mean() == pytest.approx(1.0, abs=5 * 2 * np.sqrt(1 / 8 / 20_000))


@given(seeds, st.integers(2, 4))
def test_the_law_is_the_product_of_squares(seed, n_layers):
    weights = dense_layers(3, n_layers, np.random.default_rng(seed))
    expected = np.linalg.multi_dot([w**2 for w in weights])
    for output in range(3):
        np.testing.assert_allclose(study.law(weights, output), expected[:, output], rtol=1e-12)
    letter = np.linalg.multi_dot([*(w**2 for w in weights[1:]), weights[-1] ** 2])
    np.testing.assert_allclose(study.printed_law(weights), letter[:, 0], rtol=1e-12)


def test_single_networks_are_as_far_as_squares_of_normal_variables():
    """Wide layers: ½ E|χ² − 1| = 0.484 for a level law, and fewer inputs make it a little less."""
    rng = np.random.default_rng(0)
    weights = dense_layers(64, 3, rng)
    distances = study.distances(squared_gradients(weights, 0, 500, rng), study.law(weights))
    assert np.median(distances) == pytest.approx(0.484, abs=0.02)


def test_more_outputs_are_closer_and_all_of_them_not_exact():
    rng = np.random.default_rng(1)
    result = study.summed_outputs(dense_layers(8, 3, rng), [1, 2, 4, 8], 60, rng)
    values = list(result.values())
    assert values == sorted(values, reverse=True) and values[-1] > 0.05


def test_what_chance_leaves_grows_with_depth_and_falls_with_draws():
    few, many = (study.by_depth(8, [2, 16], ["signs"], 8, n, np.random.default_rng(3))["signs"] for n in (200, 3_200))
    assert few.shape == (2, 8)
    assert np.median(few[1]) > 1.5 * np.median(few[0])  # heavy tails: each layer multiplies
    assert np.median(few[0]) == pytest.approx(4 * np.median(many[0]), rel=0.5)  # 1/√draws; medians of 8
