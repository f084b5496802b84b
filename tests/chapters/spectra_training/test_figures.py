"""Figures of many networks: what is drawn is what was given."""

import numpy as np
import pandas as pd

from capcore.plotting import MARKERS
from chapters.spectra_training import figures as draw
from chapters.spectra_training.study import Estimate


def test_every_network_has_a_symbol(ax):
    table = pd.DataFrame({"noise": [0.0, 0.3, 0.3], "test": [0.9, 0.8, 0.7], "alpha": [1.0, 2.0, 3.0]})
    draw.plot_accuracy(table, "alpha", ax, "α")
    drawn = {line.get_label(): list(line.get_ydata()) for line in ax.lines}
    assert drawn == {"0 % wrong labels": [90.0], "30 % wrong labels": [80.0, 70.0]}


def test_estimates_have_their_intervals_from_the_top(ax):
    estimate = Estimate(0.2, np.linspace(0, 1, 41))
    rows = {"first": {"a": estimate, "b": estimate}, "second": {"a": Estimate(-0.4, np.zeros(3)), "b": estimate}}
    draw.plot_estimates(rows, {"a": "group a", "b": "group b"}, ax)
    points = {line.get_label(): list(line.get_xdata()) for line in ax.lines}
    assert points["group a"] == [0.2, -0.4] and points["group b"] == [0.2, 0.2]
    np.testing.assert_allclose(ax.collections[1].get_segments()[0][:, 0], [0.025, 0.975])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["first", "second"] and ax.yaxis_inverted()


def test_sources_have_filled_and_hollow_marks_and_gaps(ax):
    rows = {"a": ((0.5, 0.4, 0.6), (0.1, -0.1, 0.2)), "b": (None, (0.2, 0.1, 0.3)), "c": ((-0.9, -1.0, -0.8), None)}
    draw.plot_sources(rows, ("alone", "fixed"), ax, hollow=2)
    alone, fixed = (line for line in ax.get_lines() if line.get_label() in ("alone", "fixed"))
    assert alone.get_xdata().tolist() == [0.5, -0.9] and fixed.get_xdata().tolist() == [0.1, 0.2]
    assert [round(place) for place in alone.get_ydata()] == [0, 2] and fixed.get_markerfacecolor() == "white"
    assert (alone.get_marker(), fixed.get_marker()) == (MARKERS[0], MARKERS[2])
