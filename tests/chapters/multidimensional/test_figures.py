"""The figures of the chapter on several components draw what they are given, and return their axis."""

from chapters.multidimensional import figures as draw


def test_lines_by_size_can_be_told_apart_without_colour(ax):
    groups = {"d = 1": ([12, 40], [5.0, 7.0]), "d = 16": ([42, 100], [16.0, 40.0])}
    assert draw.plot_by_size(groups, ax, "capacity") is ax
    first, second = ax.get_lines()
    assert first.get_xdata().tolist() == [12, 40] and second.get_ydata().tolist() == [16.0, 40.0]
    assert (first.get_marker(), first.get_linestyle()) != (second.get_marker(), second.get_linestyle())
    assert ax.get_xscale() == "log"


def test_every_dimension_is_named(ax):
    draw.plot_against_dimension([1, 4, 16], {"a": [0.1, 0.2, 0.3]}, ax, "y")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "4", "16"]
    assert ax.get_lines()[0].get_ydata().tolist() == [0.1, 0.2, 0.3]
