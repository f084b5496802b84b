"""Both stacks reach the same inputs, the exact ranks are named, and profiles keep their heights."""

import numpy as np
import pytest

from chapters.dilated_blocks import figures as draw
from chapters.dilated_blocks.experiment import dilation_orders


@pytest.mark.parametrize("order", ["tiled", "repeated"])
def test_a_stack_has_an_edge_for_every_tap_and_reaches_all_inputs(ax, order):
    dilations = dilation_orders(3, 2)[order]
    draw.plot_stack(dilations, ax)
    assert [text.get_text() for text in ax.texts] == [str(step) for step in reversed(dilations)]
    for lines, step in zip(ax.collections, reversed(dilations), strict=True):
        assert {abs(end[0] - start[0]) for start, end in lines.get_segments()} == {0, step}
    assert ax.get_lines()[-2].get_xdata().tolist() == list(range(15))
    left, right = ax.get_xlim()
    assert left > right, "the most recent lag stands at the right"


def test_singular_values_are_relative_and_exact_ranks_are_named(ax):
    values = {"a": np.array([8.0, 4.0, 0.0]), "b": np.array([2.0, 1.0])}
    draw.plot_rank_decisions(values, {"a": 8e-13, "b": 1e-13}, {"a": 2, "b": 1}, ax)
    assert [text.get_text() for text in ax.texts] == ["a, κ = 2", "b, κ = 1", "threshold"]
    assert ax.get_lines()[0].get_ydata() == pytest.approx([1, 0.5, 1e-18])
    assert ax.get_lines()[-1].get_ydata() == pytest.approx([1e-13, 1e-13])


@pytest.mark.parametrize("width", [1, 4])
def test_profiles_have_a_running_mean_of_the_same_height(ax, width):
    draw.plot_dilated_profiles({"a": np.full(20, 0.5)}, ax, width)
    assert ax.get_lines()[-1].get_ydata() == pytest.approx(0.5)
    assert len(ax.get_lines()) == (2 if width > 1 else 1)
    left, right = ax.get_xlim()
    assert left > right, "the most recent lag stands at the right"
