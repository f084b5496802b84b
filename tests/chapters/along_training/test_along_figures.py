"""Figures of many measures: what is drawn is what was given."""

import numpy as np

from chapters.along_training import figures as draw
from chapters.along_training import study


def test_ratios(ax):
    groups = {
        "at the end": {"a": (2.0, 1.0, 4.0), "b": (0.5, 0.4, 0.6)},
        "at equal training loss": {"b": (1, 0.9, 1.1)},
    }
    draw.plot_ratios(groups, {"a": "first", "b": "second"}, ax, "ratio", [0.5, 1, 2])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["first", "second"]
    assert ax.get_xscale() == "log" and ax.get_ylim()[0] > ax.get_ylim()[1]
    marks = [container[0] for container in ax.containers]
    np.testing.assert_allclose(marks[0].get_xdata(), [2, 0.5])
    np.testing.assert_allclose(marks[1].get_ydata(), [1.11])
    assert [entry.get_text() for entry in ax.get_legend().get_texts()] == list(groups)


def test_against_loss(ax):
    table = {"loss": np.array([[1.0, 4.0], [0.1, 0.1]]), "a": np.array([[1.0, 9.0], [5.0, 5.0]])}
    draw.plot_against_loss({"right": table, "shuffled": table}, "a", ax, "a")
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[2, 3], [0.1, 5]])
    assert ax.xaxis_inverted() and ax.lines[2].get_xdata()[0] == ax.lines[1].get_xdata()[-1]
    assert ax.get_legend_handles_labels()[1] == ["true labels", "shuffled labels"]


def test_correlations(ax):
    rho = np.array([[1, 0.9, -0.8], [0.9, 1, 0.1], [-0.8, 0.1, 1]])
    clear = np.array([[0, 1, -1], [1, 0, 0], [-1, 0, 0]])
    image = draw.plot_correlations(rho, clear, ax, [([1, 2], [0])])
    shown = np.ma.filled(image.get_array(), np.nan)
    np.testing.assert_array_equal(shown, [[np.nan] * 3, [0.9, np.nan, np.nan], [-0.8, np.nan, np.nan]])
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), [[1, 2]])  # column and row of the one that is not clear
    (frame,) = ax.patches
    assert frame.get_bbox().bounds == (-0.5, 0.5, 1, 2)


def test_the_plane_has_every_measure_once_and_a_name_for_each_group(ax):
    ratios = {name: (float(i + 1), i + 0.5, i + 2.0) for i, name in enumerate(study.RELU)}
    assert sorted(name for group in study.PLANE.values() for name in group) == sorted(study.RELU)
    draw.plot_plane(ratios, ratios, study.PLANE, ax)
    marks = [tuple(at) for container in ax.containers for at in container.lines[0].get_xydata().tolist()]
    assert sorted(marks) == [(i + 1.0, i + 1.0) for i in range(len(study.RELU))]
    assert {text.get_text() for text in ax.texts} >= set(study.PLANE)
