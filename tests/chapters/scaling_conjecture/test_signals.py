"""Untrained residual networks against exact expectations, JAX's Jacobians, the kernel of infinite width and a law."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.kit.stored import stored
from chapters.scaling_conjecture.signals import (
    BLOCKS,
    Untrained,
    gradient_correlation,
    layer_time,
    one_power,
    shattering_law,
    signals,
)


def rng(seed=0):
    return np.random.default_rng(seed)


def kernel_correlation(n_layers, a, angle):
    """Correlation across an arc for two-layer blocks of infinite width.

    A layer multiplies it by (1 + s² (1 − θ/π)) / (1 + s²), where θ is the angle between the two states, and turns them
    towards each other: cos θ becomes (cos θ + s² k(θ)) / (1 + s²) with k(θ) = (sin θ + (π − θ) cos θ)/π, the arc-cosine
    kernels of Cho and Saul (2009).
    """
    s, theta, found = float(n_layers) ** -a, angle, 1.0
    for _ in range(n_layers):
        found *= (1 + s**2 * (1 - theta / np.pi)) / (1 + s**2)
        kernel = (np.sin(theta) + (np.pi - theta) * np.cos(theta)) / np.pi
        theta = np.arccos(min((np.cos(theta) + s**2 * kernel) / (1 + s**2), 1.0))
    return found


@pytest.mark.parametrize("a", [0.25, 0.5, 0.75, 1.0])
def test_sizes_of_two_layer_blocks_are_those_of_the_expectation(a):
    found = signals("two-layer", 16, [a], n_draws=400, rng=rng())
    expected = (1 + 16 ** (-2 * a)) ** 16
    for values, mean in ((found.forward, expected), (found.backward, expected), (found.distance, expected - 1)):
        error = values[0].std() / np.sqrt(400)
        assert abs(values[0].mean() - mean) < 4 * error  # once in 15,000 seeds


@pytest.mark.parametrize("kind", BLOCKS)
@pytest.mark.parametrize("shared", [False, True])
def test_jacobians_and_states_are_those_of_jax(kind, shared):
    jax = pytest.importorskip("jax")
    from chapters.scaling_conjecture.tasks import through_blocks

    n, depth = 5, 7
    found = signals(kind, depth, [0.3], width=n, n_draws=1, shared=shared, rng=rng(2))
    generator = rng(2)
    x = generator.standard_normal((1, 1, n))[0, 0]
    weights = {"W": [], "V": []}
    for _ in range(1 if shared else depth):
        weights["W"].append(generator.standard_normal((n, n)) * np.sqrt((1 if kind == "tanh" else 2) / n))
        if kind == "two-layer":
            weights["V"].append(generator.standard_normal((n, n)) / np.sqrt(n))
    blocks = {
        name: jax.numpy.asarray(np.array(each * depth if shared else each)) for name, each in weights.items() if each
    }

    def network(x):
        return through_blocks(blocks, x, depth**-0.3, kind)

    J = np.asarray(jax.jacobian(network)(jax.numpy.asarray(x)))
    end = np.asarray(network(jax.numpy.asarray(x)))
    expected = [(end @ end) / (x @ x), (J**2).sum() / n, ((J - np.eye(n)) ** 2).sum() / n]
    np.testing.assert_allclose([found.forward[0, 0], found.backward[0, 0], found.distance[0, 0]], expected, rtol=1e-4)


@pytest.mark.parametrize("a", [0.0, 0.25, 0.5, 1.0])
def test_wide_networks_have_the_correlation_of_the_kernel(a):
    found = gradient_correlation("two-layer", 16, [a], width=256, n_draws=6, n_points=33, rng=rng())
    step = 4 / 32
    for lag in (2, 4, 8):
        runs = found[0, :, lag]
        # bias and scatter of 256 channels at 16 layers are of order 16/256
        assert abs(runs.mean() - kernel_correlation(16, a, lag * step)) < 0.06


@given(st.floats(0.05, 1.0), st.floats(0.3, 1.5))
def test_the_kernel_follows_the_law_of_many_layers(angle, a):
    law = shattering_law(layer_time(400, a), angle)
    # the law neglects what is of higher order in the angle, and in s² as long as the correlation is not small
    assert abs(kernel_correlation(400, a, angle) - law) < 0.01 + 0.05 * angle**2


def test_at_half_the_law_has_a_limit_and_elsewhere_it_is_one_or_zero():
    half, quarter, one = (
        [float(shattering_law(layer_time(L, a), 0.5)) for L in (10**3, 10**9)] for a in (0.5, 0.25, 1)
    )
    assert half[0] == pytest.approx(half[1], rel=1e-3) and 0.8 < half[1] < 0.9
    assert quarter[1] < 1e-6 and one[1] > 1 - 1e-6


def test_the_identity_keeps_its_gradients():
    np.testing.assert_allclose(gradient_correlation("relu", 4, [40.0], n_points=16, rng=rng()), 1)


def test_correlations_by_brute_force():
    points = 12
    found = gradient_correlation("tanh", 3, [0.5], width=4, n_draws=1, n_points=points, rng=rng(1))[0, 0]
    generator = rng(1)
    u, v, across = generator.standard_normal((3, 1, 1, 4))[:, 0, 0]
    W = [generator.standard_normal((1, 4, 4))[0] / 2 for _ in range(3)]
    slopes = []
    for z in np.linspace(-2, 2, points):
        x, d = v * np.cos(z) + u * np.sin(z), across
        for w in W:
            h = np.tanh(x @ w)
            x, d = x + 3**-0.5 * h, d + 3**-0.5 * (1 - h**2) * (d @ w)
        slopes.append(d)
    means = [np.mean([slopes[i] @ slopes[i + k] for i in range(points - k)]) for k in range(points)]
    np.testing.assert_allclose(found, np.array(means) / means[0], atol=1e-12)


def test_a_constant_is_a_power_of_the_depth():
    assert 512 ** -one_power(2.0, 0.5, 512) == pytest.approx(2 * 512**-0.5)


def test_growth_compares_two_depths():
    free = Untrained.of(stored("residual_signals"))
    row = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0])
    assert free.growth(row) == 2.0 and free.growth(row, 4) == 1.6


def test_single_relu_blocks_drift_as_computed():
    found = signals("relu", 256, [1.0], n_draws=64, rng=rng()).forward.mean()
    assert found == pytest.approx(np.cosh(1 / np.sqrt(np.pi)) ** 2, rel=0.1)  # of wide networks


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("kind: found 'two layer'.*Did you mean 'two-layer'", lambda: signals("two layer", 2, [0.5], rng=rng())),
        ("n_layers: found 0", lambda: signals("tanh", 0, [0.5], rng=rng())),
        ("n_draws: found 0", lambda: signals("tanh", 2, [0.5], n_draws=0, rng=rng())),
        ("n_points: found 1", lambda: gradient_correlation("tanh", 2, [0.5], n_points=1, rng=rng())),
        ("constant: found 0, expected a positive number", lambda: one_power(0.0, 0.5, 8)),
        ("n_layers: found 1", lambda: one_power(2.0, 0.5, 1)),
    ],
)
def test_unusable_settings_are_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()
