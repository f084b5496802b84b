"""Residual networks: untrained ones against expectations and laws, tasks against loops, and the stored runs."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.kit.stored import stored
from chapters.scaling_conjecture import figures as draw
from chapters.scaling_conjecture.experiment import SETTINGS, arms, at_edge, search
from chapters.scaling_conjecture.figures import loss_of
from chapters.scaling_conjecture.residual_delay import SETTINGS as DELAY
from chapters.scaling_conjecture.residual_delay import run as run_delay
from chapters.scaling_conjecture.signals import (
    BLOCKS,
    Untrained,
    gradient_correlation,
    layer_time,
    shattering_law,
    signals,
)
from chapters.scaling_conjecture.tasks import block, digits_task, draw_blocks, through_blocks, transport_task
from chapters.shared.training import train


def leaves(values):
    return [values] if "best" in values else [leaf for value in values.values() for leaf in leaves(value)]


@pytest.mark.slow
def test_every_arm_has_a_place_of_its_own():
    keys = [keys for keys, _, _ in arms(SETTINGS)]
    assert len(set(keys)) == len(keys) == len(leaves(stored("residual_scale")["values"]))


@pytest.mark.slow
def test_the_best_rate_of_every_arm_that_learns_lies_inside_its_grid():
    content = stored("residual_scale")
    for arm in leaves(content["values"]):
        assert len(arm["best"]) == len(content["settings"]["seeds"])
        if np.median(loss_of(arm)) < 0.9:
            assert not arm["at_edge"] and arm["rates"][0] < arm["rate"] < arm["rates"][-1]


@pytest.mark.slow
def test_transport_at_scale_one_over_depth_is_learnt_late_as_stored():
    now = run_delay({**DELAY, "depths": [8], "rates": [6.4e-3], "n_steps": 900})["8"][0]
    then = stored("residual_delay")["values"]["8"][DELAY["rates"].index(6.4e-3)]
    assert all(200 < step < 900 for step in (*now, *then))  # when a plateau is left depends on rounding


# Gradient descent on w²/2 from 1 has the loss (1 − rate)^(2t)/2: the best rate is 1, rates above 2 diverge.
BOWL = partial(train, lambda key: 1.0, lambda w, batch: 0.5 * w**2, [np.zeros(4)], seeds=[0, 1], n_steps=10)


@pytest.mark.parametrize(
    ("rates", "tried"), [([1.0, 0.5, 2.0], 3), ([0.0625, 0.125], 6), ([4.0, 8.0], 5)], ids=["around", "below", "above"]
)
def test_a_grid_is_extended_until_the_best_rate_lies_inside(rates, tried):
    runs = search(BOWL, rates, extensions=6, factor=2.0, digits=4)
    assert runs.learning_rates[runs.best] == 1 and not at_edge(runs)
    assert np.allclose(np.diff(np.log2(runs.learning_rates)), 1) and len(runs.learning_rates) == tried
    assert np.median(runs.final, axis=1).argmin() == runs.best and runs.params.shape == (tried, 2)


def test_a_search_ends_after_its_extensions_and_where_all_diverge():
    runs = search(BOWL, [1e-3], extensions=2, factor=3.0)
    assert runs.learning_rates.tolist() == [3.33e-4, 1e-3, 3e-3] and at_edge(runs)
    assert len(search(partial(BOWL, n_steps=200), [8.0, 16.0], extensions=2, factor=2.0).learning_rates) == 2


KEY = jax.random.key(3)


def by_hand(kind, weights, x, scale):
    for layer in range(len(weights["W"])):
        h = x @ np.asarray(weights["W"][layer], float)
        h = np.tanh(h) if kind == "tanh" else np.maximum(h, 0)
        x = x + scale * (h @ np.asarray(weights["V"][layer], float) if kind == "two-layer" else h)
    return x


@pytest.mark.slow
@pytest.mark.parametrize("kind", BLOCKS)
def test_a_scan_is_the_loop_over_layers(kind):
    weights = draw_blocks(KEY, kind, 6, 5)
    x = np.random.default_rng(0).standard_normal((7, 5))
    result = through_blocks(weights, jnp.asarray(x), 0.4, kind)
    np.testing.assert_allclose(result, by_hand(kind, weights, x, 0.4), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_taps_are_a_convolution_on_a_ring():
    weights = {name: w[0] for name, w in draw_blocks(KEY, "relu", 1, 4, taps=3).items()}
    x = np.random.default_rng(0).standard_normal((9, 4))
    result = block("relu", weights, jnp.asarray(x), taps=3)
    for p in range(9):
        seen = np.concatenate([x[(p - 1) % 9], x[p], x[(p + 1) % 9]])
        np.testing.assert_allclose(result[p], np.maximum(seen @ np.asarray(weights["W"]), 0), rtol=1e-4, atol=1e-5)


TASK_KEY = jax.random.key(0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "task", [digits_task("relu", 3, 0.5, 6), transport_task("relu", 4, 0.5, 6, positions=12, batch=16)]
)
def test_only_the_blocks_are_trained(task):
    params = task.initial(TASK_KEY)
    batch = task.data(TASK_KEY) if callable(task.data) else tuple(part[:8] for part in task.data)
    slope = jax.grad(task.loss)(params, batch)
    assert all(not slope[name].any() for name in ("embedding", "readout", "scale"))
    assert slope["blocks"]["W"].any()


@pytest.mark.slow
def test_scales_that_start_at_zero_are_trained_and_start_at_the_identity():
    task = digits_task("two-layer", 3, 0.0, 6, zero_start=True)
    params = task.initial(TASK_KEY)
    start, end = task.ends(params, jnp.asarray(task.data[0][:5]))
    assert (start == end).all()
    slope = jax.grad(task.loss)(params, tuple(part[:8] for part in task.data))
    assert slope["scale"].any() and not slope["blocks"]["W"].any()


@pytest.mark.slow
def test_a_layer_sees_its_neighbours_only():
    task = transport_task("tanh", 2, 0.0, 8, distance=2, positions=12, batch=16)
    params = task.initial(TASK_KEY)
    marks = jnp.ones((1, 12))
    changed = (task.ends(params, marks.at[0, 5].set(-1.0))[1] != task.ends(params, marks)[1]).any(axis=-1)[0]
    assert np.flatnonzero(changed).tolist() == [3, 4, 5, 6, 7]


@pytest.fixture(scope="module")
def free():
    return Untrained.of(stored("residual_signals"))


def test_sizes_lie_on_their_expectation(free, ax):
    draw.plot_sizes(free, ax)
    assert ax.get_legend_handles_labels()[1] == ["a = 0", "a = ¼", "a = ½", "a = ¾", "a = 1"]
    law, result = ax.lines[4:6]  # at one half
    assert result.get_ydata() == pytest.approx(np.interp(free.depths, *law.get_data()), rel=0.1)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["8", "32", "128", "512"]


def rng(seed=0):
    return np.random.default_rng(seed)


def kernel_correlation(n_layers, a, angle):
    """Correlation across an arc for two-layer blocks of infinite width.

    A layer multiplies it by (1 + s² (1 − θ/π)) / (1 + s²), where θ is the angle between the two states, and turns them
    towards each other: cos θ becomes (cos θ + s² k(θ)) / (1 + s²) with k(θ) = (sin θ + (π − θ) cos θ)/π, the arc-cosine
    kernels of Cho and Saul (2009).
    """
    s, theta, result = float(n_layers) ** -a, angle, 1.0
    for _ in range(n_layers):
        result *= (1 + s**2 * (1 - theta / np.pi)) / (1 + s**2)
        kernel = (np.sin(theta) + (np.pi - theta) * np.cos(theta)) / np.pi
        theta = np.arccos(min((np.cos(theta) + s**2 * kernel) / (1 + s**2), 1.0))
    return result


@pytest.mark.parametrize("a", [0.25, 0.5, 0.75, 1.0])
def test_sizes_of_two_layer_blocks_are_those_of_the_expectation(a):
    sizes = signals("two-layer", 16, [a], n_draws=400, rng=rng())
    expected = (1 + 16 ** (-2 * a)) ** 16
    for values, mean in ((sizes.forward, expected), (sizes.backward, expected), (sizes.distance, expected - 1)):
        error = values[0].std() / np.sqrt(400)
        assert abs(values[0].mean() - mean) < 4 * error  # once in 15,000 seeds


@pytest.mark.parametrize("kind", BLOCKS)
@pytest.mark.parametrize("shared", [False, True])
def test_jacobians_and_states_are_those_of_jax(kind, shared):
    jax = pytest.importorskip("jax")
    from chapters.scaling_conjecture.tasks import through_blocks

    n, depth = 5, 7
    sizes = signals(kind, depth, [0.3], width=n, n_draws=1, shared=shared, rng=rng(2))
    generator = rng(2)
    x = generator.standard_normal((1, 1, n))[0, 0]
    weights = {"W": [], "V": []}
    for _ in range(1 if shared else depth):
        weights["W"].append(generator.standard_normal((n, n)) * np.sqrt((1 if kind == "tanh" else 2) / n))
        if kind == "two-layer":
            weights["V"].append(generator.standard_normal((n, n)) / np.sqrt(n))
    blocks = {name: jax.numpy.asarray(np.array(w * depth if shared else w)) for name, w in weights.items() if w}

    def network(x):
        return through_blocks(blocks, x, depth**-0.3, kind)

    J = np.asarray(jax.jacobian(network)(jax.numpy.asarray(x)))
    end = np.asarray(network(jax.numpy.asarray(x)))
    expected = [(end @ end) / (x @ x), (J**2).sum() / n, ((J - np.eye(n)) ** 2).sum() / n]
    np.testing.assert_allclose([sizes.forward[0, 0], sizes.backward[0, 0], sizes.distance[0, 0]], expected, rtol=1e-4)


@pytest.mark.parametrize("a", [0.0, 0.25, 0.5, 1.0])
def test_wide_networks_have_the_correlation_of_the_kernel(a):
    estimate = gradient_correlation("two-layer", 16, [a], width=256, n_draws=6, n_points=33, rng=rng())
    step = 4 / 32
    for lag in (2, 4, 8):
        runs = estimate[0, :, lag]
        # bias and scatter of 256 channels at 16 layers are of order 16/256
        assert abs(runs.mean() - kernel_correlation(16, a, lag * step)) < 0.06


@given(st.floats(0.05, 1.0), st.floats(0.3, 1.5))
def test_the_kernel_follows_the_law_of_many_layers(angle, a):
    law = shattering_law(layer_time(400, a), angle)
    # the law neglects what is of higher order in the angle, and in s² as long as the correlation is not small
    assert abs(kernel_correlation(400, a, angle) - law) < 0.01 + 0.05 * angle**2


def test_correlations_by_brute_force():
    points = 12
    estimate = gradient_correlation("tanh", 3, [0.5], width=4, n_draws=1, n_points=points, rng=rng(1))[0, 0]
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
    np.testing.assert_allclose(estimate, np.array(means) / means[0], atol=1e-12)
