"""The figures of the chapter on several components draw what they are given, and return their axis."""

import numpy as np
import pytest

from chapters.multidimensional import figures as draw


def test_lines_by_size_can_be_told_apart_without_colour(ax):
    groups = {"d = 1": ([12, 40], [5.0, 7.0]), "d = 16": ([42, 100], [16.0, 40.0])}
    assert draw.plot_by_size(groups, ax, "capacity", (8.0, "ceiling")) is ax
    first, second, ceiling = ax.get_lines()
    assert first.get_xdata().tolist() == [12, 40] and second.get_ydata().tolist() == [16.0, 40.0]
    assert (first.get_marker(), first.get_linestyle()) != (second.get_marker(), second.get_linestyle())
    assert ceiling.get_ydata()[0] == 8.0 and [text.get_text() for text in ax.texts] == ["ceiling"]
    assert ax.get_xscale() == "log"


def test_every_dimension_is_named(ax):
    draw.plot_against_dimension([1, 4, 16], {"a": [0.1, 0.2, 0.3]}, ax, "y")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "4", "16"]
    assert ax.get_lines()[0].get_ydata().tolist() == [0.1, 0.2, 0.3]


def test_a_collapse_stacks_what_is_across_on_what_is_alone(ax, rng):
    alone, across = rng.random(8), rng.random(8)
    draw.plot_collapse(alone, across, alone + across, ax)
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in ax.collections]
    assert tops == pytest.approx([alone.max(), (alone + across).max()])
    assert ax.get_lines()[0].get_ydata() == pytest.approx(alone + across)
    left, right = ax.get_xlim()
    assert left > right, "the most recent lag stands at the right"


def test_bars_carry_their_numbers(ax):
    draw.plot_component_bars({"a": np.array([20.0, 4.0]), "b": np.array([10.25, 9.75])}, ax, "capacity")
    assert [text.get_text() for text in ax.texts] == ["20.0", "4.0", "10.2", "9.8"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2"]
    assert len({(bars[0].get_facecolor(), bars[0].get_hatch()) for bars in ax.containers}) == 2
