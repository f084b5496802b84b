"""Networks: two ways to compute them, what they can be as linear maps, and what they do when left alone."""

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("optax")
import jax.numpy as jnp

from chapters.far_structure.networks import (
    LIMIT,
    UNITS,
    errors,
    first_params,
    forecasts,
    generated,
    next_values,
    parts,
    train_all,
)
from chapters.far_structure.series import LENGTH
from chapters.far_structure.stacks import Stack, alike

STACK = Stack((2, 4, 2, 4), (2, 3, 2))


@pytest.mark.parametrize("units", UNITS)
def test_a_series_and_its_windows_have_the_same_forecasts(units, rng):
    params, series = first_params(STACK, units, 1), rng.normal(size=100).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(series, 64)[:, ::-1]
    found = forecasts(params, series, STACK.kernels, units)
    assert np.allclose(found, next_values(params, windows, STACK.kernels, units), atol=1e-5)  # single precision
    left = errors(params, series, STACK.kernels, units)
    assert np.allclose(left, series[64:] - found[:-1], atol=1e-6)


def test_channels_bound_the_rank_across_a_bond():
    """Of a linear network, the weights of all inputs: what passes a bond is as many numbers as it has channels."""
    for stack in alike()[::8]:
        params = first_params(stack, "linear", 2)
        weights = np.asarray(next_values(params, np.eye(64, dtype=np.float32), stack.kernels, "linear"))
        sizes = np.linalg.svd(weights.reshape(-1, int(np.prod(stack.kernels[:2]))), compute_uv=False)
        assert np.sum(sizes > 1e-5 * sizes[0]) == stack.channels[1]


def test_without_residuals_a_network_follows_its_own_forecasts(rng):
    params, series = first_params(STACK, "tanh", 3), np.pad(rng.normal(size=200), (0, LENGTH - 200)).astype(np.float32)
    weights = parts(200)[0]
    found = generated(params, series, weights, jnp.zeros(LENGTH - 64), 0, STACK.kernels, "tanh", (2, 5))
    past = series[: round(0.6 * 200)]
    for value in np.asarray(found[0]):
        expected = next_values(params, past[None, -1:-65:-1], STACK.kernels, "tanh")
        assert value == pytest.approx(float(expected[0]), abs=1e-5)
        past = np.append(past, value).astype(np.float32)


def test_residuals_come_from_training_alone(rng):
    """With weights of zero what is generated is residuals: those of training, each about equally often."""
    params = [(0 * weights, bias) for weights, bias in first_params(STACK, "linear", 0)]
    weights = parts(400)[0]
    left = jnp.arange(LENGTH - 64) / 100
    found = np.asarray(generated(params, jnp.zeros(LENGTH), weights, left, 0, STACK.kernels, "linear", (4, 4000)))
    seen, counts = np.unique(np.round(100 * found).astype(int), return_counts=True)
    assert seen.tolist() == list(range(round(0.6 * 400) - 64))
    assert np.all(np.abs(counts - 16000 / 176) < 6 * np.sqrt(16000 / 176))


def test_an_unstable_network_reaches_the_limit(rng):
    stack = Stack((2, 2), (1,))
    params = [(np.array([[1.2, 0.0]], np.float32), np.zeros((1, 1), np.float32))] * 2
    series = rng.normal(size=LENGTH).astype(np.float32)
    found = generated(params, series, parts(LENGTH)[0], jnp.ones(LENGTH - 64), 0, stack.kernels, "linear", (2, 50))
    assert np.abs(found).max() == LIMIT


def test_training_learns_and_padding_does_not_count(rng):
    """Of an AR(1) with coefficient 0.8 the innovations have 0.36 of the variance."""
    series = np.convolve(rng.normal(size=1000), 0.8 ** np.arange(30))[:900]
    data = np.array([np.pad(series, (0, LENGTH - 900), constant_values=each) for each in (0.0, 7.0)])
    losses = train_all(STACK, "tanh", data, [900, 900], [0], 200, (2, 4)).losses
    assert np.all(losses < 0.7 * series.var())
    assert np.allclose(losses[0], losses[1], rtol=1e-5)
