"""Figures of octaves and of a plane: what is drawn is what was given."""

import numpy as np

from chapters.scaling_pdes_architectures import figures as draw


def test_octaves_of_distance_alone_and_summed(ax):
    values = np.array([0.25, 0.25, 0.5])
    draw.plot_octaves_of_distance({"a": values}, ax, True, np.array([0.2, 1.0]))
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [0, 1])
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [0.25, 0.5, 1])
    draw.plot_octaves_of_distance({"a": values}, ax)
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), values)
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), [0, 0.5, 1])


def test_a_plane_shows_the_middle(ax):
    capacity = np.zeros((9, 9))
    capacity[4, 5] = 1
    axis = np.linspace(-2, 2, 9)
    draw.plot_plane(capacity, axis, np.exp(-np.add.outer(axis**2, axis**2)), ax)
    image = ax.images[0].get_array()
    assert image.shape == (5, 5) and image[3, 2] == 1  # the second axis is drawn upwards
