"""Reading the stored runs of ``side_experiment``: curves over depth, and what the claims compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chapters.scaling_conjecture_side_inputs.side_experiment import interval
from chapters.scaling_conjecture_side_inputs.side_shares import side_share

Rows = Sequence[Mapping[str, Any]]
Points = dict[str, tuple[list[int], list[float], list[float]]]
POWERS = {0: "1", 0.25: "$L^{-1/4}$", 0.5: "$L^{-1/2}$", 0.75: "$L^{-3/4}$", 1: "1/L"}


def scale_label(exponent: float, symbol: str = "γ") -> str:
    """The scale in words of a legend.

    >>> scale_label(0), scale_label(0.3, "β")
    ('γ = 1', 'β = $L^{-0.3}$')
    """
    return f"{symbol} = {POWERS.get(exponent, f'$L^{{-{exponent:g}}}$')}"


def chosen(rows: Rows, **where: object) -> list[Mapping[str, Any]]:
    """The rows with these entries, by depth. Raises ``ValueError`` if there are none.

    >>> chosen([{"depth": 8, "form": "same"}], form="other")
    Traceback (most recent call last):
    ...
    ValueError: rows: found none with form = 'other', expected at least one of the 1 stored.
    """
    found = [row for row in rows if all(row[name] == value for name, value in where.items())]
    if not found:
        wanted = ", ".join(f"{name} = {value!r}" for name, value in where.items())
        raise ValueError(f"rows: found none with {wanted}, expected at least one of the {len(rows)} stored.")
    return sorted(found, key=lambda row: row["depth"])


def _exponents(rows: Rows, **where: object) -> list[float]:
    return sorted({row["exponent"] for row in chosen(rows, **where)})


def share_points(rows: Rows, form: str) -> tuple[Points, dict[str, list[float]]]:
    """Untrained shares of X with 95 % intervals over draws, a curve for each scale, and the laws at the same depths."""
    points: Points = {}
    laws = {}
    for g in _exponents(rows, form=form):
        own = chosen(rows, form=form, exponent=g)
        depths = [row["depth"] for row in own]
        points[scale_label(g)] = (depths, [row["mean"] for row in own], [row["half"] for row in own])
        laws[scale_label(g)] = [side_share(form, depth, depth**-g) for depth in depths]
    return points, laws


def accuracy_points(rows: Rows, task: str, form: str, symbol: str = "γ") -> Points:
    """Test accuracies with 95 % intervals over seeds (Student's t), a curve for each scale."""
    points: Points = {}
    for g in _exponents(rows, task=task, form=form):
        own = chosen(rows, task=task, form=form, exponent=g)
        means, halves = zip(*(interval(row["accuracy"]) for row in own), strict=True)
        points[scale_label(g, symbol)] = ([row["depth"] for row in own], list(means), list(halves))
    return points


def accuracy(rows: Rows, task: str, form: str, depth: int, exponent: float) -> float:
    """Mean test accuracy over the seeds."""
    [row] = chosen(rows, task=task, form=form, depth=depth, exponent=exponent)
    return interval(row["accuracy"])[0]


def accuracy_gap(rows: Rows, task: str, form: str, depth: int, exponent: float) -> float:
    """Accuracy at the scale L^-½ less that at L^-g."""
    return accuracy(rows, task, form, depth, 0.5) - accuracy(rows, task, form, depth, exponent)


def before_after(rows: Rows, depth: int) -> dict[str, tuple[list[float], list[float]]]:
    """Shares of X in the parity networks of one depth, before and after training, for every seed."""
    own = [row for row in chosen(rows, task="parity", depth=depth) if row["form"] in ("divided", "undivided")]
    return {f"{row['form']}, {scale_label(row['exponent'])}": (row["before"], row["after"]) for row in own}


def at_edge(rows: Rows, chance_loss: Mapping[str, float]) -> tuple[int, int]:
    """How many of the networks that learned something have their best learning rate at an edge, and how many learned.

    Parameters
    ----------
    chance_loss : task → loss of a network that has learned nothing; less than nine tenths of it counts as learning.
    """
    learned = [row for row in rows if sorted(row["loss"])[len(row["loss"]) // 2] < 0.9 * chance_loss[row["task"]]]
    return sum(bool(row["at_edge"]) for row in learned), len(learned)
