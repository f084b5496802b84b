"""Training of small networks by Adam, several of one shape at once, with starts, biases and snapshots under control.

scikit-learn's ``MLPClassifier`` fixes the initial scales and always trains biases, and keeps no networks on the way.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from chapters.shared.complexity.gradients import loss_gradients
from chapters.shared.complexity.network import Network

DECAYS = (0.9, 0.999)
"""Of the running means of gradients and of squared gradients (Kingma & Ba, 2015)."""
EPSILON = 1e-8
"""Added to the roots of the latter."""


class Adam:
    """Adam on arrays that are changed in place, with a learning rate for each run.

    Attributes
    ----------
    values : list of (n_runs, …) arrays
        What is trained, floating-point.
    rates : (n_runs,) array
        Learning rates; they may be changed between steps.
    count : int
        Steps so far.
    first, second : list of arrays
        Running means of gradients and of their squares, of the shapes of the values.

    Examples
    --------
    >>> at = np.array([[3.0]])
    >>> adam = Adam([at], np.array([0.5]))
    >>> adam.step([2 * at])  # the first step is as long as the rate, unless the gradient is as small as epsilon
    >>> at.round(6).tolist()
    [[2.5]]
    """

    def __init__(self, values: list[np.ndarray], rates: np.ndarray) -> None:
        self.values, self.rates, self.count = values, rates, 0
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
            step = m / (np.sqrt(v / (1 - b**self.count)) + EPSILON)
            value -= (self.rates / (1 - a**self.count)).reshape(-1, *[1] * (value.ndim - 1)) * step


def stacked(networks: Sequence[Network]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Copies of weights and biases, for each layer (n_runs, …).

    >>> net = Network([np.ones((3, 2))], [np.zeros(2)])
    >>> [layers[0].shape for layers in stacked([net, net, net, net])]
    [(4, 3, 2), (4, 2)]
    """
    weights = [np.stack(layer) for layer in zip(*(network.weights for network in networks), strict=True)]
    biases = [np.stack(layer) for layer in zip(*(network.biases for network in networks), strict=True)]
    return weights, biases


def unstacked(weights: list[np.ndarray], biases: list[np.ndarray], like: Network) -> tuple[Network, ...]:
    """A network for each run, with copies of its weights and biases, and the activation of ``like``."""
    runs = range(len(weights[0]))
    copies = (([w[run].copy() for w in weights], [b[run].copy() for b in biases]) for run in runs)
    return tuple(Network(*both, like.activation) for both in copies)  # type: ignore[arg-type]  # lists do


def train(
    networks: Sequence[Network],
    inputs: np.ndarray,
    targets: np.ndarray,
    rngs: Sequence[np.random.Generator],
    learning_rate: float | Sequence[float] = 1e-3,
    n_epochs: int = 100,
    batch_size: int = 50,
    snapshots: Iterable[int] = (),
) -> list[tuple[Network, ...]]:
    """Networks of one shape after training side by side by Adam on the cross-entropy of mini-batches.

    Every run shuffles the data by its own generator, so that it does not depend on the runs it is trained with. The
    networks, one for each run, come for each snapshot in order; the last one is that of the last epoch.

    Parameters
    ----------
    networks : list of Network
        Where the runs start, such as from :func:`~chapters.shared.complexity.network.random_network`.
    inputs : (n, d) array
        The same for all runs.
    targets : (n,) or (n_runs, n) array
        Labels.
    rngs : list of Generator
        One generator for each run.
    learning_rate : float or list of float
        One for all runs, or one for each.
    n_epochs : int
        Passes over the data.
    batch_size : int
        Points of a mini-batch; what is left over at the end of an epoch is a smaller batch.
    snapshots : list of int
        Epochs to keep networks at, 0 for the start; the last epoch is always kept.

    Examples
    --------
    >>> from chapters.shared.complexity import random_network
    >>> rng = np.random.default_rng(0)
    >>> x, labels = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> ((network,),) = train([random_network([1, 8, 2], rng)], x, labels, [rng], 0.02)
    >>> network(x).argmax(axis=1).tolist()
    [0, 1]
    """
    labels = np.broadcast_to(targets, (len(networks), len(inputs)))
    epochs = {*snapshots, n_epochs}
    weights, biases = stacked(networks)
    adam = Adam([*weights, *biases], np.broadcast_to(learning_rate, len(networks)).astype(float))
    states = [tuple(networks)] if 0 in epochs else []
    rows = np.arange(len(networks))[:, None]
    for epoch in range(1, n_epochs + 1):
        order = np.stack([rng.permutation(len(inputs)) for rng in rngs])
        for start in range(0, len(inputs), batch_size):
            at = order[:, start : start + batch_size]
            _, *gradients = loss_gradients(weights, biases, networks[0].phi, inputs[at], labels[rows, at])
            adam.step([*gradients[0], *gradients[1]])
        if epoch in epochs:
            states.append(unstacked(weights, biases, networks[0]))
    return states
