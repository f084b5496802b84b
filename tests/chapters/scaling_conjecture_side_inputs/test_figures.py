"""Figures of side inputs: what is drawn is what was given."""

import numpy as np
import pytest

from chapters.scaling_conjecture_side_inputs import figures as draw
from chapters.shared.scale_exponents import look


def test_laws_are_lines_and_measurements_points_of_one_colour(ax):
    draw.plot_shares({"a": ([8, 16], [0.5, 0.25], [0.1, 0.1])}, {"a": [0.5, 0.3]}, {"a": look(0.5)}, ax)
    law, points, *_ = ax.lines
    np.testing.assert_allclose(law.get_ydata(orig=False), [0.5, 0.3])
    np.testing.assert_allclose(points.get_ydata(orig=False), [0.5, 0.25])
    assert law.get_color() == points.get_color() and ax.get_yscale() == "logit"
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["8", "16"]


def test_intervals_stay_between_zero_and_one(ax):
    draw.plot_shares({"a": ([8], [0.7], [0.9])}, {"a": [0.5]}, {"a": look(1)}, ax)
    (bar,) = ax.containers[0].lines[2]
    low, high = bar.get_segments()[0][:, 1]
    assert 0 < low < 0.7 < high < 1


def test_accuracies_look_alike_in_all_panels(ax):
    draw.plot_accuracies({"b": ([8, 64], [0.5, 0.9], [0.1, 0.1])}, 0.5, {"a": {}, "b": look(1)}, ax)
    assert ax.lines[0].get_color() == look(1)["color"] and ax.lines[0].get_marker() == look(1)["marker"]
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [8, 64])
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), 0.5)


def test_an_unknown_label_is_refused(ax):
    with pytest.raises(KeyError, match="c"):
        draw.plot_accuracies({"c": ([8], [0.5], [0.1])}, 0.5, {"a": look(1)}, ax)
