"""Figures of laws and of distances from them: what is drawn is what was given."""

import numpy as np
import pytest

from chapters.random_signs import figures as distances
from chapters.random_signs import figures as random_signs


def test_the_mean_has_two_errors_on_either_side(ax):
    random_signs.plot_mean_on_law(np.array([1.0, 2.0]), np.array([0.1, 0.2]), np.array([1.0, 1.9]), ax)
    bars = [patch.get_height() for patch in ax.patches]
    assert bars == [1.0, 1.9]
    (container,) = (c for c in ax.containers if hasattr(c, "has_yerr"))
    np.testing.assert_allclose(container[0].get_ydata(), [1, 2])
    ends = np.array(container[2][0].get_segments())[:, :, 1]
    np.testing.assert_allclose(ends, [[0.8, 1.2], [1.6, 2.4]])


def test_values_without_an_error_are_points_alone(ax):
    random_signs.plot_mean_on_law(np.array([1.0, 2.0]), None, np.array([1.0, 1.9]), ax)
    (container,) = (c for c in ax.containers if hasattr(c, "has_yerr"))
    assert not container.has_yerr and ax.get_legend_handles_labels()[1] == ["law W∘W", "squared gradient"]


def test_a_small_network_has_a_line_for_each_weight_and_says_what_arrives(ax):
    turn = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    assert random_signs.plot_small_network([turn, turn.T @ np.array([[1.0], [0.0]])], ax) is ax
    assert [line.get_linewidth() for line in ax.lines] == pytest.approx([4 / np.sqrt(2)] * 6)
    assert len({line.get_color() for line in ax.lines}) == 2  # one weight is negative
    first, second = (text.get_text().splitlines()[1:] for text in ax.texts)
    assert first == ["gradient² 1", "squared weights 0.5"] and second == ["gradient² 0", "squared weights 0.5"]


def test_distances_are_medians_with_ranges(ax):
    values = {"one": np.array([0.1, 0.2]), "many": np.array([[0.1, 0.2, 0.6], [0.0, 0.3, 0.3]])}
    distances.plot_distances([1, 10], values, ax, "setting", (0.05, "limit"), [1, 10])
    lines = {line.get_label(): list(line.get_ydata()) for line in ax.lines}
    assert lines["one"] == [0.1, 0.2] and lines["many"] == [0.2, 0.3] and lines["limit"] == [0.05, 0.05]
    assert len(ax.collections) == 1  # a range for the line that has one
    ax.figure.canvas.draw()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "10"]


def test_the_dashed_line_may_have_a_height_for_every_setting(ax):
    distances.plot_distances([1, 10], {"one": np.array([0.1, 0.2])}, ax, "setting", (np.array([0.05, 0.1]), "limit"))
    dashed = {line.get_label(): line for line in ax.lines}["limit"]
    assert dashed.get_linestyle() == "--"
    assert list(dashed.get_xdata()) == [1, 10] and list(dashed.get_ydata()) == [0.05, 0.1]
