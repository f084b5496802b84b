"""Layers with side inputs: against NumPy, conservation of squared gradients, and the laws of their shares."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chapters.scaling_conjecture_side_inputs import side_inputs as sides
from chapters.scaling_conjecture_side_inputs.side_experiment import untrained_shares
from chapters.scaling_conjecture_side_inputs.side_shares import side_share

KEY = jax.random.key(3)


@pytest.mark.parametrize("divided", [True, False])
def test_layers_are_those_of_the_formula(divided):
    depth, n, gamma = 5, 4, 0.7
    layers = sides.draw_layers(KEY, depth, n)
    rng = np.random.default_rng(0)
    x, added = rng.standard_normal((3, n)), rng.standard_normal((depth, 3, n))
    expected = x
    for W, V, s in zip(np.asarray(layers["W"]), np.asarray(layers["V"]), added, strict=True):
        expected = expected + np.maximum(expected @ W, 0) @ V / np.sqrt(depth) + gamma * s
        expected = expected / (np.sqrt(1 + 1 / depth + gamma**2) if divided else 1)
    norm = sides.divisor(depth, gamma, divided)
    found = sides.through_layers(layers, jnp.asarray(x), jnp.asarray(added), gamma, norm)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)  # single precision


def test_blocks_pass_norms_on_in_expectation():
    x = jax.random.normal(KEY, (64, 64))
    layers = sides.draw_layers(KEY, 1, 64)
    branch = sides.through_layers(layers, x, jnp.zeros((1, 64, 64)), 0.0, 1.0) - x
    assert float(jnp.sum(branch**2) / jnp.sum(x**2)) == pytest.approx(1, abs=0.15)  # 3 errors of one draw of weights


def test_divided_layers_keep_the_norm_of_independent_inputs():
    depth, n = 32, 64
    layers, gamma = sides.draw_layers(KEY, depth, n), 1 / np.sqrt(depth)
    x = jax.random.normal(KEY, (32, n))
    added = jax.random.normal(jax.random.key(4), (depth, 32, n))
    top = sides.through_layers(layers, x, added, gamma, sides.divisor(depth, gamma, True))
    assert float(jnp.mean(top**2)) == pytest.approx(1, abs=0.2)


def test_gradients_are_those_of_finite_differences():
    """The share of two inputs, by differences of a direction of x_L in every coordinate."""
    depth, n, gamma = 3, 3, 0.6
    norm = sides.divisor(depth, gamma, True)
    weights, start, side, direction = jax.random.split(KEY, 4)
    layers = sides.draw_layers(weights, depth, n)
    x, added = jax.random.normal(start, (1, n)), jax.random.normal(side, (depth, 1, n))
    along = jax.random.normal(direction, (1, n))

    def value(flat):
        return float(
            jnp.sum(along * sides.through_layers(layers, flat[:n][None], flat[n:].reshape(depth, 1, n), gamma, norm))
        )

    flat, step = jnp.concatenate([x.ravel(), added.ravel()]), 1e-2
    slopes = np.array([(value(flat + step * e) - value(flat - step * e)) / (2 * step) for e in jnp.eye(flat.size)])
    expected = np.sum(slopes[:n] ** 2) / np.sum(slopes**2)
    assert float(sides.gradient_shares(KEY, depth, n, gamma, norm, n_inputs=1)) == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize(("form", "exponent"), [("divided", 0.5), ("undivided", 0), ("undivided", 0.5), ("same", 0.5)])
def test_shares_follow_their_law(form, exponent):
    shares = untrained_shares(form, [exponent], 64, 32, 24)[0]
    error = shares.std(ddof=1) / np.sqrt(shares.size)
    law = side_share(form, 64, 64.0**-exponent)
    assert abs(shares.mean() - law) < 4 * error + 0.08 * law  # a mean of ratios, where the law has a ratio of means


def test_more_side_input_leaves_less_to_x():
    shares = untrained_shares("divided", [1, 0.5, 0.25, 0], 16, 8, 4)
    assert (np.diff(shares, axis=0) < 0).all() and ((shares > 0) & (shares < 1)).all()


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("n_layers: found 0", lambda: sides.side_scale(0, 0.5)),
        ("exponent: found nan", lambda: sides.side_scale(8, float("nan"))),
        ("width: found 0", lambda: sides.draw_layers(KEY, 8, 0)),
        ("form: found 'divide'.*Did you mean 'divided'", lambda: untrained_shares("divide", [0], 8)),
        ("draws: found 0", lambda: untrained_shares("same", [0], 8, draws=0)),
    ],
)
def test_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()
