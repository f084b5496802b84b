"""Figures of effective model complexity: what is drawn is what was measured."""

import numpy as np
import pytest

from chapters.double_descent import figures as draw
from chapters.double_descent.effective import complexity_of_errors

FOUND = complexity_of_errors({10: [0.0, 0.0], 20: [0.0, 0.1], 40: [0.3, 0.5]}, epsilon=0.1)
ALL = complexity_of_errors({10: [0.0, 0.0], 20: [0.0, 0.0]}, epsilon=0.1)


@pytest.mark.parametrize("logarithmic", [True, False])
def test_lines_are_means_over_seeds(ax, logarithmic):
    values = np.array([[1.0, 4.0], [2.0, 8.0]])
    draw.plot_errors([1, 2], {"test": values}, ax, "features", [1, 2], logarithmic)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [2.0, 4.0] if logarithmic else [2.5, 5.0])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "2"]


def test_lines_of_another_panel_have_other_colours_and_marks(ax):
    values = np.ones((2, 2))
    draw.plot_errors([1, 2], {"a": values, "b": values}, ax, "features", [1, 2])
    draw.plot_errors([1, 2], {"c": values, "d": values}, ax, "features", [1, 2], first=2)
    assert len({line.get_color() for line in ax.lines}) == len({line.get_marker() for line in ax.lines}) == 4


def test_transitions_that_are_not_reached_are_not_marked(ax):
    draw.mark_transitions({"squared": 200, "zero-one": None}, ax)
    assert len(ax.lines) == 1 and [text.get_text() for text in ax.texts] == ["squared"]


def test_lower_bounds_have_a_triangle(ax):
    draw.plot_by_time([10, 100], {"right": [FOUND, ALL]}, ax)
    (triangle,) = [line for line in ax.lines if line.get_marker() == "^"]
    assert triangle.get_xdata().tolist() == [100] and triangle.get_ydata().tolist() == [25]
