"""Figures of capacity and expressivity."""

from chapters.capacity_vs_expressivity import figures as draw
from chapters.capacity_vs_expressivity.study import MemorisationCurve


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


def test_shares_are_marks(ax):
    draw.plot_shares({"linear": (0.2, 0.5), "narrow": (0.5, 0.9)}, ax)
    assert [line.get_ydata().tolist() for line in ax.lines[:2]] == [[0.5], [0.9]]
