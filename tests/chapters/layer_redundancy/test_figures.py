"""The figures of the chapter on redundancy draw what they are given."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

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
    assert [text.get_text().split() for text in ax.texts] == [["no", "real", "solution"], ["made", "up", "for"]]
    assert shaded.min() == 0 and 0.4 <= shaded.max() <= 0.6


def test_the_square_ends_where_the_shade_begins(ax):
    assert redundancy.plot_square(ax) is ax
    assert ax.get_lines()[0].get_xdata().max() == pytest.approx(1.0)
    assert ax.patches[0].get_x() == 1.0
