"""What experiments on mimicry found, stored and on the spot: students, their teacher, and what helped them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from capcore.complexity.network import Network
from capcore.validation import one_of, positive_integer
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
TEACHER = "deep, 400 labels (teacher)"
STUDENT = "shallow, logits on the pool"
SAWTOOTH = 24**4
"""Regions on a line that four layers of 48 ReLUs reach at least: each composes a sawtooth of 24 teeth."""


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


def measured(content: Mapping[str, Any], measure: str) -> dict[str, np.ndarray]:
    """Arm → (seeds,) ``accuracy``, or ``agreement`` with the teacher, from ``stored("mimicry")``."""
    return {arm: np.array(row[measure]) for arm, row in content["values"]["arms"].items()}


def difference(content: Mapping[str, Any], one: str, other: str, measure: str = "accuracy") -> Difference:
    """The measure of one arm minus that of another, paired by seed."""
    values = measured(content, measure)
    return Difference.of(values[one] - values[other])


def comparisons(content: Mapping[str, Any]) -> dict[str, Difference]:
    """What is compared → difference in test accuracy, in the order of the chapter's figure."""
    pairs = {
        "student − teacher": (STUDENT, TEACHER),
        "quarter-size student − teacher": ("small, logits on the pool", TEACHER),
        "logits − hard labels": (STUDENT, "shallow, hard labels on the pool"),
        "pool − the 400 alone": (STUDENT, "shallow, logits on the 400"),
        "shallow − deep student": (STUDENT, "deep, logits on the pool"),
        "deep − shallow, 400 labels": (TEACHER, "shallow, 400 labels"),
        "deep − shallow, pool's labels": ("deep, true labels on the pool", "shallow, true labels on the pool"),
    }
    return {name: difference(content, *pair) for name, pair in pairs.items()}


def region_ratio(content: Mapping[str, Any], one: str, other: str) -> Difference:
    """Linear regions on segments, of networks of one kind over those of another, paired by seed."""
    values = content["values"]["regions"]
    return Difference.of(np.array(values[one]) / np.array(values[other]))


def random_teacher_loss(content: Mapping[str, Any]) -> Difference:
    """Agreement of the quarter-size student with a teacher of random labels, minus that with one of true labels."""
    arm = "small, logits on the pool"
    return Difference.of(
        np.array(content["values"]["random labels"]["student agreement"][arm]) - measured(content, "agreement")[arm]
    )


@dataclass(frozen=True)
class LiveRun:
    """What was trained on the spot.

    Attributes
    ----------
    comparison : with the stored accuracies, in words. regions : (segments,) exact counts of linear regions of the
        teacher. patterns : exact counts of patterns. on_grid : patterns counted on a fine grid, at most as many.
    """

    comparison: str
    regions: np.ndarray
    patterns: np.ndarray
    on_grid: np.ndarray


def live_run(content: Mapping[str, Any], arm: str, n_seeds: int, n_segments: int, tolerance: float = 0.03) -> LiveRun:
    """Train teachers and one arm of students again, at the stored settings for the first ``n_seeds`` seeds.

    The regions are the first teacher's; they are empty where no network is trained.
    """
    if not n_seeds:
        return LiveRun("no network was trained here", *3 * [np.empty(0)])
    from capcore.complexity import curve_regions, segments
    from chapters.mimicry import experiment

    settings = {**content["settings"], "seeds": content["settings"]["seeds"][:n_seeds]}
    images = [experiment.draw_images(seed, settings) for seed in settings["seeds"]]
    inputs, labels = [each.labelled for each in images], [each.y for each in images]
    teachers = experiment.fit_networks("deep", experiment.cross_entropy, inputs, labels, settings)
    students = experiment.train_student(arm, teachers, images, settings)
    gaps = [
        abs(experiment.against(net, teacher, each)["accuracy"] - then)
        for name, nets in ((TEACHER, teachers), (arm, students))
        for net, teacher, each, then in zip(nets, teachers, images, measured(content, "accuracy")[name], strict=False)
    ]
    starts, stops = experiment.end_points(images[0], n_segments, settings["seeds"][0])
    exact = curve_regions(teachers[0], segments(starts, stops))
    grid = [experiment.regions_on_grid(teachers[0], *ends, 4001) for ends in zip(starts, stops, strict=True)]
    said = f"the stored accuracies are {'met' if max(gaps) <= tolerance else 'missed'} within {tolerance:.2f}"
    return LiveRun(said, exact.linear, exact.patterns, np.array(grid))
