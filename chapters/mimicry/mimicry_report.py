"""What an experiment on mimicry found: students of several kinds against their teacher, and what helped them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from capcore.complexity.network import Network
from capcore.validation import finite_array, finite_number, one_of, positive_integer
from chapters.shared.intervals import student_interval

MEASURES = ("accuracy", "agreement")
"""Shares of the test points: those answered rightly, and those on which a network gives the teacher's answer."""


@dataclass(frozen=True)
class Difference:
    """Mean of a paired difference, and the ends of Student's interval.

    >>> print(Difference.of([0.01, 0.02, 0.03]))
    +2.0 (−0.5 to +4.5)
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: object, level: float = 0.95) -> Difference:
        """That of ``values`` (n,), one for each pair; at least two."""
        found = finite_array(values, "values", 1)
        level = finite_number(level, "level")
        if not 0 < level < 1:
            raise ValueError(f"level: found {level:g}, expected a number between 0 and 1.")
        if len(found) < 2:
            raise ValueError("values: found 1, expected at least 2: an interval needs a spread.")
        mean, half = student_interval(found, level)
        return cls(float(mean), float(mean - half), float(mean + half))

    @property
    def sign(self) -> int:
        """1 or −1 for an interval above or below zero, and 0 for one that holds it."""
        return int(self.low > 0) - int(self.high < 0)

    def text(self, decimals: int = 1) -> str:
        """In percentage points; with two decimals an end near zero is told from zero.

        >>> Difference(0.0034, 0.0003, 0.0066).text(2)
        '+0.34 (+0.03 to +0.66)'
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


STUDENT, HARD, ALONE, FEW, DEEP = (
    "logits, pool",
    "hard labels, pool",
    "labels, labelled alone",
    "logits, labelled alone",
    "teacher's shape, logits, pool",
)
"""Arms: what a student is told, and of which points. All but the last have one hidden layer."""

PAIRS = {
    "student − teacher": (STUDENT, None),
    "logits − hard labels": (STUDENT, HARD),
    "pool − labelled alone": (STUDENT, FEW),
    "student − untaught": (STUDENT, ALONE),
    "student − teacher's shape": (STUDENT, DEEP),
    "teacher − untaught": (None, ALONE),
}
"""What is compared → two arms, with None for the teacher. The untaught student has the labels of the labelled alone."""


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
        return len(self.arms[STUDENT].networks)

    def differences(self, measure: str = "accuracy", level: float = 0.95) -> dict[str, Difference]:
        """What is compared → difference, paired by trial, with Student's interval; see
        ``PAIRS``.

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

    def __repr__(self) -> str:
        row, plural = self.table()[STUDENT], "s" if self.n_trials > 1 else ""
        said = ", ".join(f"{key} {value}" for key, value in row.items() if value != "–")
        against = "" if self.teacher_accuracy is None else f", {100 * self.teacher_accuracy:.1f} % right"
        return (
            f"Mimicry({self.hidden} hidden units, {self.n_trials} trial{plural}: {said}; teacher of "
            f"{self.teacher.n_params:,}{against})"
        )
