"""Figures of capacity and expressivity, and of mimicry."""

import numpy as np

from chapters.capacity_vs_expressivity import figures as draw
from chapters.capacity_vs_expressivity.memorisation import MemorisationCurve
from chapters.mimicry import figures as mimicry


def test_memorisation_has_medians_and_bands(ax):
    draw.plot_memorisation({"narrow": MemorisationCurve([8, 16], [[1.0, 0.8, 1.0], [0.5, 0.6, 0.7]])}, ax)
    assert ax.lines[0].get_ydata().tolist() == [1.0, 0.6] and len(ax.collections) == 1
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["8", "16"]


def test_a_model_looks_the_same_in_all_figures(ax):
    draw.plot_ranks([2, 4], {"linear": [3, 3], "invariant": [2, 4]}, ax)
    draw.plot_against_kappa({"linear": (13.0, 16.0), "a model of mine": (20.0, 20.0)}, ax)
    linear = [line for line in ax.lines if line.get_label() == "linear"]
    assert len(linear) == 2 and len({(line.get_color(), line.get_marker()) for line in linear}) == 1


def test_targets_are_marks_in_rows(ax):
    draw.plot_accuracies({"a": {"t": (0.6, 0.5, 0.7)}, "b": {"t": (0.9, 0.8, 1.0)}}, ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b"]
    assert ax.containers[0][0].get_xdata().tolist() == [0.6, 0.9]


def test_arms_have_a_dot_per_seed_and_a_mean(ax):
    mimicry.plot_arms({"a": np.array([1.0, 3.0])}, ax, "x")
    assert ax.lines[0].get_xdata().tolist() == [1, 3] and ax.lines[1].get_xdata().tolist() == [2, 2]


def test_intervals_without_zero_are_diamonds(ax):
    mimicry.plot_differences({"a": (0.0, -0.01, 0.01), "b": (0.02, 0.01, 0.03)}, ax, 0.01)
    assert [line.get_marker() for line in ax.lines[1:4:2]] == ["o", "D"]


def test_regions_are_lines_over_kinds(ax):
    mimicry.plot_regions({"a": [1.0, 3.0], "b": [2.0, 2.0]}, ax)
    assert [line.get_ydata().tolist() for line in ax.lines] == [[1, 2], [3, 2], [2, 2]]


def test_shares_are_marks(ax):
    draw.plot_shares({"linear": (0.2, 0.5), "narrow": (0.5, 0.9)}, ax)
    assert [line.get_ydata().tolist() for line in ax.lines[:2]] == [[0.5], [0.9]]
