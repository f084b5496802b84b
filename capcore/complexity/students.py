"""Students of a teacher: as wide as its parameters allow, what they are told, and how they are trained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from capcore.complexity.network import Network
from capcore.complexity.training import train
from capcore.validation import finite_array, finite_number, positive_integer


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
    n_stages: int = 10,
    learning_rate: float = 2e-3,
    batch_size: int = 128,
) -> tuple[Network, ...]:
    """The networks after training side by side by :func:`~capcore.complexity.training.train`, one for each start.

    The learning rate falls: of ``n_stages`` stages of about equal length the first has ``learning_rate``, and each has
    1/n_stages of it less than the one before. Adam's means start anew in each.

    Parameters
    ----------
    starts : networks of one shape. inputs : (n, d), the same for all.
    targets : labels (n,), for cross-entropy; or values (n, n_outputs), for the squared error.
    rngs : one generator for each start, which shuffles the examples.
    n_steps : rounded to whole passes over the examples, and at least one; so are the stages.

    Raises ``ValueError`` for settings out of range, and for what :func:`~capcore.complexity.training.train` refuses.

    >>> from capcore.complexity import random_network
    >>> rng = np.random.default_rng(0)
    >>> x, start = rng.normal(size=(40, 2)), random_network([2, 8, 2], rng)
    >>> (found,) = train_students([start], x, x[:, 0] > 0, [rng], n_steps=300, learning_rate=0.02)
    >>> float(np.mean(answers_of(found, x) == (x[:, 0] > 0)))
    1.0
    """
    x, y = finite_array(inputs, "inputs", 2), finite_array(targets, "targets", (1, 2))
    batches = -(-len(x) // positive_integer(batch_size, "batch_size"))
    n_epochs = max(1, round(positive_integer(n_steps, "n_steps") / batches))
    stages = min(positive_integer(n_stages, "n_stages"), n_epochs)
    rate = finite_number(learning_rate, "learning_rate", "a number above 0")
    networks = tuple(starts)
    for stage, epochs in enumerate(np.array_split(np.arange(n_epochs), stages)):
        run = train(
            networks,
            x,
            y,
            rngs,
            loss="cross_entropy" if y.ndim == 1 else "squared",
            learning_rate=rate * (1 - stage / stages),
            n_epochs=len(epochs),
            batch_size=batch_size,
        )
        networks = run.final
    return networks
