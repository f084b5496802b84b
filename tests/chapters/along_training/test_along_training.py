"""Figures of many measures: what is drawn is what was given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from chapters.along_training import figures as draw


@pytest.fixture
def ax():
    fig, ax = plt.subplots()
    yield ax
    plt.close(fig)


def test_ratios(ax):
    groups = {"one": {"a": (2.0, 1.0, 4.0), "b": (0.5, 0.4, 0.6)}, "two": {"b": (1.0, 0.9, 1.1)}}
    draw.plot_ratios(groups, {"a": "first", "b": "second"}, ax, "ratio", [0.5, 1, 2])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["first", "second"]
    assert ax.get_xscale() == "log" and ax.get_ylim()[0] > ax.get_ylim()[1]
    marks = [container[0] for container in ax.containers]
    np.testing.assert_allclose(marks[0].get_xdata(), [2, 0.5])
    np.testing.assert_allclose(marks[1].get_ydata(), [1.11])
    assert ax.get_legend_handles_labels()[1] == ["one", "two"]


def test_agreement(ax):
    rho = np.array([[1, 0.9, -0.8], [0.9, 1, 0.1], [-0.8, 0.1, 1]])
    clear, beyond = np.array([[0, 1, -1], [1, 0, 0], [-1, 0, 0]]), np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    within, chance = np.full((3, 3), -0.5), np.array([[0, 0.01, 0.2], [0.01, 0, 0.2], [0.2, 0.2, 0]])
    draw.plot_agreement(rho, clear, beyond, within, chance, ["a", "b", "c"], ax)
    assert len(ax.collections) == 6 and len(ax.patches) == 1  # pairs over all and within, and one square
    open_ones = [tuple(c.get_offsets()[0]) for c in ax.collections if not len(c.get_facecolor())]
    assert open_ones == [(1, 0), (0, 2)]  # column and row: negative within the labels, and over all
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]


def test_ceilings(ax):
    draw.plot_ceilings([0, 1], 9.0, [np.array([[4.0, 6.0], [7.0, 7.0]]), np.full((2, 2), 3.0)], ax)
    bound, first, second = ax.lines
    np.testing.assert_array_equal(bound.get_ydata(), [9, 9])
    np.testing.assert_array_equal(first.get_ydata(), [5, 7])
    np.testing.assert_array_equal(second.get_ydata(), [3, 3])
    assert ax.get_legend_handles_labels()[1] == ["ceiling of the parameters", "ceiling on the data"]
