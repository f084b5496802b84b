"""Side inputs and biases: layers and laws by brute force, capacities by two routes, and the stored runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.propagation import ConvolutionTransport, Layer, propagate
from chapters.kit.stored import stored
from chapters.scaling_conjecture.tasks import draw_blocks
from chapters.scaling_conjecture_side_inputs import study, tasks
from chapters.scaling_conjecture_side_inputs.experiment import search_rates, untrained_shares
from chapters.scaling_conjecture_side_inputs.study import side_share
from chapters.scaling_conjecture_side_inputs.tasks import digit_task, parity_task
from chapters.shared.data import digits
from chapters.shared.training import train


def test_initial_shares_of_trained_networks_follow_the_law():
    """Raw pixels instead of units, through random weights of their own: the same law, three networks, 64 pairs each."""
    for row in study.chosen(stored("side_inputs")["values"]["trained"], task="parity", depth=64):
        law = side_share(row["form"], 64, 64 ** -row["exponent"])
        if law > 1e-6:
            assert abs(np.log(np.mean(row["before"]) / law)) < np.log(2)


@pytest.mark.parametrize("depth", [1, 2, 7, 40])
def test_undivided_sums_by_brute_force(depth):
    r, gamma = 1 + 1 / depth, 0.3
    powers = r ** np.arange(depth)
    for form, leaked in (("undivided", powers.sum()), ("same", np.minimum.outer(powers, powers).sum())):
        expected = r**depth / (r**depth + gamma**2 * leaked)
        assert study.side_share(form, depth, gamma) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("alpha", "depth"), [(0.5, 64), (1.0, 256), (3.0, 64)])
def test_divided_layers_are_a_propagation_with_leaks(alpha, depth):
    """Squared columns of a divided layer: 1 + 1/L on the layer below and γ² on the side input, over their sum."""
    gamma = np.sqrt(alpha / depth)
    below = 1 + 1 / depth
    layer = Layer.leaky(ConvolutionTransport.of_offsets({0: 1.0}), side=gamma**2 / (below + gamma**2))
    result = propagate([1.0], [layer] * depth)
    assert result.masses["input"] == pytest.approx(study.side_share("divided", depth, gamma), rel=1e-12)
    assert result.masses["input"] == pytest.approx(np.exp(-alpha), rel=(alpha + 1) * alpha / depth)


def test_limits_of_many_layers():
    depth = 2**20
    gamma = depth**-0.5
    assert study.side_share("divided", depth, gamma) == pytest.approx(np.exp(-1), rel=1e-5)
    assert study.side_share("undivided", depth, gamma) == pytest.approx(1 / (2 - np.exp(-1)), rel=1e-5)
    assert study.side_share("same", depth, 1 / depth) == pytest.approx(1 / (1 + 2 * (1 - 2 / np.e)), rel=1e-5)


@settings(deadline=None, max_examples=25)
@given(
    st.integers(2, 6),
    st.integers(1, 6),
    st.floats(0.01, 0.9),
    st.sampled_from(["different", "same", "constant"]),
    st.integers(0, 99),
)
def test_both_routes_agree_and_capacity_is_conserved(width, depth, square, kind, seed):
    net = study.side_network(width, depth, square, kind, np.random.default_rng(seed))
    share = net.capacity_of_x()
    assert share == pytest.approx(net.capacity_by_ratios(), abs=1e-8)
    assert 0 <= share <= width
    if kind == "constant":
        assert width - share <= 1 + 1e-9
    rows = np.concatenate([net.on_x, net.on_side], axis=1)
    if kind == "different":
        np.testing.assert_allclose(rows @ rows.T, np.eye(width), atol=1e-12)
        assert share == pytest.approx(width * (1 - square) ** depth, abs=1e-9)


def test_gradients_on_a_constant_are_those_of_propagation_on_average():
    depth, square = 12, 1 / 12
    on_x, on_constant = study.constant_gradients(7, depth, square, 20_000, np.random.default_rng(0))
    local = ConvolutionTransport.of_offsets({-1: 0.5 / depth, 0: 1 - 1 / depth, 1: 0.5 / depth})
    output = np.zeros(7)
    output[3] = 1
    law = propagate(output, [Layer.leaky(local, bias=square)] * depth).masses
    for result, expected in ((on_x, law["input"]), (on_constant, law["bias"])):
        assert abs(result.mean() - expected) < 4 * result.std() / np.sqrt(result.size)


KEY = jax.random.key(3)


@pytest.mark.slow
@pytest.mark.parametrize("divided", [True, False])
def test_layers_are_those_of_the_formula(divided):
    depth, n, gamma = 5, 4, 0.7
    layers = draw_blocks(KEY, "two-layer", depth, n)
    rng = np.random.default_rng(0)
    x, added = rng.standard_normal((3, n)), rng.standard_normal((depth, 3, n))
    expected = x
    for W, V, s in zip(np.asarray(layers["W"]), np.asarray(layers["V"]), added, strict=True):
        expected = expected + np.maximum(expected @ W, 0) @ V / np.sqrt(depth) + gamma * s
        expected = expected / (np.sqrt(1 + 1 / depth + gamma**2) if divided else 1)
    norm = tasks.divisor(depth, gamma, divided)
    result = tasks.through_layers(layers, jnp.asarray(x), jnp.asarray(added), gamma, norm)
    np.testing.assert_allclose(result, expected, rtol=2e-5, atol=1e-5)  # single precision


@pytest.mark.slow
def test_gradients_are_those_of_finite_differences():
    """The share of two inputs, by differences of a direction of x_L in every coordinate."""
    depth, n, gamma = 3, 3, 0.6
    norm = tasks.divisor(depth, gamma, True)
    weights, start, side, direction = jax.random.split(KEY, 4)
    layers = draw_blocks(weights, "two-layer", depth, n)
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


@pytest.mark.slow
@pytest.mark.parametrize(("form", "exponent"), [("divided", 0.5), ("undivided", 0), ("undivided", 0.5), ("same", 0.5)])
def test_shares_follow_their_law(form, exponent):
    shares = untrained_shares(form, [exponent], 64, 32, 24)[0]
    error = shares.std(ddof=1) / np.sqrt(shares.size)
    law = side_share(form, 64, 64.0**-exponent)
    assert abs(shares.mean() - law) < 4 * error + 0.08 * law  # a mean of ratios, where the law has a ratio of means


@pytest.mark.slow
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


@pytest.mark.slow
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
def test_a_search_judges_the_rate_with_the_lowest_median_loss():
    task, options = parity_task(2, 0.5, True, width=8), {"seeds": [0, 1], "steps": 60, "optimiser": "adam"}
    best = search_rates(task, options | {"rates": [1e-6, 1e-2, 1e-7], "factor": 3.0, "extensions": 0})
    assert best["best"] == best["rates"][int(np.argmin(best["final"]))] and np.median(best["loss"]) == min(
        best["final"]
    )
    assert len(best["accuracy"]) == len(best["before"]) == len(best["after"]) == 2 and best["before"] != best["after"]
    single = search_rates(
        digit_task(2, 0.5, True, width=8), options | {"rates": [1e-3], "factor": 3.0, "extensions": 0}
    )
    assert single["at_edge"] and not single["before"] and not single["after"]
