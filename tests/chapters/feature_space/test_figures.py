"""The figures of the chapter on features draw what they are given, and return their axis."""

import pytest

from capcore import Hermite
from chapters.feature_space import figures as draw


def test_every_feature_is_a_line(ax):
    assert draw.plot_functions(Hermite(5), ax) is ax
    lines = [line for line in ax.get_lines() if line.get_label().startswith("feature")]
    assert [line.get_label() for line in lines] == [f"feature {j}" for j in range(1, 6)]
    assert lines[1].get_ydata() == pytest.approx(Hermite(5)(lines[1].get_xdata())[:, 1])


def test_capacities_are_stacked_per_input_below_the_ceiling(ax, rng):
    capacities = rng.random((6, 5))
    assert draw.plot_feature_capacities(capacities, ax) is ax
    assert [len(bars) for bars in ax.containers] == [6] * 5
    tops = [bar.get_y() + bar.get_height() for bar in ax.containers[-1]]
    assert tops == pytest.approx(capacities.sum(axis=1))
    assert ax.get_lines()[0].get_ydata()[0] == 5
    left, right = ax.get_xlim()
    assert left > right, "the most recent lag stands at the right"


def test_shares_stand_in_columns(ax):
    draw.plot_share_columns({"linear": {"AR1": 0.0, "PowerLaw": 0.1}, "exact": {"AR1": 0.6, "PowerLaw": 0.3}}, ax)
    assert [list(line.get_ydata()) for line in ax.get_lines()] == [[0.0, 0.1], [0.6, 0.3]]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["AR(1)", "power law"]
