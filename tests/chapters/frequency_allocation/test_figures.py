"""The figures of the chapter on frequencies draw what they are given, and return their axis."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from chapters.frequency_allocation import figures as draw


def labels(ax):
    return [text.get_text() for text in ax.legend().get_texts()]


def test_profiles_stand_over_their_frequencies(ax, rng):
    profiles = {"1 channel": rng.random(17), "2 channels": rng.random(17)}
    assert draw.plot_along_frequencies(profiles, ax, {"1 channel": "C3", "2 channels": "C4"}) is ax
    first, second, ceiling = ax.get_lines()
    assert first.get_xdata() == pytest.approx(np.fft.rfftfreq(32))
    assert np.array_equal(second.get_ydata(), profiles["2 channels"])
    assert first.get_color() == "C3" and ceiling.get_ydata()[0] == 1
    assert "cycles per input" in ax.get_xlabel()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1/8", "1/4", "3/8", "1/2"]


def test_capacity_stands_over_power(ax, rng):
    values, density = rng.random(9), np.geomspace(10, 0.1, 9)
    assert draw.plot_against_density({"a": values}, density, ax) is ax
    assert np.array_equal(ax.get_lines()[0].get_xdata(), density)
    assert ax.get_xscale() == "log"


def test_the_band_is_the_central_eighty_per_cent(ax):
    draws = np.linspace(0, 1, 101)[:, None] * np.ones(9)
    assert draw.plot_untrained(np.full(9, 0.3), draws, ax) is ax
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((0.1, 0.9))
    assert ax.get_lines()[0].get_ydata() == pytest.approx(np.full(9, 0.5))
    assert labels(ax) == ["untrained, 80 % of draws", "untrained, median", "trained"]


def test_families_show_their_spectrum(rng):
    figure, axes = plt.subplots(1, 2)
    profiles = {name: {"1 channel": rng.random(9)} for name in ("PowerLaw", "AR1")}
    densities = {name: 7 * np.linspace(1, 0.1, 9) for name in profiles}
    assert draw.plot_families_along_frequencies(profiles, densities, axes) is axes
    assert [ax.get_title() for ax in axes] == ["Power Law", "AR1"]
    assert axes[0].collections[0].get_paths()[0].vertices[:, 1].max() == pytest.approx(1)
    figure.canvas.draw()
    plt.close(figure)


def test_windows_are_labelled_by_their_size(ax):
    assert draw.plot_over_windows({"a": [0.5, 0.4], "b": [0.2, 0.1]}, [16, 256], ax, "gap") is ax
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["16", "256"]
    assert labels(ax) == ["a", "b"] and ax.get_ylabel() == "gap"
