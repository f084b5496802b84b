"""What the stored experiment on mimicry found: differences between arms, ratios of regions, and their figures."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from capcore.plotting import CYCLE
from chapters.mimicry.students import Difference

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
    random = np.array(content["values"]["random labels"]["student agreement"][arm])
    return Difference.of(random - measured(content, "agreement")[arm])


def plot_arms(values: Mapping[str, np.ndarray], ax: Axes, xlabel: str, names: bool = True) -> Axes:
    """A row per arm: every seed as a dot, their mean as a bar across the row.

    Parameters
    ----------
    values : arm → (seeds,). names : whether rows are named.
    """
    for row, shares in enumerate(values.values()):
        ax.plot(shares, np.full(len(shares), row), "o", color=CYCLE[0], markersize=4, alpha=0.6)
        ax.plot(2 * [shares.mean()], [row - 0.3, row + 0.3], color=CYCLE[1], linewidth=2.5)
    ax.set_yticks(range(len(values)), list(values) if names else [])
    ax.set(xlabel=xlabel, ylim=(len(values) - 0.5, -0.5))
    ax.grid(axis="y", visible=False)
    return ax


def plot_regions(values: Mapping[str, Sequence[float]], ax: Axes) -> Axes:
    """Linear regions on a segment for networks of several kinds: a thin line per seed, the means thick."""
    table = np.array(list(values.values()))
    for k in range(table.shape[1]):
        ax.plot(range(len(table)), table[:, k], color="0.6", linewidth=0.8)
    ax.plot(range(len(table)), table.mean(axis=1), color=CYCLE[1], linewidth=2.5, label="mean")
    ax.set_xticks(range(len(table)), list(values))
    ax.set(ylabel="linear regions on a segment", ylim=(0, None), xlim=(-0.3, len(table) - 0.7))
    return ax
