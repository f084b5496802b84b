"""Adam on several networks of one shape at once, each at its own learning rate: what training in NumPy is made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from capcore.complexity.network import Network
from capcore.validation import finite_array

DECAYS = (0.9, 0.999)
"""Of the running means of gradients and of squared gradients (Kingma & Ba, 2015)."""


class Adam:
    """Adam on a list of arrays (n_runs, …), changed in place; a learning rate for each run.

    Attributes
    ----------
    values : what is trained, floating-point. rates : (n_runs,), may be changed between steps.
    epsilon : added to the roots of the means of squares. count : steps so far.
    first, second : running means of gradients and of their squares, of the shapes of the values.

    >>> at = np.array([[3.0]])
    >>> adam = Adam([at], np.array([0.5]))
    >>> adam.step([2 * at])  # the first step is as long as the rate, unless the gradient is as small as epsilon
    >>> at.round(6).tolist()
    [[2.5]]
    """

    def __init__(self, values: list[np.ndarray], rates: np.ndarray, epsilon: float = 1e-8) -> None:
        self.values, self.rates, self.epsilon, self.count = values, rates, epsilon, 0
        self.first = [np.zeros_like(value) for value in values]
        self.second = [np.zeros_like(value) for value in values]

    def step(self, gradients: list[np.ndarray]) -> None:
        """One step against the gradients, of the shapes of the values."""
        self.count += 1
        a, b = DECAYS
        for value, m, v, g in zip(self.values, self.first, self.second, gradients, strict=True):
            m *= a
            m += (1 - a) * g
            v *= b
            v += (1 - b) * g**2
            step = m / (np.sqrt(v / (1 - b**self.count)) + self.epsilon)
            value -= for_each_run(self.rates / (1 - a**self.count), value) * step


def for_each_run(rates: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Rates (n_runs,) with axes of length one, to multiply value (n_runs, …)."""
    return rates.reshape(-1, *[1] * (value.ndim - 1))


def stacked(networks: Sequence[Network]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Copies of weights and biases, for each layer (n_runs, …).

    >>> net = Network([np.ones((3, 2))], [np.zeros(2)])
    >>> [each[0].shape for each in stacked([net, net, net, net])]
    [(4, 3, 2), (4, 2)]
    """
    weights = [np.stack(layer) for layer in zip(*(network.weights for network in networks), strict=True)]
    biases = [np.stack(layer) for layer in zip(*(network.biases for network in networks), strict=True)]
    return weights, biases


def unstacked(weights: list[np.ndarray], biases: list[np.ndarray], like: Network) -> tuple[Network, ...]:
    """A network for each run, with copies of its weights and biases, and the activation of ``like``."""
    runs = range(len(weights[0]))
    copies = (([w[run].copy() for w in weights], [b[run].copy() for b in biases]) for run in runs)
    return tuple(Network(*both, like.activation, like.slope) for both in copies)  # type: ignore[arg-type]  # lists do


def check_runs(networks: Sequence[Network], rngs: Sequence[np.random.Generator]) -> None:
    """Raise ``ValueError`` unless there are networks, of one shape and activation, and a generator for each."""
    if not networks:
        raise ValueError("networks: found none, expected at least one to start from.")
    kinds = {(network.widths, network.activation, network.slope) for network in networks}
    if len(kinds) > 1:
        raise ValueError(
            f"networks: found {len(kinds)} different shapes or activations, expected one. Train each shape by itself."
        )
    if len(rngs) != len(networks):
        raise ValueError(f"rngs: found {len(rngs)} for {len(networks)} networks, expected one for each.")


def check_rates(learning_rate: float | Sequence[float], n_runs: int) -> np.ndarray:
    """(n_runs,) learning rates, from one or from one for each; ``ValueError`` unless they are above 0."""
    rates = finite_array(learning_rate, "learning_rate", (0, 1))
    if rates.shape not in ((), (n_runs,)) or np.any(rates <= 0):
        raise ValueError(f"learning_rate: found {learning_rate!r}, expected a number above 0, or {n_runs} of them.")
    return np.broadcast_to(rates, (n_runs,)).astype(float)
