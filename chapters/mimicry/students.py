"""Shallow students of a teacher of any size, trained on the spot, with the controls that decide what helped them.

That a student reaches its teacher shows little by itself. It may be the logits that help, the unlabelled points it sees
beside them, or neither: without a teacher it may do as well. Every arm changes one of these, at the same number of
parameters and of steps (slides, "High capacity, low reality").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.checks.arguments import finite_array, one_of, positive_integer
from chapters.shared.adam import Adam, check_rates, check_runs, stacked, unstacked
from chapters.shared.complexity.gradients import check_targets, loss_gradients
from chapters.shared.complexity.network import Network, as_network, random_network
from chapters.shared.intervals import Interval

LOGITS, HARD, ALONE, FEW = "logits, pool", "hard labels, pool", "labels, labelled alone", "logits, labelled alone"
"""Arms: what a student of one hidden layer is told, and of which points."""
PAIRS = {
    "student − teacher": (LOGITS, None),
    "logits − hard labels": (LOGITS, HARD),
    "pool − labelled alone": (LOGITS, FEW),
    "student − untaught": (LOGITS, ALONE),
    "teacher − untaught": (None, ALONE),
}
"""What is compared → two arms, with None for the teacher. The untaught student has the labels of the labelled alone."""
MEASURES = ("accuracy", "agreement")
"""Shares of the test points: those answered rightly, and those on which a network gives the teacher's answer."""


class Difference(Interval):
    """Mean of a paired difference of shares, and the half-width of Student's interval; written in percentage points.

    >>> print(Difference.of([0.01, 0.02, 0.03]))
    +2.0 (−0.5 to +4.5)
    """

    def text(self, decimals: int = 1) -> str:
        """In percentage points; with two decimals an end near zero is told from zero.

        >>> Difference(0.0034, 0.0032).text(2)
        '+0.34 (+0.02 to +0.66)'
        """
        ends = (f"{100 * value:+.{decimals}f}" for value in (self.mean, self.low, self.high))
        mean, low, high = (end.replace("-", "−") for end in ends)
        return f"{mean} ({low} to {high})"

    def __str__(self) -> str:
        """In percentage points, "+0.2 (−0.4 to +0.8)"."""
        return self.text()


@dataclass(frozen=True, eq=False)
class Arm:
    """Students of one kind, one for each trial.

    Attributes
    ----------
    networks : (n_trials,) as trained. n_examples : points they were trained on.
    agreement : (n_trials,) share of the test points with the teacher's answer.
    accuracy : (n_trials,) share of the test points with the right answer; empty where those are not known.
    """

    networks: tuple[Network, ...] = field(repr=False)
    n_examples: int
    agreement: np.ndarray
    accuracy: np.ndarray


@dataclass(frozen=True, eq=False)
class Mimicry:
    """Students of one teacher, ``mimic``.

    Attributes
    ----------
    teacher : as a network. teacher_accuracy : on the test points; None where the right answers are not known.
    hidden : units of the students' hidden layer.
    arms : name → ``Arm``: what the students were told, and of which points.
    """

    teacher: Network
    teacher_accuracy: float | None
    hidden: int
    arms: Mapping[str, Arm]

    @property
    def n_trials(self) -> int:
        """Students of every kind."""
        return len(self.arms[LOGITS].networks)

    def differences(self, measure: str = "accuracy", level: float = 0.95) -> dict[str, Difference]:
        """What is compared → difference, paired by trial, with Student's interval; see ``PAIRS``.

        Only what was measured is there. The teacher is one network, so that a difference from it has the spread of the
        students alone. Intervals are over trials, that is over starts and batches: not over teachers, pools or test
        points.

        Raises ``ValueError`` for a single trial, and for accuracies without labels of the test points.
        """
        accuracy = one_of(measure, "measure", MEASURES) == "accuracy"
        if accuracy and self.teacher_accuracy is None:
            raise ValueError("measure: found 'accuracy' without labels of the test points. Ask for 'agreement'.")
        if self.n_trials < 2:
            raise ValueError("n_trials: found 1, expected at least 2 for an interval over trials.")
        values: dict[str | None, np.ndarray] = {name: getattr(arm, measure) for name, arm in self.arms.items()}
        values[None] = np.full(self.n_trials, self.teacher_accuracy if accuracy else 1.0)
        return {
            name: Difference.of(values[one] - values[other], level)
            for name, (one, other) in PAIRS.items()
            if one in values and other in values and (accuracy or None not in (one, other))
        }

    def table(self, decimals: int = 1) -> dict[str, dict[str, str]]:
        """Network → column → text, for a table: the teacher, then the arms; means over the trials, in per cent."""
        decimals = positive_integer(decimals, "decimals", 0)

        def row(net: Network, n_examples: int | None, accuracy: float | None, agreement: float) -> dict[str, str]:
            return {
                "parameters": f"{net.n_params:,}",
                "examples": "–" if n_examples is None else f"{n_examples:,}",
                "test accuracy": "–" if accuracy is None else f"{100 * accuracy:.{decimals}f} %",
                "teacher's answer": f"{100 * agreement:.{decimals}f} %",
            }

        rows = {"teacher": row(self.teacher, None, self.teacher_accuracy, 1.0)}
        for name, arm in self.arms.items():
            accuracy = None if self.teacher_accuracy is None else float(arm.accuracy.mean())
            rows[name] = row(arm.networks[0], arm.n_examples, accuracy, float(arm.agreement.mean()))
        return rows


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


def answers(network: Network, x: object) -> np.ndarray:
    """(n,) the output with the largest logit, at inputs (n, d).

    >>> answers(Network([[[1.0, -1.0]]], [[0.0, 0.0]]), [[2.0], [-3.0]]).tolist()
    [0, 1]
    """
    return network(x).argmax(axis=1)


def scaled_logits(teacher: Network, x: object) -> np.ndarray:
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
    inputs: object,
    targets: object,
    rngs: Sequence[np.random.Generator],
    *,
    n_steps: int = 3000,
    learning_rate: float = 2e-3,
    batch_size: int = 128,
) -> tuple[Network, ...]:
    """The networks after training side by side by Adam, with a learning rate that falls linearly to zero, step by step.

    ``chapters.shared.adam.train`` goes by passes over the data at one learning rate. Here arms with few and
    with many examples have as many steps, and end where no step moves them any more, so that they can be compared.

    Parameters
    ----------
    starts : networks of one shape. inputs : (n, d), the same for all.
    targets : labels (n,), for cross-entropy; or values (n, n_outputs), for the squared error.
    rngs : one generator for each start, which draws its batches.
    learning_rate : of the first step.
    batch_size : examples drawn for a step, with replacement; all n at once if there are no more.

    Raises ``ValueError`` for networks of different shapes, targets that do not fit, and settings out of range.

    >>> from chapters.shared.complexity import random_network
    >>> rng = np.random.default_rng(0)
    >>> x, start = rng.normal(size=(40, 2)), random_network([2, 8, 2], rng)
    >>> (found,) = train_students([start], x, (x[:, 0] > 0) + 0, [rng], n_steps=300, learning_rate=0.02)
    >>> float(np.mean(answers(found, x) == (x[:, 0] > 0)))
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


def mimic(
    teacher: object,
    pool: object,
    test: object,
    rng: np.random.Generator,
    *,
    labelled: tuple[object, object] | None = None,
    hidden: int | None = None,
    n_trials: int = 5,
    activation: str = "relu",
    n_steps: int = 3000,
    learning_rate: float = 2e-3,
    batch_size: int = 128,
    progress: bool | None = False,
) -> Mimicry:
    """Students of one hidden layer taught by ``teacher``, and their controls, as a report.

    The arms: the teacher's logits on the pool (the student); its answers, as hard labels, on the same pool; and where
    there are labelled points, their labels alone, without a teacher, and the teacher's logits on them alone. Students
    of a trial start from the same weights. Trials differ in these and in the batches, so that intervals are over those
    only: another teacher, pool or set of test points may differ by more.

    Parameters
    ----------
    teacher : of two outputs or more, as ``as_network`` takes it, such as a fitted
        ``MLPClassifier``.
    pool : (n, d) points without labels; may hold the labelled ones.
    test : points (m, d), or a pair of them with their labels (m,). They must not be among the others.
    labelled : pair of points (k, d) and their labels (k,), those that the teacher was trained on.
        Labels are the numbers of outputs, or the names in the teacher's ``classes_``, if it has them.
    hidden : units of the hidden layer; by default as many as the teacher's parameters allow,
        ``matched_width``.
    activation : of the shallow students.
    n_steps, learning_rate, batch_size : see ``train_students``; the same for
        all arms.
    progress : a bar on standard error; None shows it on a terminal only.

    Raises ``ValueError`` for a teacher of one output, or one that tells no outputs apart; points and labels that do not
    fit it; and settings out of range.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 2))
    >>> deep = [(np.eye(2), np.ones(2)), (np.eye(2), np.zeros(2)), ([[1.0, -1.0], [-1.0, 1.0]], np.zeros(2))]
    >>> found = mimic(deep, x[:300], x[300:], rng, hidden=8, n_trials=2, n_steps=300, learning_rate=0.02)
    >>> bool(found.arms["logits, pool"].agreement.min() > 0.95)
    True
    """
    net = as_network(teacher)
    if net.widths[-1] < 2:
        raise ValueError(
            "teacher: found one output, expected at least two, a logit for every class. For two classes put a logit "
            "that is always 0 before it."
        )
    points = _points(net, pool, "pool")
    with_labels = isinstance(test, tuple)
    x_test, y_test = _pair(teacher, net, test, "test") if with_labels else (_points(net, test, "test"), None)
    if hidden is None:
        hidden = matched_width(net.widths[0], net.widths[-1], net.n_params)
    shallow = [net.widths[0], positive_integer(hidden, "hidden"), net.widths[-1]]
    tasks = {
        LOGITS: (points, scaled_logits(net, points)),
        HARD: (points, answers(net, points)),
    }
    if labelled is not None:
        x, y = _pair(teacher, net, labelled, "labelled")
        tasks |= {ALONE: (x, y), FEW: (x, scaled_logits(net, x))}

    options: dict[str, Any] = {"n_steps": n_steps, "learning_rate": learning_rate, "batch_size": batch_size}
    root, trials = int(rng.integers(2**63)), range(positive_integer(n_trials, "n_trials"))
    said = answers(net, x_test)
    arms = {}
    for name, (inputs, targets) in tqdm(tasks.items(), unit="arm", disable=None if progress is None else not progress):
        starts = [random_network(shallow, np.random.default_rng([root, j, 0]), activation=activation) for j in trials]
        rngs = [np.random.default_rng([root, j, 1]) for j in trials]
        students = train_students(starts, inputs, targets, rngs, **options)
        answered = np.array([answers(each, x_test) for each in students])
        right = np.empty(0) if y_test is None else np.mean(answered == y_test, axis=1)
        arms[name] = Arm(students, len(inputs), np.mean(answered == said, axis=1), right)
    accuracy = None if y_test is None else float(np.mean(said == y_test))
    return Mimicry(net, accuracy, shallow[1], arms)


def _points(net: Network, points: object, name: str) -> np.ndarray:
    found = finite_array(points, name, 2)
    if found.shape[1] != net.widths[0]:
        raise ValueError(f"{name}: found shape {found.shape}, expected (n, {net.widths[0]}), as the teacher reads.")
    return found


def _pair(teacher: object, net: Network, pair: object, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, d), and the outputs (n,) that their labels stand for."""
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ValueError(f"{name}: found {type(pair).__name__}, expected a tuple of points (n, d) and labels (n,).")
    x, y = _points(net, pair[0], name), np.asarray(pair[1])
    if y.shape != x.shape[:1]:
        raise ValueError(f"{name}: found labels of shape {y.shape} for {len(x)} points, expected one label each.")
    classes = np.asarray(getattr(teacher, "classes_", range(net.widths[-1])))
    strange = ~np.isin(y, classes)
    if strange.any():
        raise ValueError(
            f"{name}: found label {y[strange][0].item()!r}, expected one of the teacher's {len(classes)}, from "
            f"{classes[0].item()!r} to {classes[-1].item()!r}."
        )
    return x, (y[:, None] == classes).argmax(axis=1)
