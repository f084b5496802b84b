"""The figures of the chapter on one's own model draw what they are given, and return their axis."""

import numpy as np
import pytest

from chapters.your_own_model import figures as draw


def test_the_band_is_the_central_eighty_per_cent(ax):
    draws = np.linspace(0, 1, 101)[:, None] * np.ones(8)
    estimate, other = np.full(8, 0.4), np.full(8, 0.7)
    assert draw.plot_with_uncertainty(estimate, draws, {"power law": other}, ax, "series", "capacity", 1.0) is ax
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((0.1, 0.9))
    lines = ax.get_lines()
    assert np.array_equal(lines[0].get_ydata(), estimate) and np.array_equal(lines[1].get_ydata(), other)
    left, right = ax.get_xlim()
    assert left > right, "the most recent lag stands at the right"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "series, 80 % of bootstrap",
        "series",
        "power law",
    ]


def test_singular_values_stand_beside_the_tolerance(ax):
    values = np.array([1.0, 1e-8, 0.0])
    assert draw.plot_singular_values(values, 1e-14, 2, ax) is ax
    points, tolerance, exact = ax.get_lines()
    assert points.get_ydata()[:2] == pytest.approx(values[:2]) and points.get_ydata()[2] > 0
    assert tolerance.get_ydata()[0] == 1e-14 and exact.get_xdata()[0] == 2.5


def test_a_series_is_drawn_as_it_is(ax, rng):
    values = rng.normal(size=50)
    assert draw.plot_series(values, ax, "log volume") is ax
    assert np.array_equal(ax.get_lines()[0].get_ydata(), values)
    assert "samples" in ax.get_xlabel()
