"""Figures along octaves: what is drawn is what was given."""

import numpy as np
import pytest

from chapters.audio_scale import figures as octaves


def test_octaves_stand_below_their_ceiling_with_the_past_at_the_left(ax):
    octaves.plot_octave_capacities({"a": [1, 1, 2, 2], "b": [1, 1, 1, 3]}, 8, ax)
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_allclose(lines["one per input"], [1, 1, 2, 4])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "2", "4"]
    assert ax.xaxis_inverted()


def test_a_logarithmic_axis_has_plain_numbers(ax):
    octaves.plot_octave_capacities({"a": [1, 1, 2, 2]}, 8, ax, logarithmic=True)
    assert ax.get_yscale() == "log" and ax.get_ylim()[0] > 0


def test_density_is_per_input(ax):
    octaves.plot_density({"a": np.array([1.0, 1.0, 1.0, 1.0])}, 8, ax)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [1, 1, 0.5, 0.25])
    np.testing.assert_allclose(ax.lines[1].get_ydata(), 0.5)


def test_ratios_have_one_as_their_reference(ax):
    octaves.plot_ratios({"near": ([64, 128], [2.0, 3.0])}, ax)
    assert [text.get_text() for text in ax.texts] == ["near"]
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), 1)


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (512, "512"), (3000, "3000"), (2**30, "1 G"), (3 * 2**20, "3 M")]
)
def test_lags_are_short(number, text):
    assert octaves._short(number) == text
