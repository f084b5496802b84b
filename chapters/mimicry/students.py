"""Students of a teacher: as wide as its parameters allow, what they are told, and how they are trained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from capcore.complexity.gradients import check_targets, loss_gradients
from capcore.complexity.network import Network
from capcore.complexity.training import Adam, check_rates, check_runs, stacked, unstacked
from capcore.validation import positive_integer


def matched_width(n_inputs: int, n_outputs: int, n_params: int) -> int:
    """Units of the widest network of one hidden layer with at most ``n_params`` weights and biases.

    One unit more would exceed them. It is the control of a comparison with a deeper network: as many parameters, less
    depth.

    Raises ``ValueError`` for fewer parameters than one unit needs.

    >>> matched_width(64, 10, 10_666)  # of a network 64-48-48-48-48-10; it has 10,660
    142
    """
    d, k = positive_integer(n_inputs, "n_inputs"), positive_integer(n_outputs, "n_outputs")
    least = d + 2 * k + 1
    if positive_integer(n_params, "n_params") < least:
        raise ValueError(f"n_params: found {n_params}, expected at least {least}, those of one hidden unit.")
    return (n_params - k) // (d + k + 1)


def answers_of(network: Network, inputs: object) -> np.ndarray:
    """(n,) the output with the largest logit, at inputs (n, d).

    >>> answers_of(Network([[[1.0, -1.0]]], [[0.0, 0.0]]), [[2.0], [-3.0]]).tolist()
    [0, 1]
    """
    return network(inputs).argmax(axis=1)


def logit_targets(teacher: Network, inputs: object) -> np.ndarray:
    """(n, n_outputs) logits as a student is regressed on: centred at every point, and scaled over all of them.

    What is taken off, the mean over the outputs, changes no answer and no softmax probability; the one scale, which
    brings the variance over points and outputs to 1, changes no answer.

    Raises ``ValueError`` for a teacher that says the same of every output, at every point.

    >>> logit_targets(Network([[[1.0, 3.0]]], [[0.0, 0.0]]), [[1.0], [-1.0]]).tolist()
    [[-1.0, 1.0], [1.0, -1.0]]
    """
    logits = teacher(inputs)
    centred = logits - logits.mean(axis=1, keepdims=True)
    scale = centred.std()
    if scale <= 1e-12 * np.abs(logits).max():
        raise ValueError(
            "teacher: found the same logit for all outputs at all points, expected a teacher that tells some apart: "
            "there is nothing to mimic."
        )
    return centred / scale


def train_students(
    starts: Sequence[Network],
    inputs: object,
    targets: object,
    rngs: Sequence[np.random.Generator],
    *,
    n_steps: int = 3000,
    learning_rate: float = 2e-3,
    batch_size: int = 128,
) -> tuple[Network, ...]:
    """The networks after training side by side by Adam, with a learning rate that falls linearly to zero, step by step.

    :func:`~capcore.complexity.training.train` goes by passes over the data at one learning rate. Here arms with few and
    with many examples have as many steps, and end where no step moves them any more, so that they can be compared.

    Parameters
    ----------
    starts : networks of one shape. inputs : (n, d), the same for all.
    targets : labels (n,), for cross-entropy; or values (n, n_outputs), for the squared error.
    rngs : one generator for each start, which draws its batches.
    learning_rate : of the first step.
    batch_size : examples drawn for a step, with replacement; all n at once if there are no more.

    Raises ``ValueError`` for networks of different shapes, targets that do not fit, and settings out of range.

    >>> from capcore.complexity import random_network
    >>> rng = np.random.default_rng(0)
    >>> x, start = rng.normal(size=(40, 2)), random_network([2, 8, 2], rng)
    >>> (found,) = train_students([start], x, x[:, 0] > 0, [rng], n_steps=300, learning_rate=0.02)
    >>> float(np.mean(answers_of(found, x) == (x[:, 0] > 0)))
    1.0
    """
    check_runs(starts, rngs)
    x = starts[0].check_inputs(inputs)
    labels = np.ndim(np.asarray(targets)) == 1
    loss = "cross_entropy" if labels else "squared"
    y = check_targets(targets, (len(x), starts[0].widths[-1]), loss)
    rates = check_rates(learning_rate, len(starts))
    n_steps, batch_size = positive_integer(n_steps, "n_steps"), positive_integer(batch_size, "batch_size")

    weights, biases = stacked(starts)
    adam = Adam([*weights, *biases], rates)
    at = np.tile(np.arange(len(x)), (len(starts), 1))
    for step in range(n_steps):
        if len(x) > batch_size:
            at = np.stack([rng.integers(0, len(x), batch_size) for rng in rngs])
        _, by_weights, by_biases = loss_gradients(weights, biases, starts[0].phi, x[at], y[at], loss)
        adam.rates = rates * (1 - step / n_steps)
        adam.step([*by_weights, *by_biases])
    return unstacked(weights, biases, starts[0])
