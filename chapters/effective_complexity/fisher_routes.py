"""The routes to the Fisher–Rao norm compared on random networks, and its change when units are rescaled."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from capcore.complexity import Network, closed_form_fisher_rao, fisher_rao, random_network
from capcore.complexity.fisher_norm import fisher_matrix, homogeneous_form, parameter_vector, rescaled_units
from capcore.validation import positive_integer

KINDS = tuple(product(("model", "empirical"), ("cross_entropy", "squared")))


def random_cases(
    n_networks: int, bias_scale: float, activations: tuple[str, ...], rng: np.random.Generator
) -> Iterator[tuple[Network, np.ndarray, dict[str, np.ndarray]]]:
    """Networks with 1 to 3 hidden layers, inputs (20, 4), and targets for both losses."""
    for i in range(positive_integer(n_networks, "n_networks")):
        hidden = rng.integers(3, 7, rng.integers(1, 4)).tolist()
        activation = activations[i % len(activations)]
        network = random_network([4, *hidden, 3], rng, bias_scale=bias_scale, activation=activation)
        targets = {"cross_entropy": rng.integers(0, 3, 20), "squared": rng.normal(size=(20, 3))}
        yield network, rng.normal(size=(20, 4)), targets


def explicit(network: Network, inputs: np.ndarray, targets: np.ndarray, fisher: str, loss: str) -> float:
    """⟨θ, I(θ)θ⟩ with the matrix written out."""
    theta = parameter_vector(network)
    return float(theta @ fisher_matrix(network, inputs, targets, fisher, loss) @ theta)


def closed_form_difference(n_networks: int, rng: np.random.Generator) -> float:
    """Largest relative difference of the closed form from the explicit matrix; ReLU without biases, all kinds."""
    cases = random_cases(n_networks, 0.0, ("relu",), rng)
    return max(
        _relative(closed_form_fisher_rao(net, x, y[loss], fisher, loss), explicit(net, x, y[loss], fisher, loss))
        for net, x, y in cases
        for fisher, loss in KINDS
    )


def closed_form_error(n_networks: int, bias_scale: float, rng: np.random.Generator) -> float:
    """Median relative error of the closed form for ReLU networks with biases, where it does not hold; model Fisher."""
    cases = random_cases(n_networks, bias_scale, ("relu",), rng)
    return float(np.median([_relative(homogeneous_form(net, x), fisher_rao(net, x)) for net, x, _ in cases]))


def one_pass_difference(n_networks: int, rng: np.random.Generator) -> float:
    """Largest relative difference of the one forward pass from the explicit matrix; ReLU and tanh with biases."""
    cases = random_cases(n_networks, 0.5, ("relu", "tanh"), rng)
    return max(
        _relative(fisher_rao(net, x, y[loss], fisher, loss), explicit(net, x, y[loss], fisher, loss))
        for net, x, y in cases
        for fisher, loss in KINDS
    )


def rescaling_difference(n_networks: int, rng: np.random.Generator) -> float:
    """Largest relative change when units are rescaled by factors from 0.1 to 10; ReLU with and without biases."""
    worst = 0.0
    for bias_scale in (0.0, 0.5):
        for net, x, y in random_cases(n_networks, bias_scale, ("relu",), rng):
            other = rescaled_units(net, [10.0 ** rng.uniform(-1, 1, m) for m in net.widths[1:-1]])
            for fisher, loss in KINDS:
                args = (x, y[loss], fisher, loss)
                worst = max(worst, _relative(fisher_rao(other, *args), fisher_rao(net, *args)))
    return worst


def _relative(found: float, expected: float) -> float:
    return abs(found - expected) / expected if expected else abs(found)
