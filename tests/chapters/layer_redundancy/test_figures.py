"""The figures of the chapters on dilated blocks and on redundancy draw what they are given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from chapters.dilated_blocks import figures as dilated
from chapters.layer_redundancy import figures as redundancy

NAMES = ("layer 1", "layer 2", "layer 3")


@pytest.fixture
def ax():
    figure, ax = plt.subplots(layout="constrained")
    yield ax
    figure.canvas.draw()  # nothing may fail as late as here
    plt.close(figure)


def below(ax):
    return [text.get_text() for text in ax.figure.legends[0].get_texts()]


def test_layer_sets_fill_the_members_and_open_what_is_redundant_alone(ax):
    sets = {"a": [("layer 1", "layer 3")], "b": [("layer 1",), ("layer 2",)], "c": [()]}
    single = {"a": ["layer 1", "layer 3"], "b": ["layer 1", "layer 2"], "c": []}
    assert redundancy.plot_layer_sets(sets, single, NAMES, ax) is ax
    filled = [line.get_ydata() for line in ax.get_lines() if line.get_linestyle() == "-" and line.get_marker() == "o"]
    assert [list(y) for y in filled] == [[0, 2], [0], [1], []]
    opened = [line.get_ydata() for line in ax.get_lines() if line.get_markerfacecolor() == "white"]
    assert [list(y) for y in opened] == [[], [1], [0], []]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b", "c"]
    assert len(below(ax)) == 3


def test_losses_are_drawn_on_the_floor_and_the_unsolvable_part_is_shaded(ax):
    weights, losses = np.array([0.0, 1.0, 2.0]), np.array([1e-3, 1e-34, 0.0])
    fine = np.linspace(0, 2, 21)
    redundancy.plot_loss_against_weight(weights, losses, fine, fine < 0.5, ax)
    assert ax.get_lines()[0].get_ydata().tolist() == [1e-3, redundancy.FLOOR, redundancy.FLOOR]
    shaded = ax.collections[0].get_paths()[0].vertices[:, 0]
    assert shaded.min() == 0 and 0.4 <= shaded.max() <= 0.6


def test_excesses_tell_converged_runs_from_others(ax):
    groups = {
        "a": (np.array([1e-12, -1e-9, 3.0]), np.array([True, True, False])),
        "b": (np.array([2.0]), np.array([True])),
    }
    redundancy.plot_excesses(groups, ax)
    shown = [line.get_xdata().tolist() for line in ax.get_lines()[:4]]
    assert shown == [[1e-8, 1e-8], [3.0], [2.0], []]
    assert below(ax) == ["converged", "still descending", "1 %"]


def test_designs_stand_side_by_side(ax):
    redundancy.plot_designs({"u": {"P": 1e-9, "Q": 1e-30}, "g": {"P": 1e-15, "Q": 0.0}}, ax)
    assert ax.get_lines()[0].get_xdata() == pytest.approx([1e-9, 1e-26])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["P", "Q"] and below(ax) == ["u", "g"]


def test_exact_capacities_are_a_table(ax):
    dilated.plot_exact_capacities([1, 2], {"tiled": [3, 5], "repeated": [3, 4]}, 7, ax)
    assert [text.get_text() for text in ax.texts] == ["3", "5", "3", "4"]


def test_rank_decisions_mark_the_exact_rank(ax):
    values = {"a": np.array([2.0, 1.0, 1e-20])}
    dilated.plot_rank_decisions(values, {"a": 1e-15}, {"a": 2}, ax)
    assert ax.get_lines()[0].get_ydata() == pytest.approx([1.0, 0.5, 1e-18])
    assert ax.get_lines()[1].get_xdata()[0] == 2.5 and ax.texts[0].get_text() == "κ = 2"
    assert ax.get_lines()[2].get_ydata()[0] == pytest.approx(5e-16)


@pytest.mark.parametrize("width", [1, 4])
def test_profiles_have_a_running_mean_of_the_same_height(ax, width):
    dilated.plot_dilated_profiles({"a": np.full(20, 0.5)}, ax, width)
    assert ax.get_lines()[-1].get_ydata() == pytest.approx(0.5)
    assert len(ax.get_lines()) == (2 if width > 1 else 1)
    left, right = ax.get_xlim()
    assert left > right, "the most recent lag stands at the right"


def test_courses_run_to_the_right_as_the_loss_falls(ax):
    run = {"loss": [1e-3, 1e-5], "near": [0.7, 0.4]}
    dilated.plot_courses({"tiled": [run, run], "tiled, L-BFGS-B": [run]}, "near", ax, "y", 0.5)
    assert ax.xaxis_inverted() and ax.get_lines()[2].get_linestyle() == ":"
    assert ax.get_lines()[0].get_label() == "tiled"


def test_family_shares(ax):
    dilated.plot_family_shares({"P": {"near": 0.4, "far": 0.1}}, ax)
    assert ax.get_lines()[0].get_xdata() == [0.4] and ax.get_lines()[1].get_xdata() == [0.1]
    assert len(below(ax)) == 2
