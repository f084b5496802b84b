"""Figures of receptive fields: what is drawn is what was given."""

import numpy as np

from chapters.receptive_field import figures as draw


def test_powers_with_a_guide(ax):
    draw.plot_powers({"a": ([8, 16, 32], [1.0, 2.0, 4.0])}, ax, [("√L", 0.5, 3.0)], ylabel="size", plain=True)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [1, 2, 4])
    np.testing.assert_allclose(ax.lines[1].get_ydata(), 3 * np.sqrt([1, 2, 4]))
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert ax.xaxis.get_major_formatter()(4096) == "4,096" and ax.yaxis.get_major_formatter()(0.05) == "0.05"


def test_measured_sizes_beside_expected_ones(ax):
    points = {"relu": ([8, 16], np.array([1.5, 2.0]), np.array([0.1, 0.2]))}
    draw.plot_intervals(points, {"relu": [1.6, 2.2]}, ax)
    drawn = [line.get_ydata().tolist() for line in ax.lines]
    assert [1.5, 2.0] in drawn and [1.6, 2.2] in drawn
    assert ax.lines[-1].get_color() == ax.lines[0].get_color()


def test_shapes_beside_a_gaussian(ax):
    draw.plot_shapes({"a": (np.array([-7.0, 0.0, 1.0]), np.array([0.1, 0.4, 0.2]))}, ax)
    assert ax.lines[0].get_ydata().max() == 1 / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(ax.lines[1].get_xdata(), [0, 1])
