"""The figures of the chapters on dilated blocks and on redundancy draw what they are given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from chapters.dilated_blocks import figures as dilated
from chapters.layer_redundancy import figures as redundancy


@pytest.fixture
def ax():
    figure, ax = plt.subplots(layout="constrained")
    yield ax
    figure.canvas.draw()  # nothing may fail as late as here
    plt.close(figure)


def test_losses_are_drawn_on_the_floor_and_the_unsolvable_part_is_shaded(ax):
    weights, losses = np.array([0.0, 1.0, 2.0]), np.array([1e-3, 1e-34, 0.0])
    fine = np.linspace(0, 2, 21)
    redundancy.plot_loss_against_weight(weights, losses, fine, fine < 0.5, ax)
    assert ax.get_lines()[0].get_ydata().tolist() == [1e-3, redundancy.FLOOR, redundancy.FLOOR]
    shaded = ax.collections[0].get_paths()[0].vertices[:, 0]
    assert shaded.min() == 0 and 0.4 <= shaded.max() <= 0.6


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


def test_the_square_ends_where_the_shade_begins(ax):
    assert redundancy.plot_square(ax) is ax
    assert ax.get_lines()[0].get_xdata().max() == pytest.approx(1.0)
    assert ax.patches[0].get_x() == 1.0
