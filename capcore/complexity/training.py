"""Training of small networks by Adam, several of one shape at once, with starts, biases and snapshots under control.

scikit-learn's ``MLPClassifier`` fixes the initial scales and always trains biases, and keeps no networks on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from capcore.complexity.adam import Adam, check_rates, check_runs, for_each_run, stacked, unstacked
from capcore.complexity.gradients import check_targets, loss_gradients
from capcore.complexity.magnitudes import any_out_of_range
from capcore.complexity.network import Network
from capcore.validation import finite_array, finite_number, positive_integer


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """Networks along training.

    Attributes
    ----------
    epochs : (n_snapshots,) passes over the data after which networks were kept.
    networks : n_snapshots tuples of networks, one for each run.
    losses : (n_epochs, n_runs) mean loss of the mini-batches of every epoch, each before its step.
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
    networks : where the runs start, such as from :func:`~capcore.complexity.network.random_network`.
    inputs : (n, d), the same for all runs.
    targets : labels (n,) or (n_runs, n) for "cross_entropy"; values (n, n_outputs) or (n_runs, n, n_outputs) for
        "squared".
    rngs : one generator for each run.
    learning_rate : one for all runs, or one for each.
    batch_size : points of a mini-batch; what is left over at the end of an epoch is a smaller batch.
    weight_decay : of all weights, not of biases, per step and in units of the learning rate (AdamW).
    biases : whether biases are trained; if not they stay as they are.
    snapshots : epochs to keep networks at, 0 for the start; the last epoch is always kept.

    Raises ``ValueError`` for networks of different shapes, targets that do not fit, and settings out of range.

    >>> from capcore.complexity import random_network
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
