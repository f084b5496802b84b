"""Figures of many measures: what is drawn is what was given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from capcore.plotting import along_training as draw


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
    draw.plot_agreement(rho, clear, beyond, ["a", "b", "c"], ax)
    assert len(ax.collections) == 3 and len(ax.patches) == 1  # pairs, and one square
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "c"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]
