"""Figures of mimicry."""

import numpy as np

from chapters.mimicry import study as draw


def test_arms_have_a_dot_per_seed_and_a_mean(ax):
    draw.plot_arms({"a": np.array([1.0, 3.0])}, ax, "x")
    assert ax.lines[0].get_xdata().tolist() == [1, 3] and ax.lines[1].get_xdata().tolist() == [2, 2]


def test_regions_are_lines_over_kinds(ax):
    draw.plot_regions({"a": [1.0, 3.0], "b": [2.0, 2.0]}, ax)
    assert [line.get_ydata().tolist() for line in ax.lines] == [[1, 2], [3, 2], [2, 2]]
