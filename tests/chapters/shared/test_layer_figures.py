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


def test_lines_and_bands_show_every_layer(ax, rng):
    profiles = rng.random((3, 12))
    lines = draw.plot_layer_lines(profiles, NAMES, ax).get_lines()
    assert [line.get_label() for line in lines] == list(NAMES)
    assert len({line.get_color() for line in lines}) == 3
    assert lines[1].get_ydata() == pytest.approx(profiles[1])


def test_bands_reach_from_the_lowest_to_the_highest_draw_and_hide_spare_axes(rng):
    draws = rng.random((5, 3, 12))
    figure, axes = plt.subplots(2, 2)
    assert draw.plot_layer_bands(draws, NAMES, axes, draws[0]) is axes
    band = axes.flat[2].collections[0].get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(draws[:, 2].min()) and band.max() == pytest.approx(draws[:, 2].max())
    assert [ax.get_visible() for ax in axes.flat] == [True, True, True, False]
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
