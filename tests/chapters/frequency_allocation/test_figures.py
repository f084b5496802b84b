"""The figures of the chapter on frequencies draw what they are given, and return their axis."""

import numpy as np
import pytest

from chapters.frequency_allocation import figures as draw


def test_profiles_stand_over_their_frequencies(ax, rng):
    profiles = {"1 channel": rng.random(17), "2 channels": rng.random(17)}
    assert draw.plot_along_frequencies(profiles, ax) is ax
    first, second, ceiling = ax.get_lines()
    assert first.get_xdata() == pytest.approx(np.fft.rfftfreq(32))
    assert np.array_equal(second.get_ydata(), profiles["2 channels"])
    assert first.get_color() != second.get_color() and ceiling.get_ydata()[0] == 1
    assert "cycles per input" in ax.get_xlabel()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1/8", "1/4", "3/8", "1/2"]


def test_the_band_is_the_central_eighty_per_cent(ax):
    draws = np.linspace(0, 1, 101)[:, None] * np.ones(9)
    assert draw.plot_untrained(np.full(9, 0.3), draws, draws / 2, ax) is ax
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((0.1, 0.9))
    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    assert lines["trained"] == pytest.approx(np.full(9, 0.3))
    assert lines["untrained, without Σ"] == pytest.approx(np.full(9, 0.25))


def test_waves_stand_one_below_the_other(ax, rng):
    wave, shadow = rng.random((2, 8))
    draw.plot_waves({"upper": (wave, shadow), "lower": (wave, 0 * shadow)}, ax)
    first, second = (line.get_ydata() for line in ax.get_lines())
    assert first == pytest.approx(wave) and second.max() < first.min()
    assert [text.get_text() for text in ax.texts] == ["upper", "lower"] and ax.xaxis_inverted()
