"""Mimicry: a shallow student regressed on a deep teacher's logits, with the controls that decide what helped it.

Ba and Caruana (2014) train a shallow network to imitate a deep one. That it reaches its teacher shows little by itself.
It may be the logits that help, the unlabelled points it sees beside them, or neither: without a teacher it may do as
well. Every arm here changes one of these, at the same number of parameters and of steps (slides, "High capacity, low
reality").
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.complexity.network import Network, as_network, random_network
from capcore.validation import finite_array, positive_integer
from chapters.mimicry.mimicry_report import ALONE, DEEP, FEW, HARD, STUDENT, Arm, Mimicry
from chapters.mimicry.students import answers_of, logit_targets, matched_width, train_students


def mimic(
    teacher: object,
    pool: object,
    test: object,
    rng: np.random.Generator,
    *,
    labelled: tuple[object, object] | None = None,
    hidden: int | None = None,
    n_trials: int = 5,
    deep_student: bool = False,
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
    teacher : of two outputs or more, as :func:`~capcore.complexity.network.as_network` takes it, such as a fitted
        ``MLPClassifier``.
    pool : (n, d) points without labels; may hold the labelled ones.
    test : points (m, d), or a pair of them with their labels (m,). They must not be among the others.
    labelled : pair of points (k, d) and their labels (k,), those that the teacher was trained on.
        Labels are the numbers of outputs, or the names in the teacher's ``classes_``, if it has them.
    hidden : units of the hidden layer; by default as many as the teacher's parameters allow,
        ``matched_width``.
    deep_student : one more arm, the teacher's shape and activation, on logits of the pool: is it the depth?
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
        STUDENT: (points, logit_targets(net, points)),
        HARD: (points, answers_of(net, points)),
    }
    if labelled is not None:
        x, y = _pair(teacher, net, labelled, "labelled")
        tasks |= {ALONE: (x, y), FEW: (x, logit_targets(net, x))}
    if deep_student:
        tasks[DEEP] = tasks[STUDENT]

    options: dict[str, Any] = {
        "n_steps": n_steps,
        "learning_rate": learning_rate,
        "batch_size": batch_size,
    }
    root, trials = int(rng.integers(2**63)), range(positive_integer(n_trials, "n_trials"))
    said = answers_of(net, x_test)
    arms = {}
    for name, (inputs, targets) in tqdm(tasks.items(), unit="arm", disable=None if progress is None else not progress):
        shape, phi, slope = (net.widths, net.activation, net.slope) if name == DEEP else (shallow, activation, 0.01)
        starts = [
            random_network(shape, np.random.default_rng([root, j, 0]), activation=phi, slope=slope) for j in trials
        ]
        rngs = [np.random.default_rng([root, j, 1]) for j in trials]
        students = train_students(starts, inputs, targets, rngs, **options)
        answers = np.array([answers_of(each, x_test) for each in students])
        right = np.empty(0) if y_test is None else np.mean(answers == y_test, axis=1)
        arms[name] = Arm(students, len(inputs), np.mean(answers == said, axis=1), right)
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
