"""The figures draw what they are given, and return their axis."""

import numpy as np
import pytest

from chapters.trained_capacity import figures as draw


def test_groups(ax):
    values = np.stack([np.arange(8.0), np.arange(8.0) + 1])
    assert draw.plot_groups({"true": values, "shuffled": values + 1}, ax) is ax
    first, second = ax.containers
    assert np.array_equal(first[0].get_ydata(), values.mean(axis=0)) and second.get_label() == "shuffled"


def test_predictors(ax):
    found = {name: np.array([0.5, 0.3, 0.7]) for name in ("a", "b", "c")} | {"chance": np.array([0.2])}
    assert draw.plot_predictors(found, {"a": "first", "b": "second", "c": "third"}, ax) is ax
    assert [label.get_text() for label in ax.get_yticklabels()] == ["first", "second", "third"]
    assert ax.get_lines()[0].get_xdata() == pytest.approx([0.3, 0.7])
    assert {line.get_marker() for line in ax.get_lines()} >= {"o", "s"}
