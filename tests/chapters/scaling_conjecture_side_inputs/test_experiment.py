"""The stored runs of the chapter on side inputs: read as they are, and against runs made now."""

import numpy as np
import pytest

from chapters.kit.stored import stored
from chapters.scaling_conjecture_side_inputs import experiment, study
from chapters.scaling_conjecture_side_inputs.study import side_share

ROWS = [
    {"task": "parity", "form": "divided", "depth": depth, "exponent": g, "accuracy": [0.6 + g / 10, 0.8 + g / 10],
     "loss": [0.1, 0.2], "at_edge": g == 0, "before": [0.3], "after": [0.4]}
    for depth in (64, 8) for g in (0.5, 0)
]  # fmt: skip


def test_curves_are_sorted_by_scale_and_depth():
    points = study.accuracy_points(ROWS, "parity", "divided")
    assert list(points) == ["γ = 1", "γ = $L^{-1/2}$"]
    depths, means, halves = points["γ = 1"]
    assert depths == [8, 64] and means == pytest.approx([0.7, 0.7])
    assert halves[0] == pytest.approx(12.706 * 0.1, rel=1e-3)  # Student's t with one degree of freedom


def test_gaps_are_from_the_scale_of_one_half():
    assert study.accuracy(ROWS, "parity", "divided", 8, 0) == pytest.approx(0.7)
    assert study.accuracy_gap(ROWS, "parity", "divided", 8, 0) == pytest.approx(0.05)


def test_rows_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="rows: found none with task = 'digit', depth = 8"):
        study.chosen(ROWS, task="digit", depth=8)


def test_all_planned_networks_are_stored_with_all_seeds():
    content = stored("side_inputs")
    assert content["settings"] == experiment.SETTINGS
    planned = [(task, form, depth, g) for task, form, depth, g, _ in experiment.arms()]
    kept = content["values"]["trained"]
    assert [(row["task"], row["form"], row["depth"], row["exponent"]) for row in kept] == planned
    assert all(len(row["accuracy"]) == len(experiment.SETTINGS["trained"]["seeds"]) for row in kept)


def test_initial_shares_of_trained_networks_follow_the_law():
    """Raw pixels instead of units, through random weights of their own: the same law, three networks, 64 pairs each."""
    for row in study.chosen(stored("side_inputs")["values"]["trained"], task="parity", depth=64):
        law = side_share(row["form"], 64, 64 ** -row["exponent"])
        if law > 1e-6:
            assert abs(np.log(np.mean(row["before"]) / law)) < np.log(2)
