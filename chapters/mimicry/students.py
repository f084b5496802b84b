"""Shallow students of a teacher of any size, trained on the spot, with the controls that decide what helped them.

That a student reaches its teacher shows little by itself. It may be the logits that help, the unlabelled points it sees
beside them, or neither: without a teacher it may do as well. Every arm changes one of these, at the same number of
parameters and of steps (slides, "High capacity, low reality").
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chapters.shared.adam import Adam, stacked, unstacked
from chapters.shared.complexity.gradients import loss_gradients
from chapters.shared.complexity.network import Network, as_network, random_network
from chapters.shared.intervals import Interval

LOGITS, HARD, ALONE, FEW = "logits, pool", "hard labels, pool", "labels, labelled alone", "logits, labelled alone"
"""Arms: what a student of one hidden layer is told, and of which points."""


class Difference(Interval):
    """Mean of a paired difference of shares, and the half-width of Student's interval; written in percentage points.

    >>> print(Difference.of([0.01, 0.02, 0.03]))
    +2.0 (−0.5 to +4.5)
    """

    def __str__(self) -> str:
        """In percentage points, "+0.2 (−0.4 to +0.8)"."""
        return f"{100 * self.mean:+.1f} ({100 * self.low:+.1f} to {100 * self.high:+.1f})".replace("-", "−")


@dataclass(frozen=True, eq=False)
class Arm:
    """Networks of one kind: the teacher, or students, one for each trial.

    Attributes
    ----------
    networks : (n_trials,) as trained. examples : number of points they were trained on, as text.
    agreement : (n_trials,) share of the test points with the teacher's answer. accuracy : with the right answer.
    """

    networks: tuple[Network, ...] = field(repr=False)
    examples: str
    agreement: np.ndarray
    accuracy: np.ndarray

    def row(self, decimals: int) -> dict[str, str]:
        """Column → text, for a table; means over the trials, in per cent."""
        return {
            "parameters": f"{self.networks[0].n_params:,}",
            "examples": self.examples,
            "test accuracy": f"{100 * self.accuracy.mean():.{decimals}f} %",
            "teacher's answer": f"{100 * self.agreement.mean():.{decimals}f} %",
        }


def matched_width(n_inputs: int, n_outputs: int, n_params: int) -> int:
    """Units of the widest network of one hidden layer with at most ``n_params`` weights and biases.

    It is the control of a comparison with a deeper network: as many parameters, less depth.

    >>> matched_width(64, 10, 10_666)  # of a network 64-48-48-48-48-10; it has 10,660
    142
    """
    return (n_params - n_outputs) // (n_inputs + n_outputs + 1)


def answers(network: Network, x: np.ndarray) -> np.ndarray:
    """(n,) the output with the largest logit, at inputs (n, d).

    >>> answers(Network([[[1.0, -1.0]]], [[0.0, 0.0]]), [[2.0], [-3.0]]).tolist()
    [0, 1]
    """
    return network(x).argmax(axis=1)


def scaled_logits(teacher: Network, x: np.ndarray) -> np.ndarray:
    """(n, n_outputs) logits as a student is regressed on: centred at every point, and of variance 1 over all of them.

    What is taken off, the mean over the outputs, changes no answer and no softmax probability; the one scale changes no
    answer.

    Raises ``ValueError`` for a teacher that says the same of every output, at every point.

    >>> scaled_logits(Network([[[1.0, 3.0]]], [[0.0, 0.0]]), [[1.0], [-1.0]]).tolist()
    [[-1.0, 1.0], [1.0, -1.0]]
    """
    logits = teacher(x)
    centred = logits - logits.mean(axis=1, keepdims=True)
    if centred.std() <= 1e-12 * np.abs(logits).max():
        raise ValueError(
            "teacher: found the same logit for all outputs at all points, expected a teacher that tells some apart: "
            "there is nothing to mimic."
        )
    return centred / centred.std()


def train_students(
    starts: Sequence[Network],
    x: np.ndarray,
    targets: np.ndarray,
    rngs: Sequence[np.random.Generator],
    n_steps: int = 3000,
    learning_rate: float = 2e-3,
    batch_size: int = 128,
) -> tuple[Network, ...]:
    """The networks after training side by side by Adam, with a learning rate that falls linearly to zero, step by step.

    ``chapters.shared.adam.train`` goes by passes over the data at one learning rate. Here arms with few and
    with many examples have as many steps, and end where no step moves them any more, so that they can be compared.

    Parameters
    ----------
    starts : networks of one shape. x : (n, d) inputs, the same for all.
    targets : labels (n,), for cross-entropy; or values (n, n_outputs), for the squared error.
    rngs : one generator for each start, which draws its batches.
    learning_rate : of the first step.
    batch_size : examples drawn for a step, with replacement; all n at once if there are no more.

    >>> from chapters.shared.complexity import random_network
    >>> rng = np.random.default_rng(0)
    >>> x, start = rng.normal(size=(40, 2)), random_network([2, 8, 2], rng)
    >>> (student,) = train_students([start], x, (x[:, 0] > 0) + 0, [rng], 300, 0.02)
    >>> float(np.mean(answers(student, x) == (x[:, 0] > 0)))
    1.0
    """
    weights, biases = stacked(starts)
    adam = Adam([*weights, *biases], np.full(len(starts), learning_rate))
    at, loss = np.tile(np.arange(len(x)), (len(starts), 1)), "cross_entropy" if targets.ndim == 1 else "squared"
    for step in range(n_steps):
        if len(x) > batch_size:
            at = np.stack([rng.integers(0, len(x), batch_size) for rng in rngs])
        _, by_weights, by_biases = loss_gradients(weights, biases, starts[0].phi, x[at], targets[at], loss)
        adam.rates = np.full(len(starts), learning_rate) * (1 - step / n_steps)
        adam.step([*by_weights, *by_biases])
    return unstacked(weights, biases, starts[0])


def mimic(
    teacher: object,
    pool: np.ndarray,
    test: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
    labelled: tuple[np.ndarray, np.ndarray],
    *,
    hidden: int | None = None,
    n_trials: int = 5,
    **options: Any,
) -> dict[str, Arm]:
    """The teacher, students of one hidden layer that it teaches, and their controls.

    The arms: the teacher's logits on the pool (the student); its answers, as hard labels, on the same pool; the labels
    of the labelled points alone, without a teacher; and the teacher's logits on them alone. Students
    of a trial start from the same weights. Trials differ in these and in the batches, so that intervals are over those
    only: another teacher, pool or set of test points may differ by more.

    Parameters
    ----------
    teacher : of two outputs or more, as ``as_network`` takes it, such as a fitted ``MLPClassifier`` of classes 0, 1, ….
    pool : (n, d) points without labels; may hold the labelled ones.
    test : points (m, d) with their labels (m,). They must not be among the others.
    labelled : points (k, d) and their labels (k,), those that the teacher was trained on.
    hidden : units of the hidden layer; by default as many as the teacher's parameters allow, ``matched_width``.
    **options : ``n_steps`` and others of ``train_students``, the same for all arms.

    Raises ``ValueError`` for a teacher that tells no outputs apart.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 2))
    >>> y = (x[:, 0] < x[:, 1]) + 0
    >>> deep = [(np.eye(2), np.ones(2)), (np.eye(2), np.zeros(2)), ([[1.0, -1.0], [-1.0, 1.0]], np.zeros(2))]
    >>> options = {"hidden": 8, "n_trials": 2, "n_steps": 300, "learning_rate": 0.02}
    >>> arms = mimic(deep, x[:300], (x[300:], y[300:]), rng, (x[:9], y[:9]), **options)
    >>> bool(arms["logits, pool"].agreement.min() > 0.95)
    True
    """
    net, (x_test, y_test), (x, y) = as_network(teacher), test, labelled
    d, *_, k = net.widths
    shallow = [d, hidden or matched_width(d, k, net.n_params), k]
    tasks = {
        LOGITS: (pool, scaled_logits(net, pool)),
        HARD: (pool, answers(net, pool)),
        ALONE: (x, y),
        FEW: (x, scaled_logits(net, x)),
    }
    root, said = int(rng.integers(2**63)), answers(net, x_test)
    arms = {"teacher": Arm((net,), "–", np.ones(1), np.array([np.mean(said == y_test)]))}
    for name, (inputs, targets) in tasks.items():
        starts = [random_network(shallow, np.random.default_rng([root, j, 0])) for j in range(n_trials)]
        rngs = [np.random.default_rng([root, j, 1]) for j in range(n_trials)]
        students = train_students(starts, inputs, targets, rngs, **options)
        answered = np.array([answers(student, x_test) for student in students])
        agreement, accuracy = np.mean(answered == said, axis=1), np.mean(answered == y_test, axis=1)
        arms[name] = Arm(students, f"{len(inputs):,}", agreement, accuracy)
    return arms
