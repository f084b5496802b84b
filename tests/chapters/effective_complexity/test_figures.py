"""Figures of effective complexity: what is drawn is what was given."""

import numpy as np

from chapters.effective_complexity import figures as draw
from chapters.effective_complexity.tangents import tangent_activation


def test_along(ax):
    intervals = {kind: (np.array([1.0, 2.0, 4.0]), np.full(3, 0.5)) for kind in ("right", "shuffled")}
    draw.plot_along([0, 1, 3], intervals, ax, "measure")
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), [1, 2, 4])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1", "3"]
    assert ax.get_legend_handles_labels()[1] == ["true labels", "shuffled labels"]


def test_places(ax):
    values = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    draw.plot_places({"a": values, "b": values}, ["near", "far"], ax, (0.5, 10))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["near", "far"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1] and ax.get_xscale() == "log"


def test_tangents_and_counts(ax):
    draw.plot_tangents(tangent_activation("tanh", 0.1), 0.1, ax)
    knots = ax.get_lines()[2]
    assert len(knots.get_xdata()) == 4
    draw.plot_region_counts(np.arange(1, 4), np.ones(3), np.zeros(3), ax)


def test_shares(ax):
    shares = {"one": {"a": 0.25, "b": 0.75}, "two": {"a": 0.95, "b": 0.05}}
    draw.plot_shares(shares, {"one": "first", "two": "second"}, ax)
    assert [text.get_text() for text in ax.texts] == ["25 %", "95 %", "75 %"]
    assert len(ax.patches) == 4
