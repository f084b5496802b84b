"""Networks as weights and biases: values and slopes against finite differences, conversions, and bad input."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.shared.complexity import Network, as_network, random_network
from chapters.shared.complexity.activations import ACTIVATIONS, activation
from tests.strategies import seeds


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
    phi, z = activation(name, 0.2), np.linspace(-3, 3, 601)
    if not phi.piecewise_linear:
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


def test_scikit_learn_networks_give_their_logits():
    neural = pytest.importorskip("sklearn.neural_network")
    rng = np.random.default_rng(0)
    inputs, labels = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    model = neural.MLPClassifier((6, 5), activation="tanh", max_iter=3, solver="lbfgs", random_state=0)
    with pytest.warns(match="ConvergenceWarning|failed to converge|TOTAL NO"):
        model.fit(inputs, labels)
    network = as_network(model)
    odds = np.exp(network(inputs))
    np.testing.assert_allclose(odds / odds.sum(axis=1, keepdims=True), model.predict_proba(inputs), rtol=1e-10)
    assert network.activation == "tanh" and as_network(network) is network
    with pytest.raises(ValueError, match=r"expected a list of .* after fit"):
        as_network(neural.MLPClassifier())


def test_pairs_and_two_lists_are_one_network():
    network = random_network([3, 4, 2], np.random.default_rng(0), bias_scale=0.5)
    inputs = np.random.default_rng(1).normal(size=(5, 3))
    pairs, lists = (
        list(zip(network.weights, network.biases, strict=True)),
        [list(network.weights), list(network.biases)],
    )
    plain = [[part.tolist() for part in parts] for parts in lists]
    for source in (pairs, lists, tuple(lists), plain, [list(pair) for pair in pairs]):
        np.testing.assert_array_equal(as_network(source)(inputs), network(inputs))
    with pytest.raises(ValueError, match=r"biases: found 1 vectors for 2 weight matrices"):
        as_network([list(network.weights), [network.biases[0]]])


def test_random_networks_have_the_stated_scales():
    network = random_network([400, 300, 1], np.random.default_rng(0), weight_scale=1.5, bias_scale=0.5)
    assert network.weights[0].std() == pytest.approx(1.5 / 20, rel=0.01)  # 120,000 weights: 0.2 % a standard error
    assert network.biases[0].std() == pytest.approx(0.5, rel=0.15)  # 300 biases: 4 %
    assert np.all(random_network([2, 3, 1], np.random.default_rng(0)).biases[0] == 0)


def test_a_network_can_be_stored():
    network = random_network([2, 3, 1], np.random.default_rng(0), activation="tanh")
    again = pickle.loads(pickle.dumps(network))
    np.testing.assert_array_equal(again([[1.0, 2.0]]), network([[1.0, 2.0]]))


@pytest.mark.parametrize(
    ("message", "make"),
    [
        (r"weights\[1\]: found shape \(3, 1\), expected \(2, fan_out\)",
         lambda: as_network([(np.ones((2, 2)), [0, 0]), (np.ones((3, 1)), [0])])),
        (r"biases\[0\]: found shape \(3,\), expected \(2,\)", lambda: Network([np.ones((3, 2))], [np.ones(3)])),
        (r"weights\[0\]: found 1 value\(s\) that are NaN", lambda: Network([[[np.nan]]], [[0.0]])),
        (r"biases: found 0 vectors for 1 weight", lambda: Network([[[1.0]]], [])),
        (r"activation: found 'gelu', expected one of", lambda: Network([[[1.0]]], [[0.0]], "gelu")),
        (r"slope: found 1, expected at least 0 and less", lambda: Network([[[1.0]]], [[0.0]], "leaky_relu", 1.0)),
        (r"inputs: found shape \(1, 2\), expected \(n, 1\)", lambda: Network([[[1.0]]], [[0.0]])([[1.0, 2.0]])),
        (r"inputs: found an array of shape \(1,\)", lambda: Network([[[1.0]]], [[0.0]])([1.0])),
        (r"network: found int, expected a list", lambda: as_network(3)),
        (r"network: found list, expected a list of \(W, b\), one of all weights", lambda: as_network([1, 2])),
        (r"widths: found 1 number", lambda: random_network([3], np.random.default_rng(0))),
        (r"weight_scale: found -1", lambda: random_network([3, 1], np.random.default_rng(0), -1.0)),
    ],
)  # fmt: skip
def test_bad_input_is_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()
