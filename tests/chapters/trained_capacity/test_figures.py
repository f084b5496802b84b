"""The figures draw what they are given, and return their axis."""

import numpy as np
import pytest

from chapters.trained_capacity import figures as draw


def test_lags(ax):
    lines = {"linear stack": np.array([1.0, 0.5]), "tanh": np.array([0.9, 0.2]), "gated": np.array([0.8, 0.1])}
    assert draw.plot_lags(lines, ax, "capacity") is ax and ax.xaxis_inverted()
    for line, (name, values) in zip(ax.get_lines(), lines.items(), strict=True):
        assert line.get_label() == name and np.array_equal(line.get_ydata(), values)
    assert len({line.get_linestyle() for line in ax.get_lines()}) == 3  # colour is not the only cue


def test_predicted(ax):
    kinds = {"random weights": list(np.linspace(0, 1, 101)), "tanh": [0.9, 0.95], "gated": [0.5]}
    assert draw.plot_agreement({"one": kinds, "two": kinds}, ax) is ax and ax.yaxis_inverted()
    bar, tanh, gated = ax.get_lines()[:3]
    assert bar.get_xdata() == pytest.approx([0.05, 0.95])
    assert np.array_equal(tanh.get_xdata(), [0.9, 0.95]) and np.array_equal(gated.get_xdata(), [0.5])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["one", "two"]
    assert len(ax.get_legend_handles_labels()[1]) == 3


def test_courses(ax):
    courses = {"low": np.array([0.0, 1.0]), "high": np.array([0.0, 0.5])}
    assert draw.plot_courses([1, 10], courses, ax, "capacity") is ax and ax.get_xscale() == "log"
    assert np.array_equal(ax.get_lines()[1].get_ydata(), courses["high"])


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
