"""Figures of times: what is drawn is what was given, and faster peers lie to the left of one."""

import numpy as np
import pytest

from chapters.performance import figures as benchmarks


def test_times_are_drawn_as_given_on_powers_of_two(ax):
    benchmarks.plot_times({"dense": ([256, 1024], [0.1, 1.6]), "octaves": ([2**20, 2**30], [0.2, 0.4])}, ax)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.1, 1.6])
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [f"$2^{{{k}}}$" for k in range(5, 31, 5)]


def test_ratios_have_a_row_each_from_the_top(ax):
    benchmarks.plot_ratios({"fits": {"A1 slow peer": 100.0, "A2 fast peer": 0.5}, "ranks": {"B1 peer": 3.0}}, ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["A1 slow peer", "A2 fast peer", "B1 peer"]
    first, second, one = ax.lines
    np.testing.assert_allclose(first.get_xydata(), [[100, 0], [0.5, 1]])
    np.testing.assert_allclose(second.get_xydata(), [[3, 2]])
    np.testing.assert_allclose(one.get_xdata(), 1)
    top, bottom = ax.get_ylim()[::-1]
    assert top < 0 < 2 < bottom


@pytest.mark.parametrize(("value", "text"), [(0.1, "0.1"), (1, "1"), (10_000, "10,000")])
def test_ticks_are_plain_numbers(value, text):
    assert benchmarks.TENS(value, 0) == text
