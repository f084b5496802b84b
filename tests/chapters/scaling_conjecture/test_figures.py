"""Reading the stored runs of residual networks, and their figures: what is drawn is what was given."""

import numpy as np
import pytest

from chapters.kit.stored import stored
from chapters.scaling_conjecture import figures as draw
from chapters.scaling_conjecture.figures import Curve
from chapters.scaling_conjecture.signals import LAG, Untrained, shattering_law


@pytest.fixture(scope="module")
def free():
    return Untrained.of(stored("residual_signals"))


def test_curves_take_medians_and_keep_what_diverged():
    found = draw.curve({"0.0": {"best": [None, None, 1.0]}, "0.5": {"best": [0.1, 0.2, 0.4]}})
    assert found.median.tolist() == [np.inf, 0.2]
    assert np.isnan(found.low[0]) and found.low[1] < 0.2 < found.high[1]
    assert found.learns(0.2) == [0.5] and found.learns(0.1) == []


def test_intervals_cover_the_mean_of_the_logarithm():
    draws = np.exp(np.random.default_rng(0).standard_normal((2000, 3)))
    inside = [low < 1 < high for low, high in map(draw.interval, draws)]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)  # four standard errors


def test_ratios_have_a_floor():
    assert draw.floored_ratio(0.01, 0.05, 0.1) == 1
    assert draw.floored_ratio(0.2, 0.01, 0.1) == 2
    assert draw.floored_ratio(np.inf, 1.0, 0.1) == np.inf


def test_windows_are_listed_in_words():
    arms = {"0.25": {"best": [1.0, 1.0]}, "0.5": {"best": [0.1, 0.1]}, "1.0": {"best": [0.2, 0.2]}}
    table = draw.windows({"digits": {"relu": {"8": arms, "64": {"0.0": {"best": [3.0, 3.0]}}}}}, {"digits": 0.5})
    assert table.loc[("digits", "relu")].tolist() == ["½, 1", "none"]


def test_both_sides_of_the_window_are_drawn(ax):
    exponents, agreement, carried = np.array([[0.0, 0.25, 0.5, 1.0], [0.1, 0.2, 0.9, 1.0], [0.0, 1.0, 1.0, 0.1]])
    draw.plot_window(exponents, agreement, carried, ax)
    assert [line.get_ydata().tolist() for line in ax.lines[1:]] == [agreement.tolist(), carried.tolist()]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "¼", "½", "1"]


def test_sizes_lie_on_their_expectation(free, ax):
    draw.plot_sizes(free, ax)
    assert ax.get_legend_handles_labels()[1] == ["a = 0", "a = ¼", "a = ½", "a = ¾", "a = 1"]
    law, found = ax.lines[4:6]  # at one half
    assert found.get_ydata() == pytest.approx(np.interp(free.depths, *law.get_data()), rel=0.1)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["8", "32", "128", "512"]


def test_limits_are_the_stored_states(free, ax):
    draw.plot_limits(free, ax)
    drawn = dict(zip(ax.get_legend_handles_labels()[1], ax.lines, strict=True))
    assert drawn["shared weights, a = 1"].get_ydata().tolist() == free.shared[1.0]["forward"][0].tolist()
    assert drawn["single ReLUs, a = ½"].get_ydata().tolist() == free.sizes["relu"]["forward"][2].tolist()


def test_bands_lie_around_their_means(free, ax):
    draw.plot_correlation(free, ax)
    mean, law = ax.lines[4:6]
    assert mean.get_ydata() == pytest.approx(free.arc[2].mean(axis=0))
    assert law.get_ydata() == pytest.approx(shattering_law(512 / 513, free.angles))
    low, high = ax.collections[2].get_datalim(ax.transData).intervaly
    assert low < mean.get_ydata().min() and high >= 1


def test_a_collapse_has_every_depth_and_exponent(free, ax):
    draw.plot_collapse(free, 0.5, ax)
    assert ax.lines[0].get_xydata().tolist() == [
        [t, c] for t, c in zip(free.times.ravel(), free.half_radian["two-layer"].ravel(), strict=True)
    ]
    assert free.arc[:, :, LAG // 4].mean(axis=1) == pytest.approx(free.half_radian["two-layer"][:, -1], abs=1e-6)


def test_losses_with_intervals_the_floor_and_what_diverged(ax):
    curve = Curve(
        np.array([0.0, 0.5, 1.0]), *(np.array(x) for x in ([np.inf, 1e-5, 0.5], [np.nan, 1e-6, 0.4], [np.nan, 1e-4, 9]))
    )
    draw.plot_losses({"L = 8": curve}, ax, 1.0, floor=1e-3)
    line, crosses, guess = ax.lines
    np.testing.assert_allclose(line.get_ydata(), [np.nan, 1e-3, 0.5])
    assert crosses.get_xdata().tolist() == [0.0] and guess.get_ydata() == [1.0, 1.0]
    segments = [segment[:, 1].tolist() for segment in ax.collections[0].get_segments() if len(segment)]
    assert [0.4, 4.0] in segments
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "½", "1"]
