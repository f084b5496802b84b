"""Figures of networks compared layer by layer."""

import numpy as np

from chapters.spectra_counterexample import figures as draw


def test_missing_layers_are_gaps_with_a_cross(ax):
    networks = {"one": {"a": 1.0, "b": 2.0, "c": 3.0}, "two": {"a": 1.0, "c": 0.0}}
    draw.plot_layer_values(networks, {"a": "A", "b": "B", "c": "C"}, ax, "y")
    curve, cross = ax.lines[2], ax.lines[3]
    assert np.isnan(curve.get_ydata()[1]) and cross.get_xdata().tolist() == [1]
    assert not len(ax.lines[1].get_xdata())
    assert [label.get_text() for label in ax.get_xticklabels()] == ["A", "B", "C"]


def test_choices_are_rows_from_the_top(ax):
    draw.plot_choices({"one": {"p": 1.0, "q": 2.0}, "two": {"p": 3.0, "q": 0.0}}, ax)
    assert ax.lines[0].get_xydata().tolist() == [[1.0, 1.0], [2.0, 0.0]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["p", "q"]
