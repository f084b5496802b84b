"""Figures of recurrent transitions: what is drawn is what was given."""

import matplotlib.pyplot as plt
import numpy as np

from chapters.scaling_conjecture_recurrent import figures as draw
from chapters.scaling_conjecture_recurrent.memory import forget
from chapters.scaling_conjecture_recurrent.study import GrowthCurve

CURVE = GrowthCurve((16, 64), (1.0, 20.0), (0.5, 18.0), (1.5, 25.0), (0.7, 11.0))


def test_forgetting_is_drawn_by_share_of_the_steps_with_its_half_life(ax):
    found = {"long": forget(16, 0.1), "short": forget(16, 4.0)}
    draw.plot_forgetting(found, ax)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), 16 * found["long"].per_lag)
    assert len(ax.lines) == 3  # the half-life of the first is beyond the steps
    np.testing.assert_allclose(ax.lines[2].get_xydata(), [[found["short"].half_life / 16, 2.0]])


def test_growth_has_its_intervals_and_its_law(ax):
    draw.plot_growth({"a": CURVE}, ax, {"a": ([16, 64, 256], [1.0, 19.0, 100.0])})
    (container,) = ax.containers
    (bars,) = container.lines[2]
    np.testing.assert_allclose([[y for _, y in bar] for bar in bars.get_segments()], [[0.5, 1.5], [18.0, 25.0]])
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), [1.0, 19.0, 100.0])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["16", "64"]
    assert "mean gain" in ax.get_ylabel() and ax.get_ylim()[1] > 100


def test_panels_that_share_an_axis_show_both():
    figure, axes = plt.subplots(1, 2, sharey=True)
    for ax, curve in zip(axes, (GrowthCurve((16,), (300.0,), (300.0,), (300.0,), (1.0,)), CURVE), strict=True):
        draw.plot_growth({"a": curve}, ax)
    assert axes[0].get_ylim()[1] > 300
    draw.plot_growth({"a": GrowthCurve((16,), (700.0,), (700.0,), (700.0,), (1.0,))}, axes[1])
    assert axes[0].get_ylim()[1] > 700 > 0 > axes[0].get_ylim()[0]
    plt.close(figure)


def test_growth_of_the_largest_singular_value(ax):
    draw.plot_growth({"a": CURVE}, ax, norm=True)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), CURVE.log_norm)
    assert "singular" in ax.get_ylabel()


def test_memory_is_averaged_over_stretches_of_lags(ax):
    draw.plot_memory({"a": np.arange(8.0)}, ax, np.full(8, 0.125), bins=2)
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[1.5 / 8, 12.0], [5.5 / 8, 44.0]])
    np.testing.assert_allclose(ax.lines[1].get_ydata(), 1.0)
    assert len(draw.plot_memory({"a": np.ones(3)}, ax).lines[2].get_xdata()) == 3


def test_adding_has_a_row_per_arm_and_a_marker_per_length_and_seed(ax):
    losses = {"first": {16: [0.1, 0.3, 0.2], 64: [1.0, 4.0]}, "second": {16: [1.0], 64: [2.0]}}
    draw.plot_adding(losses, {row: {16: (0.1, 0.2), 64: (0.5, 2.0)} for row in losses}, ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["second", "first"]
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [1.0, 0.1, 0.3, 0.2])
    np.testing.assert_allclose(ax.lines[1].get_xdata(), [2.0, 1.0, 4.0])
    assert [line.get_label() for line in ax.lines[:2]] == ["N = 16", "N = 64"]
    np.testing.assert_allclose([segment[:, 0] for segment in ax.collections[1].get_segments()], [[0.5, 2.0]] * 2)


def test_training_curves_stand_at_the_middles_of_their_stretches(ax):
    draw.plot_training({"a": [1.0, 0.5]}, 100, ax)
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[25.0, 1.0], [75.0, 0.5]])
