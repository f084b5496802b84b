"""Layers with side inputs: against NumPy, conservation, laws of their shares; and the two tasks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chapters.scaling_conjecture_side_inputs import tasks
from chapters.scaling_conjecture_side_inputs.experiment import search, untrained_shares
from chapters.scaling_conjecture_side_inputs.study import side_share
from chapters.scaling_conjecture_side_inputs.tasks import digit_task, parity_task
from chapters.shared.data import digits
from chapters.shared.training import train

pytestmark = pytest.mark.slow  # of code that stored results hash, so that it cannot change unnoticed
KEY = jax.random.key(3)


@pytest.mark.parametrize("divided", [True, False])
def test_layers_are_those_of_the_formula(divided):
    depth, n, gamma = 5, 4, 0.7
    layers = tasks.draw_layers(KEY, depth, n)
    rng = np.random.default_rng(0)
    x, added = rng.standard_normal((3, n)), rng.standard_normal((depth, 3, n))
    expected = x
    for W, V, s in zip(np.asarray(layers["W"]), np.asarray(layers["V"]), added, strict=True):
        expected = expected + np.maximum(expected @ W, 0) @ V / np.sqrt(depth) + gamma * s
        expected = expected / (np.sqrt(1 + 1 / depth + gamma**2) if divided else 1)
    norm = tasks.divisor(depth, gamma, divided)
    found = tasks.through_layers(layers, jnp.asarray(x), jnp.asarray(added), gamma, norm)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)  # single precision


def test_blocks_pass_norms_on_in_expectation():
    x = jax.random.normal(KEY, (64, 64))
    layers = tasks.draw_layers(KEY, 1, 64)
    branch = tasks.through_layers(layers, x, jnp.zeros((1, 64, 64)), 0.0, 1.0) - x
    assert float(jnp.sum(branch**2) / jnp.sum(x**2)) == pytest.approx(1, abs=0.15)  # 3 errors of one draw of weights


def test_divided_layers_keep_the_norm_of_independent_inputs():
    depth, n = 32, 64
    layers, gamma = tasks.draw_layers(KEY, depth, n), 1 / np.sqrt(depth)
    x = jax.random.normal(KEY, (32, n))
    added = jax.random.normal(jax.random.key(4), (depth, 32, n))
    top = tasks.through_layers(layers, x, added, gamma, tasks.divisor(depth, gamma, True))
    assert float(jnp.mean(top**2)) == pytest.approx(1, abs=0.2)


def test_gradients_are_those_of_finite_differences():
    """The share of two inputs, by differences of a direction of x_L in every coordinate."""
    depth, n, gamma = 3, 3, 0.6
    norm = tasks.divisor(depth, gamma, True)
    weights, start, side, direction = jax.random.split(KEY, 4)
    layers = tasks.draw_layers(weights, depth, n)
    x, added = jax.random.normal(start, (1, n)), jax.random.normal(side, (depth, 1, n))
    along = jax.random.normal(direction, (1, n))

    def value(flat):
        return float(
            jnp.sum(along * tasks.through_layers(layers, flat[:n][None], flat[n:].reshape(depth, 1, n), gamma, norm))
        )

    flat, step = jnp.concatenate([x.ravel(), added.ravel()]), 1e-2
    slopes = np.array([(value(flat + step * e) - value(flat - step * e)) / (2 * step) for e in jnp.eye(flat.size)])
    expected = np.sum(slopes[:n] ** 2) / np.sum(slopes**2)
    assert float(tasks.gradient_shares(KEY, depth, n, gamma, norm, n_inputs=1)) == pytest.approx(expected, rel=1e-2)


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
        ("n_layers: found 0", lambda: tasks.side_scale(0, 0.5)),
        ("exponent: found nan", lambda: tasks.side_scale(8, float("nan"))),
        ("width: found 0", lambda: tasks.draw_layers(KEY, 8, 0)),
        ("form: found 'divide'.*Did you mean 'divided'", lambda: untrained_shares("divide", [0], 8)),
        ("draws: found 0", lambda: untrained_shares("same", [0], 8, draws=0)),
    ],
)
def test_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()


QUICK = {
    "rates": [0.003],
    "factor": 3.0,
    "extensions": 0,
    "seeds": [0, 1],
    "steps": 3,
    "optimiser": "adam",
}


def test_labels_are_parities_of_sums_and_balanced():
    task = parity_task(2, 0.5, True, width=4)
    x, y, label = task.data(jax.random.key(0))
    images = digits()
    known = {image.tobytes(): int(digit) for image, digit in zip(images.x, images.y, strict=True)}
    expected = [
        (known[np.asarray(a).tobytes()] + known[np.asarray(b).tobytes()]) % 2 for a, b in zip(x, y, strict=True)
    ]
    assert np.asarray(label).tolist() == expected
    assert np.mean(task.test_labels) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(("seen", "share"), [("X", 1.0), ("Y", 0.0)])
def test_a_blanked_image_has_no_gradient(seen, share):
    task = parity_task(2, 0.5, True, width=4, seen=seen)
    stack = jax.tree.map(lambda leaf: leaf[None], task.initial(jax.random.key(0)))
    assert task.share(stack) == [share]


def test_the_share_of_x_is_that_of_all_pixels():
    task = parity_task(2, 0.5, False, width=4)
    params = task.initial(jax.random.key(0))
    inputs = tuple(part[:5] for part in task.test_inputs)
    slopes = jax.jacrev(lambda images: task.logits(params, images))(inputs)
    on_x, on_y = (float((slope**2).sum()) for slope in slopes)
    stack = jax.tree.map(lambda leaf: leaf[None], params)
    assert task.share(stack, 5) == pytest.approx([on_x / (on_x + on_y)], rel=1e-4)


@pytest.mark.parametrize(
    "task",
    [pytest.param(parity_task(3, 0.5, True, width=4), marks=pytest.mark.slow), digit_task(3, 0.5, True, width=4)],
)
def test_scales_stay_as_they_are(task):
    runs = train(task.initial, task.loss, task.data, learning_rates=[0.1], seeds=[0], n_steps=5, optimiser="adam")
    np.testing.assert_allclose(runs.params["scales"][0, 0], [0.5, np.sqrt(1 + 1 / 3 + 0.25)], rtol=1e-6)
    assert not np.allclose(runs.params["layers"]["W"][0, 0], task.initial(jax.random.key(0))["layers"]["W"])


def test_biases_start_where_they_should():
    key = jax.random.key(0)
    assert not np.any(digit_task(3, 1.0, False, width=4, start="zero").initial(key)["biases"])
    assert np.std(digit_task(50, 1.0, False).initial(key)["biases"]) == pytest.approx(1, abs=0.1)


def test_accuracy_is_counted_on_test_images():
    task = digit_task(2, 0.0, False, width=16)
    runs = train(
        task.initial, task.loss, task.data, learning_rates=[0.01], seeds=[0], n_steps=200, optimiser="adam"
    )  # fmt: skip
    params = jax.tree.map(lambda leaf: leaf[0], runs.params)
    one = jax.tree.map(lambda leaf: leaf[0], params)
    by_hand = np.mean(np.asarray(task.logits(one, task.test_inputs)).argmax(axis=1) == digits().y_test)
    assert task.accuracy(params) == pytest.approx([by_hand]) and by_hand > 0.8


@pytest.mark.slow
def test_a_search_extends_the_grid_while_the_best_rate_is_at_its_edge():
    task = digit_task(2, 0.5, True, width=8)
    found = search(task, QUICK | {"rates": [1e-5, 1e-4], "factor": 10.0, "extensions": 1, "steps": 40})
    assert found.rates == [1e-5, 1e-4, 1e-3] and found.best == 1e-3 and found.at_edge
    assert len(found.accuracy) == 2 and not found.before and not found.after


@pytest.mark.slow
def test_a_search_judges_the_rate_with_the_lowest_median_loss():
    task = parity_task(2, 0.5, True, width=8)
    found = search(task, QUICK | {"rates": [1e-6, 1e-2, 1e-7], "steps": 60})
    assert found.best == found.rates[int(np.argmin(found.final))] and np.median(found.loss) == min(found.final)
    assert len(found.before) == len(found.after) == 2 and found.before != found.after


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("seen: found 'x'", lambda: parity_task(2, 0.5, True, seen="x")),
        ("start: found 'zeros'.*Did you mean 'zero'", lambda: digit_task(2, 0.5, True, start="zeros")),
    ],
)
def test_refused_side_tasks(message, call):
    with pytest.raises(ValueError, match=message):
        call()
