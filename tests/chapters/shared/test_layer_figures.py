"""The figures of the chapter on layers draw what they are given, and return their axis."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from chapters.shared import layer_figures as draw

NAMES = ("layer 1", "layer 2", "layer 3")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("from_top", [False, True])
def test_a_chain_is_stacked_in_its_order_and_ends_at_the_sum(ax, rng, from_top):
    profiles = (1 + rng.random((3, 12))) / 6
    profiles[2] = 0
    assert draw.plot_chain(profiles, NAMES, ax, from_top) is ax
    areas = [patch for patch in ax.patches if patch.get_fill()]
    order = [2, 1, 0] if from_top else [0, 1, 2]
    assert [area.get_label() for area in areas] == [f"{NAMES[l]}: +{profiles[l].sum():.0f}" for l in order]
    for area, l in zip(areas, order, strict=True):
        assert area.get_data().values - area.get_data().baseline == pytest.approx(profiles[l])
    assert ax.patches[-1].get_data().values == pytest.approx(profiles.sum(axis=0))
    assert [text.get_text() for text in ax.texts] == [str(l + 1) for l in order if profiles[l].any()]
    left, right = ax.get_xlim()
    assert left > right, "the most recent lag stands at the right"


def test_every_layer_has_a_row_the_first_at_the_bottom(rng):
    alone, added = rng.random((2, 3, 12))
    figure, axes = plt.subplots(3, 1)
    assert draw.plot_layer_rows(alone, added, NAMES, axes) is axes
    for l, ax in enumerate(axes[::-1]):
        assert ax.get_ylabel() == NAMES[l]
        assert [area.get_data().values.tolist() for area in ax.patches] == [alone[l].tolist(), added[l].tolist()]
    assert len({ax.patches[0].get_facecolor() for ax in axes}) == 3
    figure.canvas.draw()
    plt.close(figure)


def test_the_plane(ax):
    draw.plot_lines_in_plane({"a": 0, "b": 45, "c": 135}, ax)
    x, y = ax.get_lines()[1].get_data()
    assert y == pytest.approx(x) and ax.get_aspect() == 1


def test_directions(ax):
    angles = np.linspace(0, 180, 19)
    capacities = {"independent": np.cos(np.radians(angles)) ** 2, "marginal": np.sin(np.radians(angles)) ** 2}
    draw.plot_direction_capacities(angles, capacities, {"mark": 90.0}, ax)
    assert labels(ax) == ["independent", "marginal", "marginal is larger"]
