"""Figures of recurrent transitions: what is drawn is what was given."""

import matplotlib.pyplot as plt
import numpy as np

from chapters.scaling_conjecture_recurrent import figures as draw
from chapters.scaling_conjecture_recurrent.study import GrowthCurve

CURVE = GrowthCurve((16, 64), (1.0, 20.0), (0.5, 18.0), (1.5, 25.0))


def test_growth_has_its_laws_and_its_draws(ax):
    draw.plot_growth({0.5: ([16, 64, 256], [1.0, 19.0, 100.0]), 1.0: ([16], [0.5])}, {0.5: CURVE}, ax)
    (container,) = ax.containers
    (bars,) = container.lines[2]
    np.testing.assert_allclose([[y for _, y in bar] for bar in bars.get_segments()], [[0.5, 1.5], [18.0, 25.0]])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [1.0, 19.0, 100.0])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["16", "64", "256"]
    assert "mean gain" in ax.get_ylabel() and ax.get_ylim()[1] > 100


def test_panels_that_share_an_axis_show_both():
    figure, axes = plt.subplots(1, 2, sharey=True)
    for ax, top in zip(axes, (300.0, 5.0), strict=True):
        draw.plot_growth({0.5: ([16], [top])}, {}, ax)
    assert axes[0].get_ylim()[1] > 300 > 0 > axes[0].get_ylim()[0]
    plt.close(figure)


def test_memory_is_averaged_over_stretches_of_lags(ax):
    draw.plot_memory({"a": np.arange(8.0)}, ax, np.full(8, 0.125), bins=2)
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[1.5 / 8, 12.0], [5.5 / 8, 44.0]])
    np.testing.assert_allclose(ax.lines[1].get_ydata(), 1.0)
    assert len(draw.plot_memory({"a": np.ones(3)}, ax).lines[2].get_xdata()) == 3
    pair = draw.plot_memory({"a": np.ones(3), "b": np.ones(3)}, ax).lines[-2:]
    assert pair[0].get_marker() != pair[1].get_marker()


def test_adding_has_a_row_per_arm_and_a_marker_per_seed(ax):
    draw.plot_adding({"one a": [0.1, 0.3, 0.2], "fresh b": [1.0]}, {"one a": (0.1, 0.4), "fresh b": (0.5, 2.0)}, ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["fresh b", "one a"]
    np.testing.assert_allclose(ax.lines[1].get_xdata(), [0.1, 0.3, 0.2])
    assert ax.lines[0].get_color() != ax.lines[1].get_color()
