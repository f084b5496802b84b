"""Figures of residual scales: what is drawn is what was given."""

import numpy as np
import pytest

from chapters.scaling_conjecture import figures as draw
from chapters.scaling_conjecture.study import Curve


def test_a_line_for_every_exponent_with_its_law(ax):
    values = np.array([[1.0, 2.0, 4.0], [1.0, 1.0, 1.0]])
    draw.plot_against_depth([8, 16, 32], [0.25, 0.4], values, ax, law=values + 1, limits=(0.5, 10))
    drawn = [line.get_ydata().tolist() for line in ax.lines]
    assert drawn == [values[0].tolist(), [2.0, 3.0, 5.0], values[1].tolist(), [2.0, 2.0, 2.0]]
    assert ax.get_legend_handles_labels()[1] == ["a = ¼", "a = 0.4"] and ax.get_ylim() == (0.5, 10)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["8", "16", "32"]


def test_long_lists_of_depths_get_few_ticks(ax):
    depths = [2**k for k in range(3, 10)]
    draw.plot_limits(depths, {"x": np.ones(7)}, ax, limit=1.5)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["8", "32", "128", "512"]
    assert ax.lines[-1].get_ydata() == [1.5, 1.5]


def test_bands_lie_around_their_means(ax):
    angles = np.linspace(0, 1, 5)
    draw.plot_correlation(angles, [0.5], [(angles, angles - 0.1, angles + 0.2)], ax, [1 - angles])
    low, high = ax.collections[0].get_datalim(ax.transData).intervaly
    assert (low, high) == pytest.approx((-0.1, 1.2))
    np.testing.assert_allclose(ax.lines[1].get_ydata(), 1 - angles)


def test_a_collapse_has_every_depth_and_exponent(ax):
    times = np.array([[1.0, 2.0], [3.0, 4.0]])
    law = np.array([[1.0, 4.0], [0.9, 0.1]])
    draw.plot_collapse(times, [0.0, 1.0], {"tanh": times / 5}, ax, law)
    assert ax.lines[0].get_xydata().tolist() == [[1, 0.2], [2, 0.4], [3, 0.6], [4, 0.8]]
    assert ax.lines[1].get_ydata().tolist() == [0.9, 0.1]


def test_losses_with_intervals_the_floor_and_what_diverged(ax):
    curve = Curve(
        np.array([0.0, 0.5, 1.0]), *(np.array(x) for x in ([np.inf, 1e-5, 0.5], [np.nan, 1e-6, 0.4], [np.nan, 1e-4, 9]))
    )
    draw.plot_losses({"L = 8": curve}, ax, 1.0, "loss", floor=1e-3)
    line, crosses, guess = ax.lines
    np.testing.assert_allclose(line.get_ydata(), [np.nan, 1e-3, 0.5])
    assert crosses.get_xdata().tolist() == [0.0] and guess.get_ydata() == [1.0, 1.0]
    segments = [segment[:, 1].tolist() for segment in ax.collections[0].get_segments() if len(segment)]
    assert [0.4, 4.0] in segments
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "½", "1"]
