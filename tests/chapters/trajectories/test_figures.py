"""Figures of linear regions and trajectories: what is drawn is what was handed over."""

import numpy as np

from chapters.linear_regions.figures import plot_counts, plot_partition, plot_training
from chapters.shared.complexity import Network, partition_slice
from chapters.trajectories.figures import plot_by_layer


def test_every_polygon_is_drawn_in_the_shade_of_its_class(ax):
    square = [[-1, -1], [1, -1], [1, 1], [-1, 1]]
    network = Network([np.eye(2), [[1.0, -1.0], [0.0, 0.5]]], [[0.0, 0.0], [0.0, 0.2]])
    found = partition_slice(network, [0, 0], [1, 0], [0, 1], square)
    plot_partition(found, ax, {"a": np.array([0.5, 0.5])})
    cells = ax.collections[0]
    assert len(cells.get_paths()) == found.n_patterns == 4
    assert len({tuple(colour) for colour in cells.get_facecolor()}) == 2
    assert sorted(text.get_text() for text in ax.texts) == ["0", "1", "a"] and ax.get_xlim() == (-1, 1)
    for text in (text for text in ax.texts if text.get_text() != "a"):
        assert network([text.get_position()]).argmax() == int(text.get_text())
        assert np.linalg.norm(np.array(text.get_position()) - 0.5) > 0.24  # clear of the named point


def test_counts_are_means_with_their_errors_and_small_numbers_are_fractions(ax):
    values = np.array([[1.0, 3.0], [4.0, 8.0]])
    plot_counts([0.25, 4], {"counted": values}, ax, "length", "breakpoints", {"law": ([0.25, 4], [2, 6])}, joined=False)
    assert ax.containers[0].lines[0].get_ydata().tolist() == [2, 6]
    assert ax.containers[0].lines[0].get_linestyle() == "None"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1/4", "4"]
    assert ax.get_legend_handles_labels()[1] == ["law", "counted"]


def test_a_second_call_goes_on_with_the_next_marker(ax):
    for i in range(2):
        plot_counts([1, 2], {f"{i}": np.ones((2, 3))}, ax, "x", "y", start=i)
    first, second = (container.lines[0] for container in ax.containers)
    assert first.get_marker() != second.get_marker() and first.get_color() != second.get_color()


def test_epochs_are_named(ax):
    plot_training([0, 10], {"right": (np.array([1.0, 2.0]), np.array([0.1, 0.2]))}, ax, "breakpoints")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "10"] and ax.get_ylim()[0] == 0


def test_layers_with_laws_are_points_and_without_are_joined(ax):
    values = np.array([[1.0, 2.0, 4.0], [1.0, 4.0, 8.0]])
    plot_by_layer({"a": values, "b": values[:, :2]}, ax, {"a": np.ones(3)}, {"a": np.full(3, 2.0)})
    styles = [container.lines[0].get_linestyle() for container in ax.containers]
    assert styles == ["None", "--"] and ax.get_xticks().tolist() == [1, 2, 3]
    assert set(ax.get_legend_handles_labels()[1]) == {"a", "b", "exact law", "bound with constant 1"}
