"""Profiles over lags."""

import numpy as np

from chapters.shared.lag_figures import LAG_AXIS, plot_over_lags


def test_the_most_recent_input_stands_at_the_right(ax):
    assert plot_over_lags({"a": np.array([4.0, 2.0]), "b": np.array([4.0, 3.0])}, ax, 4) is ax
    assert [line.get_ydata()[0] for line in ax.get_lines()] == [4, 4, 4] and ax.xaxis_inverted()
    assert ax.get_xlabel() == LAG_AXIS
    plot_over_lags({"c": np.array([1.0, 0.5])}, ax, None)
    assert len(ax.get_lines()) == 4 and ax.xaxis_inverted(), "also on a shared axis"
