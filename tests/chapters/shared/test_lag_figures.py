"""Curves over the inputs: every value, no markers, the most recent input at the right."""

import numpy as np
import pytest

from chapters.shared.lag_figures import LAG_AXIS, plot_over_lags


def test_lines_have_all_values_and_no_markers_and_now_is_at_the_right(ax):
    lines = {"a": np.array([0.9, 0.4, 0.1]), "b": np.array([0.2, 0.2, 0.3])}
    assert plot_over_lags(lines, ax, looks={"b": {"color": "C3"}}) is ax
    first, second, ceiling = ax.get_lines()
    assert first.get_ydata() == pytest.approx(lines["a"]) and first.get_marker() == "None"
    assert second.get_color() == "C3" and ceiling.get_ydata()[0] == 1.0
    left, right = ax.get_xlim()
    assert left > right and ax.get_xlabel() == LAG_AXIS


def test_a_second_call_turns_no_axis_back(ax):
    for _ in range(2):
        plot_over_lags({"a": np.ones(3)}, ax, ceiling=None)
    assert ax.xaxis_inverted() and len(ax.get_lines()) == 2
