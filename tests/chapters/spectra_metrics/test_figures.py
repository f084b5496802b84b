"""Figures of α̂ and of Eq. 6."""

import numpy as np

from chapters.spectra_metrics import figures as draw


def test_units_are_lines_over_networks(ax):
    draw.plot_by_unit({"a": np.array([1.0, 2.0]), "b": np.array([3.0, -4.0])}, ["x", "y"], ax, "sum")
    assert [line.get_label() for line in ax.lines[1:]] == ["a", "b"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x", "y"]
    assert ax.lines[2].get_ydata().tolist() == [3.0, -4.0]


def test_a_law_is_drawn_where_there_is_one(ax):
    factors = np.array([0.1, 1.0, 10.0])
    draw.plot_rescaled(factors, factors, None, ax, "y")
    assert len(ax.lines) == 2
    draw.plot_rescaled(factors, factors, 2 * factors, ax, "y")
    assert "law" in [line.get_label() for line in ax.lines] and ax.get_xscale() == "log"


def test_ratios_have_means_and_the_line_of_equality(ax):
    alphas, ratios = np.array([[1.0, 2.0]]), np.array([[3.0, 5.0]])
    draw.plot_ratio({"g": (alphas, ratios)}, {"c": (np.array([1.0, 2.0]), np.array([1.0, 2.0]))}, ax)
    assert ax.containers[0][0].get_xydata().tolist() == [[1.5, 4.0]]
    assert {"c", "ratio = α"} <= {line.get_label() for line in ax.lines}
