"""One's own model: profiles at each optimum, and the band of an estimate."""

import numpy as np
import pytest

from chapters.your_own_model import figures as draw
from chapters.your_own_model.study import transformed


def test_the_band_is_the_central_eighty_per_cent(ax):
    draws = np.linspace(0, 1, 101)[:, None] * np.ones(8)
    estimate, other = np.full(8, 0.4), np.full(8, 0.7)
    assert draw.plot_with_uncertainty(estimate, draws, {"power law": other}, ax, "capacity", 1.0) is ax
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((0.1, 0.9))
    lines = ax.get_lines()
    assert np.array_equal(lines[0].get_ydata(), estimate) and np.array_equal(lines[1].get_ydata(), other)
    assert lines[2].get_ydata()[0] == 1 and ax.xaxis_inverted()
    labels = [*(line.get_label() for line in lines[:2]), ax.collections[0].get_label()]
    assert labels == ["measured series", "power law", "80% of simulated series"]


def test_logarithms_of_what_has_one():
    values = np.array([1.0, np.e, 4.0])
    assert transformed(values, True) == pytest.approx([0, 1, np.log(4)])
    assert transformed(-values, False) is not None
    with pytest.raises(ValueError, match="logarithm: found the value 0 at index 2, expected positive ones"):
        transformed(np.array([1.0, 2.0, 0.0]), True)
