"""The Fisher–Rao norm: sampled outcomes, its slope, and where the closed form must not be used."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from chapters.shared.complexity import Network, random_network
from chapters.shared.complexity import fisher_norm as fr
from chapters.shared.complexity.gradients import output_errors, point_gradients
from tests.strategies import seeds

options = st.tuples(st.sampled_from(["model", "empirical"]), st.sampled_from(["cross_entropy", "squared"]))


def case(seed, loss="cross_entropy", activation="relu", bias_scale=0.0):
    rng = np.random.default_rng(seed)
    network = random_network([3, 5, 4, 3], rng, bias_scale=bias_scale, activation=activation)
    targets = rng.integers(0, 3, 6) if loss == "cross_entropy" else rng.normal(size=(6, 3))
    return network, rng.normal(size=(6, 3)), targets


@given(seeds, options, st.sampled_from(["relu", "leaky_relu", "identity"]))
def test_the_closed_form_without_biases(seed, option, activation):
    args = (*case(seed, option[1], activation), *option)
    assert fr.closed_form_fisher_rao(*args) == pytest.approx(fr.fisher_rao(*args), rel=1e-10, abs=1e-14)


def test_the_closed_form_is_wrong_with_biases_and_refused():
    network, inputs, _ = case(0, bias_scale=0.5)
    assert abs(fr.homogeneous_form(network, inputs) / fr.fisher_rao(network, inputs) - 1) > 0.05
    with pytest.raises(ValueError, match=r"biases that are not zero, expected none.*Use fisher_rao"):
        fr.closed_form_fisher_rao(network, inputs)
    with pytest.raises(ValueError, match=r"activation 'tanh'.*Use fisher_rao"):
        fr.closed_form_fisher_rao(*case(0, activation="tanh")[:2])


def test_the_model_fisher_is_the_mean_over_drawn_labels():
    network, inputs, _ = case(3, bias_scale=0.5)
    rng = np.random.default_rng(0)
    theta = np.concatenate([x.ravel() for pair in zip(network.weights, network.biases, strict=True) for x in pair])
    p = softmax(network(inputs), axis=1)
    draws = []
    for _ in range(4_000):
        labels = (rng.random((len(p), 1)) > p.cumsum(axis=1)).sum(axis=1)
        rows = point_gradients(network, inputs, output_errors(network(inputs), labels, "cross_entropy")[1])
        draws.append(np.mean((rows @ theta) ** 2))
    error = np.std(draws) / np.sqrt(len(draws))
    assert fr.fisher_rao(network, inputs) == pytest.approx(np.mean(draws), abs=4 * error)
    assert error < 0.05 * np.mean(draws)


def test_along_the_parameters_is_a_slope():
    network, inputs, _ = case(1, activation="tanh", bias_scale=0.5)
    scaled = [
        Network([w * s for w in network.weights], [b * s for b in network.biases], "tanh") for s in (1.0001, 0.9999)
    ]
    slope = (scaled[0](inputs) - scaled[1](inputs)) / 0.0002
    np.testing.assert_allclose(fr.logits_along_parameters(network, inputs), slope, atol=1e-6)


def test_cross_entropy_of_one_output_is_refused():
    neural = pytest.importorskip("sklearn.neural_network")
    inputs = np.random.default_rng(0).normal(size=(40, 3))
    labels = (inputs[:, 0] > 0).astype(int)
    model = neural.MLPClassifier((4,), alpha=1.0, solver="lbfgs", max_iter=500, random_state=0).fit(inputs, labels)
    unbiased = Network(model.coefs_, [0 * b for b in model.intercepts_])
    for make in (
        lambda: fr.fisher_rao(model, inputs),
        lambda: fr.fisher_rao(model, inputs, 0 * labels, "empirical"),
        lambda: fr.closed_form_fisher_rao(unbiased, inputs),
    ):
        with pytest.raises(ValueError, match="network: found one output, expected at least two for cross-entropy"):
            make()
    assert fr.fisher_rao(model, inputs, loss="squared") > 0
    weights, biases = [*model.coefs_], [*model.intercepts_]  # as the message says: a logit that is always 0
    weights[-1], biases[-1] = np.c_[np.zeros(4), weights[-1]], np.r_[0.0, biases[-1]]
    two = Network(weights, biases)
    np.testing.assert_allclose(softmax(two(inputs), axis=1), model.predict_proba(inputs), rtol=1e-10)
    assert fr.fisher_rao(two, inputs) > 0


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("targets: found none", lambda: fr.fisher_rao(*case(0)[:2], fisher="empirical")),
        ("fisher: found 'models'.*Did you mean 'model'", lambda: fr.fisher_rao(*case(0), "models")),
        ("loss: found 'mse'", lambda: fr.fisher_rao(*case(0), "model", "mse")),
        (r"targets: found shape \(5,\)", lambda: fr.fisher_rao(*case(0)[:2], [0] * 5, "empirical")),
    ],
)
def test_bad_input_is_refused(message, make):
    with pytest.raises(ValueError, match=message):
        make()
