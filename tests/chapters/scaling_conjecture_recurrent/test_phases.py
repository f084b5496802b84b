"""What was learnt at each exponent, read from the stored results of three chapters."""

import numpy as np
import pytest

from chapters.kit.stored import stored
from chapters.scaling_conjecture_recurrent import figures as draw
from chapters.scaling_conjecture_recurrent import phases


def test_progress_is_one_at_the_best_and_zero_at_guessing():
    found = phases.progress({0.0: 2.0, 0.5: 0.01, 0.75: 1.0, 1.0: 0.1}, 1.0)
    assert found == pytest.approx({0.0: 0.0, 0.5: 1.0, 0.75: 0.0, 1.0: 0.5})


def test_rows_are_the_deepest_networks():
    values = stored("residual_scale")["values"]
    rows = phases.residual_phases(values)
    arms = values["digits"]["tanh"]["512"]
    losses = {float(a): np.median(arm["best"]) for a, arm in arms.items()}
    best = min(losses, key=losses.get)
    assert rows["tanh blocks, digits"][best] == 1
    expected = np.log(np.log(10) / losses[1.0]) / np.log(np.log(10) / losses[best])
    assert rows["tanh blocks, digits"][1.0] == pytest.approx(expected)


def test_accuracies_count_from_guessing():
    rows = [
        {"task": task, "form": form, "depth": depth, "exponent": a, "accuracy": [0.5 + gain]}
        for task, form, _ in phases.SIDES.values() for depth in (8, 16) for a, gain in ((0.5, 0.4), (1, 0.1))
    ]  # fmt: skip
    assert phases.side_phases(rows)["side inputs, divided"] == pytest.approx({0.5: 1.0, 1.0: 0.25})


def test_all_recurrent_rows_have_one_half_and_one():
    rows = phases.recurrent_phases(stored("recurrent_memory"))
    assert list(rows) == list(phases.MATRICES) and all({0.5, 1.0} <= set(row) for row in rows.values())
    assert all(max(row.values()) == 1 and min(row.values()) >= 0 for row in rows.values())


def test_cells_that_were_not_tried_stay_empty(ax):
    image = draw.plot_phases({"a": {0.0: 0.2, 0.5: 1.0}, "b": {0.5: 0.1, 1.0: 1.0}}, ax)
    np.testing.assert_array_equal(np.ma.filled(image.get_array(), np.nan), [[0.2, 1, np.nan], [np.nan, 0.1, 1]])
    assert ax.get_lines()[0].get_xdata().tolist() == [1, 2]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "½", "1"]
