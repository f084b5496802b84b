"""Reading the stored experiment on the residual scale: medians and intervals over seeds, and which exponents learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from capcore.validation import finite_number
from chapters.shared.intervals import geometric_interval, student_interval

Arms = Mapping[str, Mapping[str, Any]]
"""Exponent → arm, as ``train_arm`` returns it."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Best losses against the exponent.

    Attributes
    ----------
    exponents, median : (m,); infinite where more than half of the seeds diverged at every learning rate.
    low, high : (m,) Student's t interval of 95 per cent for the mean of the logarithm over seeds; ``nan`` where a
        seed diverged.
    """

    exponents: np.ndarray
    median: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def learns(self, threshold: float) -> list[float]:
        """Exponents whose median loss is at most ``threshold``."""
        return self.exponents[self.median <= threshold].tolist()


def curve(arms: Arms) -> Curve:
    """The losses of some arms that differ in their exponent.

    >>> found = curve({"0.5": {"best": [0.1, 0.1, 0.1]}, "1.0": {"best": [1.0, 2.0, None]}})
    >>> found.median.tolist(), found.learns(0.5)
    ([0.1, 2.0], [0.5])
    """
    losses = [loss_of(arm) for arm in arms.values()]
    limits = np.array([interval(each) for each in losses])
    medians = np.array([np.median(each) for each in losses])
    return Curve(np.array([float(a) for a in arms]), medians, limits[:, 0], limits[:, 1])


def loss_of(arm: Mapping[str, Any]) -> np.ndarray:
    """(s,) loss of every seed at the arm's best learning rate, infinite where it diverged."""
    return np.array([np.inf if x is None else x for x in arm["best"]], dtype=float)


def interval(losses: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Student's t interval for the mean of the logarithm over seeds; ``nan`` where one of them diverged.

    >>> low, high = interval(np.array([0.5, 1.0, 2.0]))
    >>> round(low, 2), round(high, 2)
    (0.18, 5.59)
    """
    if len(losses) < 2 or not np.isfinite(losses).all():
        return np.nan, np.nan
    _, low, high = geometric_interval(losses, finite_number(level, "level"))
    return float(low), float(high)


def band(runs: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean over draws, the first axis, with Student's t interval: mean, lower and upper limit, each without that axis.

    >>> [part.round(2).tolist() for part in band(np.array([[0.0], [1.0], [2.0]]))]
    [[1.0], [-1.48], [3.48]]
    """
    mean, half = student_interval(runs, level)
    return mean, mean - half, mean + half


def floored_ratio(loss: float, other: float, floor: float) -> float:
    """``loss`` over ``other``, both counted as ``floor`` where they are lower; infinite where only ``loss`` diverged.

    >>> floored_ratio(0.02, 0.05, 0.1), floored_ratio(0.4, 0.05, 0.1)
    (1.0, 4.0)
    """
    return float(max(loss, floor) / max(other, floor))


def windows(values: Mapping[str, Mapping[str, Mapping[str, Arms]]], thresholds: Mapping[str, float]) -> pd.DataFrame:
    """Which exponents learn, for every task and kind of block (rows) and depth (columns), as text.

    ``values`` are those of the stored experiment, ``thresholds`` the loss of each task that counts as learnt.
    """
    rows = {
        (task, kind): {f"L = {depth}": _listed(curve(arms).learns(limit)) for depth, arms in depths.items()}
        for task, limit in thresholds.items()
        for kind, depths in values[task].items()
    }
    table = pd.DataFrame.from_dict(rows, orient="index").fillna("")
    table.index.names = ["task", "block"]
    return table


def _listed(exponents: Sequence[float]) -> str:
    names = {0.0: "0", 0.25: "¼", 0.5: "½", 0.75: "¾", 1.0: "1"}
    return ", ".join(names.get(a, f"{a:g}") for a in exponents) or "none"


def count_word(count: int) -> str:
    """``count`` as a word, up to nine.

    >>> count_word(0), count_word(7)
    ('none', 'seven')
    """
    return ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")[count]


def movement(arms: Arms, names: Mapping[str, str]) -> pd.DataFrame:
    """How far the layers move their input, |x_L − x_0|²/|x_0|², before and after training, and the loss; text.

    Parameters
    ----------
    names : key of an arm → its name in the table. Medians over seeds.
    """
    rows = {}
    for key, name in names.items():
        moved = arms[key]["moved"]
        rows[name] = {
            "moved at the start": f"{np.median(moved['start']):.2g}",
            "moved after training": f"{np.median(moved['trained']):.1f}",
            "loss (nats)": f"{np.median(loss_of(arms[key])):.2f}",
        }
    return pd.DataFrame.from_dict(rows, orient="index")
