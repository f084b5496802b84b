"""Networks: slopes against differences, the Fisher–Rao norm by other routes, and ranks of parameter Jacobians."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier

from chapters.shared.complexity import (
    Network,
    SetNetwork,
    as_network,
    odd_share,
    parameter_jacobian,
    random_network,
    sensitivity,
    tangent_space,
)
from chapters.shared.complexity import fisher_norm as fr
from chapters.shared.complexity.activations import activation
from chapters.shared.complexity.gradients import loss_gradients, output_errors, point_gradients
from tests.strategies import seeds

ACTIVATIONS = ("hard_tanh", "leaky_relu", "logistic", "relu", "tanh")


@given(seeds, st.sampled_from(ACTIVATIONS))
def test_the_jacobian_is_the_slope_of_the_logits(seed, name):
    rng = np.random.default_rng(seed)
    network = random_network([3, 5, 4, 2], rng, bias_scale=0.3, activation=name)
    inputs, step = rng.normal(size=(4, 3)), 1e-6
    moved = inputs[:, None, :] + step * np.array([np.eye(3), -np.eye(3)])[:, None]
    levels = [network(points.reshape(-1, 3)).reshape(4, 3, 2) for points in moved]
    slopes = np.swapaxes(levels[0] - levels[1], 1, 2) / (2 * step)
    kinks = np.array(network.phi.kinks)
    z = np.concatenate(network.pre_activations(inputs)[:-1], axis=1)
    smooth = np.all(np.abs(z[..., None] - kinks) > 1e-4, axis=(1, 2))  # a kink within the step has no one slope
    np.testing.assert_allclose(network.jacobian(inputs)[smooth], slopes[smooth], atol=1e-7)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_pieces_are_the_function(name):
    phi, z = activation(name), np.linspace(-3, 3, 601)
    if name in ("logistic", "tanh"):
        with pytest.raises(ValueError, match=f"found '{name}', expected a piecewise linear one"):
            phi.piece(z)
        return
    slopes, intercepts = np.array(phi.pieces)[phi.piece(z)].T
    np.testing.assert_allclose(slopes * z + intercepts, phi.value(z), atol=1e-15)
    np.testing.assert_array_equal(slopes, phi.derivative(z))
    assert np.abs(np.diff(phi.value(z))).max() < 0.011  # continuous: the pieces meet at the kinks


def test_a_two_layer_network_by_hand():
    network = Network([[[1.0, -1.0]], [[2.0], [3.0]]], [[0.0, 1.0], [-1.0]])
    assert network([[2.0], [-1.0], [0.5]]).ravel().tolist() == [3.0, 5.0, 1.5]
    assert network.jacobian([[2.0], [-1.0], [0.5]]).ravel().tolist() == [2.0, -3.0, -1.0]
    assert (network.widths, network.n_hidden, network.n_params) == ((1, 2, 1), 2, 7)


def case(seed, loss, activation="tanh", n=4):
    rng = np.random.default_rng(seed)
    network = random_network([3, 5, 4, 2], rng, bias_scale=0.3, activation=activation)
    targets = rng.integers(0, 2, n) if loss == "cross_entropy" else rng.normal(size=(n, 2))
    return network, rng.normal(size=(n, 3)), targets


def mean_loss(weights, biases, network, inputs, targets, loss):
    return loss_gradients(weights, biases, network.phi, inputs, targets, loss)[0]


@given(seeds, st.sampled_from(["cross_entropy", "squared"]), st.sampled_from(["tanh", "logistic", "leaky_relu"]))
def test_gradients_are_slopes_of_the_loss(seed, loss, name):
    network, inputs, targets = case(seed, loss, name)
    rest = (network, inputs, targets, loss)
    gradients = loss_gradients(network.weights, network.biases, network.phi, inputs, targets, loss)[1:]
    step, rng = 1e-6, np.random.default_rng(seed)
    move = [[rng.normal(size=p.shape) for p in parts] for parts in (network.weights, network.biases)]
    up, down = (
        mean_loss(*([p + s * m for p, m in zip(parts, by, strict=True)]
                    for parts, by in zip((network.weights, network.biases), move, strict=True)), *rest)
        for s in (step, -step)
    )  # fmt: skip
    along = sum(np.sum(g * m) for gs, ms in zip(gradients, move, strict=True) for g, m in zip(gs, ms, strict=True))
    kinks = np.concatenate(network.pre_activations(inputs)[:-1], axis=1)
    if name != "leaky_relu" or np.abs(kinks).min() > 1e-4:  # a kink within the step has no one slope
        assert along == pytest.approx((up - down) / (2 * step), abs=1e-7)


@given(seeds, st.sampled_from(["cross_entropy", "squared"]))
def test_gradients_of_points_have_the_gradient_as_their_mean(seed, loss):
    network, inputs, targets = case(seed, loss)
    _, by_weights, by_biases = loss_gradients(network.weights, network.biases, network.phi, inputs, targets, loss)
    parts = [part.ravel() for pair in zip(by_weights, by_biases, strict=True) for part in pair]
    rows = point_gradients(network, inputs, output_errors(network(inputs), targets, loss)[1])
    assert rows.shape == (4, network.n_params)
    np.testing.assert_allclose(rows.mean(axis=0), np.concatenate(parts), atol=1e-14)


@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "hard_tanh"])
def test_runs_side_by_side_are_the_runs_one_by_one(activation):
    cases = [case(seed, "cross_entropy", activation) for seed in range(3)]
    stacked = [np.stack(layer) for layer in zip(*(c[0].weights for c in cases), strict=True)]
    biases = [np.stack(layer) for layer in zip(*(c[0].biases for c in cases), strict=True)]
    inputs, targets = np.stack([c[1] for c in cases]), np.stack([c[2] for c in cases])
    gradients = loss_gradients(stacked, biases, cases[0][0].phi, inputs, targets)
    for i, (network, x, y) in enumerate(cases):
        alone = loss_gradients(network.weights, network.biases, network.phi, x, y)
        assert gradients[0][i] == pytest.approx(alone[0], abs=1e-14)
        for together, single in zip(gradients[1] + gradients[2], alone[1] + alone[2], strict=True):
            np.testing.assert_allclose(together[i], single, atol=1e-14)


def test_logits_and_loss_are_those_of_scikit_learn():
    _, inputs, _ = case(0, "cross_entropy", n=30)
    model = MLPClassifier((6, 5), "tanh", max_iter=1, random_state=0)
    labels = np.arange(30) % 3
    with pytest.warns(match="Maximum iterations"):
        model.fit(inputs, labels)
    logits = as_network(model)(inputs)
    np.testing.assert_allclose(softmax(logits, axis=1), model.predict_proba(inputs), rtol=1e-10)
    losses, _ = output_errors(logits, labels, "cross_entropy")
    assert losses.mean() == pytest.approx(log_loss(labels, model.predict_proba(inputs)), rel=1e-9)


def case_input_jacobian(seed, activation="tanh"):
    rng = np.random.default_rng(seed)
    return random_network([3, 6, 5, 4], rng, bias_scale=0.3, activation=activation), rng.normal(size=(5, 3))


@given(seeds)
def test_sensitivity_is_the_size_of_the_slopes_of_the_probabilities(seed):
    network, inputs = case_input_jacobian(seed)
    moved = [[softmax(network(inputs + s * e), axis=1) for s in (1e-6, -1e-6)] for e in np.eye(3)]
    slopes = np.array([(up - down) / 2e-6 for up, down in moved])  # (d, n, n_outputs)
    np.testing.assert_allclose(sensitivity(network, inputs), np.linalg.norm(slopes, axis=(0, 2)), atol=1e-7)


options = st.tuples(st.sampled_from(["model", "empirical"]), st.sampled_from(["cross_entropy", "squared"]))


def case_fisher_norm(seed, loss="cross_entropy", activation="relu", bias_scale=0.0):
    rng = np.random.default_rng(seed)
    network = random_network([3, 5, 4, 3], rng, bias_scale=bias_scale, activation=activation)
    targets = rng.integers(0, 3, 6) if loss == "cross_entropy" else rng.normal(size=(6, 3))
    return network, rng.normal(size=(6, 3)), targets


@given(seeds, options, st.sampled_from(["relu", "leaky_relu"]))
def test_the_closed_form_without_biases(seed, option, activation):
    args = (*case_fisher_norm(seed, option[1], activation), *option)
    assert fr.closed_form_fisher_rao(*args) == pytest.approx(fr.fisher_rao(*args), rel=1e-10, abs=1e-14)


def test_along_the_parameters_is_a_slope():
    network, inputs, _ = case_fisher_norm(1, activation="tanh", bias_scale=0.5)
    scaled = [
        Network([w * s for w in network.weights], [b * s for b in network.biases], "tanh") for s in (1.0001, 0.9999)
    ]
    slope = (scaled[0](inputs) - scaled[1](inputs)) / 0.0002
    np.testing.assert_allclose(fr.logits_along_parameters(network, inputs), slope, atol=1e-6)


WIDTHS = st.lists(st.integers(1, 5), min_size=2, max_size=4)


def exchanged(items):
    """The given sets, then each with its first two items exchanged."""
    return np.concatenate([items, items[:, [1, 0, *range(2, items.shape[1])]]])


@settings(max_examples=30)
@given(seeds, WIDTHS, st.sampled_from(["relu", "leaky_relu", "tanh"]), st.integers(1, 60))
def test_the_bound_holds(seed, widths, activation, n):
    rng = np.random.default_rng(seed)
    net = random_network(widths, rng, 1.5, 0.5, activation)
    x = rng.normal(size=(n, widths[0]))
    space = tangent_space(net, x)
    rescalable = net.n_hidden * (activation != "tanh")
    assert space.dimension <= min(len(np.unique(x, axis=0)) * widths[-1], net.n_params - rescalable)
    leverage = space.per_input(widths[-1])
    assert leverage.sum() == pytest.approx(space.dimension, abs=1e-8) and leverage.max() <= widths[-1] + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_tanh_has_all_parameters_and_leaky_relu_one_less_per_unit(seed):
    rng = np.random.default_rng(seed)
    x = 2 * rng.normal(size=(400, 3))
    tanh, leaky = (random_network([3, 5, 4, 1], rng, 1.4, 0.5, name) for name in ("tanh", "leaky_relu"))
    assert tangent_space(tanh, x).dimension == tanh.n_params == 49
    assert tangent_space(leaky, x).dimension == leaky.n_params - 9 == 40


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_an_invariant_model_saturates_at_the_orbits_and_does_not_see_the_exchange(activation):
    rng = np.random.default_rng(0)
    net = SetNetwork(*(random_network(w, rng, 1.5, 0.5, activation) for w in ([2, 6, 5], [5, 6, 1])))
    items = exchanged(rng.normal(size=(20, 3, 2)))
    space = tangent_space(net, items)
    assert space.dimension == 20 or (activation == "relu" and space.dimension < 20)
    assert odd_share(space) < 1e-20


def test_an_aware_model_sees_the_exchange():
    rng = np.random.default_rng(0)
    net = random_network([6, 10, 1], rng, 1.0, 0.5, "tanh")
    items = exchanged(rng.normal(size=(200, 3, 2)))
    space = tangent_space(net, items.reshape(400, 6))
    odd = np.concatenate([np.eye(200), -np.eye(200)])  # second route: a basis of the odd functions
    assert odd_share(space) == pytest.approx(space.capacity(odd) / space.dimension, abs=1e-10)
    assert odd_share(space) > 0.2


def network(seed, activation="tanh", n_outputs=1):
    rng = np.random.default_rng(seed)
    below = random_network([2, 4, 3], rng, 1.0, 0.5, activation)
    return SetNetwork(below, random_network([3, 5, n_outputs], rng, 1.0, 0.5, activation))


@given(seeds)
def test_the_order_of_the_items_changes_nothing_to_the_last_digit(seed):
    rng = np.random.default_rng(seed)
    net, items = network(seed), rng.normal(size=(7, 5, 2))
    both = net(np.concatenate([items, items[:, rng.permutation(5)]]))
    np.testing.assert_array_equal(both[:7], both[7:])


def test_it_is_the_sum_over_the_items():
    net, items = network(0), np.random.default_rng(1).normal(size=(3, 4, 2))
    expected = [net.rest(np.tanh(net.items(one)).sum(axis=0)[None])[0] for one in items]
    np.testing.assert_allclose(net(items), expected, rtol=1e-12)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_the_parameter_jacobian_is_the_slope(activation):
    """Central differences; 1e-6 is the square of the step times third derivatives of order one."""
    net, items = network(3, activation, 2), np.random.default_rng(4).normal(size=(6, 3, 2))
    columns = []
    for side, layer, kind in product(("items", "rest"), range(2), ("weights", "biases")):
        for i in range(getattr(getattr(net, side), kind)[layer].size):
            up, down = (shifted(net, side, kind, layer, i, step)(items) for step in (1e-4, -1e-4))
            columns.append((up - down).ravel() / 2e-4)
    np.testing.assert_allclose(parameter_jacobian(net, items), np.array(columns).T, atol=1e-6)


def shifted(net, side, kind, layer, index, step):
    old = getattr(net, side)
    arrays = {name: [a.copy() for a in getattr(old, name)] for name in ("weights", "biases")}
    arrays[kind][layer].flat[index] += step
    new = Network(tuple(arrays["weights"]), tuple(arrays["biases"]), old.activation)
    return SetNetwork(new if side == "items" else net.items, new if side == "rest" else net.rest)
