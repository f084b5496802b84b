"""Figures of paper 2's first sections: what is drawn is what was given, and paths are those of the network."""

import numpy as np
import pytest

from chapters.scaling_pdes import figures as draw
from chapters.scaling_pdes.paths import KINDS, example, paths_by_operator


def segments(ax, name):
    return [len(found.get_segments()) for found in ax.collections if found.get_gid() == name]


@pytest.mark.parametrize("kind", KINDS)
def test_every_edge_is_drawn_once_and_paths_in_their_colour(ax, kind):
    network, node = example(kind), (1, 1)
    draw.plot_capacity_paths(network, node, ax, own=None)
    on_path = len(paths_by_operator(network, node))
    assert segments(ax, "paths") == [on_path]
    assert segments(ax, "other") == [len(network.edges()) - on_path]
    leaks = [line for line in ax.lines if line.get_gid() == "leak"]
    nodes = {node for edge in paths_by_operator(network, (1, 1)) for node in edge} - {(1, 1)}
    assert len(leaks) == (len(nodes) if kind == "side" else 0)


def test_the_single_edge_to_the_output_layer_s_own_input_is_blue(ax):
    network = example("plain")
    draw.plot_capacity_paths(network, (1, 1), ax, own=2, times=True)
    assert segments(ax, "own") == [1]
    assert segments(ax, "paths") == [len(paths_by_operator(network, (1, 1))) - 1]
    assert [text.get_text() for text in ax.texts] == ["t = 1", "t = 0.75", "t = 0.5", "t = 0.25", "t = 0"]
    assert ax.get_yticklabels()[0].get_text() == "inputs of layer 1"


def test_two_layers_and_one_position(ax):
    draw.plot_capacity_paths(example("skips", 1, 2), (0, 0), ax, times=True)
    assert segments(ax, "paths") == [2]


def test_laws_are_cut_to_what_is_shown(ax):
    x = np.arange(-5, 6)
    draw.plot_laws({"few": (x, x**2), "many": (x, x)}, {"line": (x, x)}, ax, (-2.5, 2.5))
    assert [len(line.get_xdata()) for line in ax.lines] == [11, 5, 5]
    assert ax.get_xlim() == (-2.5, 2.5)
    assert ax.lines[1].get_linestyle() == "None"


def test_guides_go_through_the_last_point_with_their_slope(ax):
    draw.plot_orders({"a": ([1, 10, 100], [1.0, 0.5, 0.2]), "b": ([1, 100], [1.0, 0.1])}, ax, (-1.0, -0.5))
    first, second = (line.get_ydata() for line in ax.lines[1::2])
    np.testing.assert_allclose(first, [20, 2, 0.2])
    np.testing.assert_allclose(second, [1.0, 0.1])


def test_many_sizes_have_ticks_at_powers_of_ten(ax):
    draw.plot_orders({"a": (np.arange(7, 30), np.ones(23))}, ax)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["10"]


def test_the_ceiling_is_labelled(ax):
    draw.plot_ceiling({"a": ([1, 2, 4], [0.5, 1.0, 2.0])}, ax, 1.0, "most")
    assert ax.get_legend_handles_labels()[1] == ["a", "most"]
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), 1)


def test_walks_start_at_the_output_and_jump_by_one(ax):
    assert draw.plot_walks(2.0, 5, ax) is ax
    apart = [line.get_xdata()[0] for line in ax.lines]
    np.testing.assert_allclose(np.diff(apart), 0.12)
    for line, start in zip(ax.lines, apart, strict=True):
        steps, times = np.diff(line.get_xdata() - start), np.diff(line.get_ydata())
        assert set(np.abs(steps[steps != 0]).round(12)) <= {1.0}
        assert np.all(times >= 0) and np.all((steps == 0) | (times == 0))
        assert line.get_ydata()[[0, -1]].tolist() == [0, 1]
