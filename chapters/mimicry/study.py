"""The stored experiment on mimicry, read for its chapter, and a part of it made again on the spot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from chapters.mimicry.mimicry_report import Difference

TEACHER = "deep, 400 labels (teacher)"
STUDENT = "shallow, logits on the pool"
SAWTOOTH = 24**4
"""Regions on a line that four layers of 48 ReLUs reach at least: each composes a sawtooth of 24 teeth."""


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
    from chapters.mimicry import mimicry_experiment
    from chapters.mimicry import training as mimicry

    settings = {**content["settings"], "seeds": content["settings"]["seeds"][:n_seeds]}
    images = [mimicry.draw_images(seed, settings) for seed in settings["seeds"]]
    inputs, labels = [each.labelled for each in images], [each.y for each in images]
    teachers = mimicry.fit_networks("deep", mimicry.cross_entropy, inputs, labels, settings)
    students = mimicry_experiment.train_student(arm, teachers, images, settings)
    gaps = [
        abs(mimicry_experiment.against(net, teacher, each)["accuracy"] - then)
        for name, nets in ((TEACHER, teachers), (arm, students))
        for net, teacher, each, then in zip(nets, teachers, images, measured(content, "accuracy")[name], strict=False)
    ]
    starts, stops = mimicry.end_points(images[0], n_segments, settings["seeds"][0])
    exact = curve_regions(teachers[0], segments(starts, stops))
    grid = [mimicry.regions_on_grid(teachers[0], *ends, 4001) for ends in zip(starts, stops, strict=True)]
    said = f"the stored accuracies are {'met' if max(gaps) <= tolerance else 'missed'} within {tolerance:.2f}"
    return LiveRun(said, exact.linear, exact.patterns, np.array(grid))
