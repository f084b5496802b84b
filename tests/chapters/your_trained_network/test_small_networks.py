"""Real data in splits, and small networks trained side by side, each as if it were trained alone."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from chapters.your_trained_network import small_networks as networks
from chapters.your_trained_network.real_data import LAGS, SOURCES, Split, source

SHAPE = networks.Shape("MLP tanh", 4, (3,), 2)


@pytest.mark.parametrize("name", SOURCES)
def test_splits_share_no_example_and_are_normalised(name):
    data, found, other = source(name), Split(name, 0), Split(name, 1)
    assert found.x.shape[1:] == data.x.shape[1:] and 75 <= len(found.x) <= 100
    assert len(found.x) + len(found.x_test) <= len(data.x)
    rows = {each.tobytes() for each in found.x.reshape(len(found.x), -1).round(9)}
    shared = [each for each in found.x_test.reshape(len(found.x_test), -1).round(9) if each.tobytes() in rows]
    assert len(shared) <= len(data.x) - len(np.unique(data.x.reshape(len(data.x), -1), axis=0))  # iris has one twice
    assert np.bincount(found.folds).tolist() == sorted(np.bincount(found.folds).tolist(), reverse=True)
    assert not np.array_equal(found.x, other.x)
    if data.x.ndim == 2:
        constant = data.x.std(axis=0) == 0
        assert found.x.mean(axis=0) == pytest.approx(0, abs=1e-9)
        assert found.x.std(axis=0)[~constant] == pytest.approx(1) or name == "digits"
    if data.loss == "squared":
        assert found.y.std(axis=0) == pytest.approx(1)
        assert found.baseline == pytest.approx(np.square(found.y_test).mean() / 2)
    else:
        assert set(found.y.sum(axis=1)) == {1.0} and 0.5 < found.baseline < 3


def test_windows_of_a_series_come_in_runs_with_a_gap():
    data, found = source("volume"), Split("volume", 3)
    runs = np.lib.stride_tricks.sliding_window_view(data.y[:, 0], 100)
    scaled = (runs - runs.mean(axis=1, keepdims=True)) / runs.std(axis=1, keepdims=True)
    assert np.isclose(scaled, found.y[:, 0]).all(axis=1).sum() == 1
    assert np.array_equal(found.folds, np.repeat(range(5), 20)) and len(found.x_test) >= len(data.x) - 100 - 2 * LAGS
    assert np.array_equal(data.x[1:, -1], data.y[:-1, 0]) and data.x.shape[1] == LAGS


def test_a_convolution_is_a_dilated_one(rng):
    """Kernels of two taps, 1, 2, 4 and 8 apart, at the last output."""
    shape = networks.Shape("convolution", 3, (16,), 1)
    x, w = rng.normal(size=(1, 16)), shape.start(rng)
    signal, at = x[0][:, None], 0
    for dilation, (rows, columns) in zip((1, 2, 4, 8), shape.layers[:-1], strict=True):
        matrix, bias = w[at : at + rows * columns].reshape(rows, columns), w[at + rows * columns :][:columns]
        pairs = np.hstack([signal[:-dilation], signal[dilation:]])
        signal, at = np.tanh(pairs @ matrix + bias), at + (rows + 1) * columns
    assert networks.outputs(shape, w[None], x)[0, 0] == pytest.approx(signal[-1] @ w[at:-1] + w[-1])


@pytest.mark.parametrize("optimiser", [pytest.param("Adam", marks=pytest.mark.slow), "AdamW"])
def test_side_by_side_is_as_alone(optimiser, rng):
    """Optax's steps, one network after the other, with a decay and with examples left out; single precision."""
    shape, n = SHAPE, 20
    x, y = rng.normal(size=(n, 3)), rng.normal(size=(n, 2))
    recipe, start = networks.Recipe(30, 8, 0.01), shape.start(rng)
    left_in = np.stack([np.ones(n, bool), np.arange(n) % 5 > 0])
    decay = np.array([0.3, 0.1])
    none = np.zeros(2)
    coupled, decoupled = (decay, none) if optimiser == "Adam" else (none, decay)
    found = networks.train(
        shape, "squared", recipe, start, x, y, left_in, coupled, decoupled, np.random.default_rng(1), (1,), (10, 30)
    )
    batches = np.argsort(np.random.default_rng(1).random((30, n)), axis=1)[:, :8]
    rates = optax.cosine_decay_schedule(0.01, 30)
    for i in range(2):
        parts = [optax.scale_by_adam()] + ([optax.add_decayed_weights(decay[i])] if optimiser == "AdamW" else [])
        method = optax.chain(*parts, optax.scale_by_learning_rate(rates))
        w = jnp.asarray(start, dtype=jnp.float32)
        state = method.init(w)

        def loss(w, batch, i=i):
            errors = jnp.square(shape.apply(w, x[batch]) - y[batch]).sum(axis=1) / 2
            mean = (left_in[i][batch] * errors).sum() / 8 / left_in[i].mean()
            return mean + (decay[i] / 2 * (w**2).sum() if optimiser == "Adam" else 0.0)

        for batch in batches:
            updates, state = method.update(jax.grad(loss)(w, batch), state, w)
            w = optax.apply_updates(w, updates)
        assert found.params[i] == pytest.approx(np.asarray(w), abs=1e-4)
    assert found.path.shape == (2, 1, start.size) and np.array_equal(found.path[-1, 0], found.params[1])
    assert np.array_equal(found.path_squares[-1, 0], found.squares[1])


def test_decoupled_decay_has_the_fixed_point_that_is_assumed(rng):
    """AdamW on all examples at once ends where ∇ℓ = −N·w(√v + ε)θ: up to a third, as v remembers a thousand steps."""
    from chapters.your_trained_network.decay_choice import decay_of

    shape = networks.Shape("MLP tanh", 3, (2,), 1)
    x = rng.normal(size=(30, 2))
    y = np.sin(x[:, :1])
    recipe = networks.Recipe(6000, 30, 0.02)
    found = networks.train(
        shape, "squared", recipe, shape.start(rng), x, y, np.ones((1, 30), bool), np.zeros(1), np.full(1, 0.5), rng
    )
    w = found.params[0]
    gradient = np.einsum("nkp,nk->p", networks.jacobian(shape, w, x), networks.outputs(shape, w[None], x)[0] - y)
    pull = decay_of("AdamW", 0.5, found.squares[0], 30) * w
    assert np.linalg.norm(gradient + pull) < np.linalg.norm(pull) / 3
