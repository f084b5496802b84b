"""Training of small networks by Adam, several of one shape at once, with starts, biases and snapshots under control.

scikit-learn's ``MLPClassifier`` fixes the initial scales and always trains biases, and keeps no networks on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from capcore.checks.arguments import finite_array, finite_number, positive_integer
from chapters.shared.complexity.gradients import check_targets, loss_gradients
from chapters.shared.complexity.network import Network, any_out_of_range

DECAYS = (0.9, 0.999)
"""Of the running means of gradients and of squared gradients (Kingma & Ba, 2015)."""


class Adam:
    """Adam on arrays that are changed in place, with a learning rate for each run.

    Attributes
    ----------
    values : list of (n_runs, …) arrays
        What is trained, floating-point.
    rates : (n_runs,) array
        Learning rates; they may be changed between steps.
    epsilon : float
        Added to the roots of the means of squares.
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


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """Networks along training.

    Attributes
    ----------
    epochs : tuple of int
        Passes over the data after which networks were kept, n_snapshots of them.
    networks : tuple of tuples of Network
        For each snapshot the networks, one for each run.
    losses : (n_epochs, n_runs) array
        Mean loss of the mini-batches of every epoch, each before its step.
    """

    epochs: tuple[int, ...]
    networks: tuple[tuple[Network, ...], ...]
    losses: np.ndarray

    @property
    def final(self) -> tuple[Network, ...]:
        """The networks of the last snapshot, one for each run."""
        return self.networks[-1]


def train(
    networks: Sequence[Network],
    inputs: object,
    targets: object,
    rngs: Sequence[np.random.Generator],
    loss: str = "cross_entropy",
    learning_rate: float | Sequence[float] = 1e-3,
    n_epochs: int = 100,
    batch_size: int = 50,
    weight_decay: float = 0.0,
    biases: bool = True,
    snapshots: Iterable[int] = (),
) -> TrainingRun:
    """Networks of one shape trained side by side by Adam on mini-batches.

    Every run shuffles the data by its own generator, so that it does not depend on the runs it is trained with.

    Parameters
    ----------
    networks : list of Network
        Where the runs start, such as from :func:`~chapters.shared.complexity.network.random_network`.
    inputs : (n, d) array_like
        The same for all runs.
    targets : array_like
        Labels (n,) or (n_runs, n) for "cross_entropy"; values (n, n_outputs) or (n_runs, n, n_outputs) for "squared".
    rngs : list of Generator
        One generator for each run.
    loss : str
        "cross_entropy" or "squared".
    learning_rate : float or list of float
        One for all runs, or one for each.
    n_epochs : int
        Passes over the data.
    batch_size : int
        Points of a mini-batch; what is left over at the end of an epoch is a smaller batch.
    weight_decay : float
        Of all weights, not of biases, per step and in units of the learning rate (AdamW).
    biases : bool
        Whether biases are trained; if not they stay as they are.
    snapshots : list of int
        Epochs to keep networks at, 0 for the start; the last epoch is always kept.

    Raises
    ------
    ValueError
        For networks of different shapes, targets that do not fit, and settings out of range.

    Examples
    --------
    >>> from chapters.shared.complexity import random_network
    >>> rng = np.random.default_rng(0)
    >>> run = train([random_network([1, 8, 1], rng)], [[-1.0], [1.0]], [[1.0], [1.0]], [rng], "squared", 0.02)
    >>> bool(run.losses[-1] < 1e-3 < run.losses[0])
    True
    """
    x = networks[0].check_inputs(inputs) if networks else finite_array(inputs, "inputs", 2)
    check_runs(networks, rngs)
    if any_out_of_range(networks, x):
        raise ValueError(any_out_of_range(networks, x))
    y = check_targets(targets, (len(networks), len(x), networks[0].widths[-1]), loss)
    if y.ndim == (1 if loss == "cross_entropy" else 2):  # the same for all runs
        y = np.broadcast_to(y, (len(networks), *y.shape))
    rates = check_rates(learning_rate, len(networks))
    n_epochs = positive_integer(n_epochs, "n_epochs")
    batch_size = positive_integer(batch_size, "batch_size")
    if finite_number(weight_decay, "weight_decay") < 0:
        raise ValueError(f"weight_decay: found {weight_decay:g}, expected at least 0.")
    kept = sorted({positive_integer(epoch, "snapshots", 0) for epoch in snapshots} | {n_epochs})
    if kept[-1] > n_epochs:
        raise ValueError(f"snapshots: found {kept[-1]}, expected at most n_epochs, {n_epochs}.")

    weights, offsets = stacked(networks)
    adam = Adam([*weights, *offsets] if biases else weights, rates)
    found = [tuple(networks)] if kept[0] == 0 else []
    losses = np.zeros((n_epochs, len(networks)))
    rows = np.arange(len(networks))[:, None]
    for epoch in range(n_epochs):
        order = np.stack([rng.permutation(len(x)) for rng in rngs])
        for start in range(0, len(x), batch_size):
            at = order[:, start : start + batch_size]
            value, by_weights, by_biases = loss_gradients(weights, offsets, networks[0].phi, x[at], y[rows, at], loss)
            losses[epoch] += value * (at.shape[1] / len(x))
            for w in weights if weight_decay else ():
                w *= 1 - weight_decay * for_each_run(rates, w)
            adam.step([*by_weights, *by_biases] if biases else by_weights)
        if epoch + 1 in kept:
            found.append(unstacked(weights, offsets, networks[0]))
    return TrainingRun(tuple(kept), tuple(found), losses)
