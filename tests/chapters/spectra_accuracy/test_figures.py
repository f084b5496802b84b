"""Figures of rank correlations show what they are given."""

import matplotlib.pyplot as plt
import numpy as np

from chapters.spectra_accuracy import figures as draw
from chapters.spectra_accuracy.study import Estimate

ROWS = [Estimate("a", 0.5, 0.1, 0.8, 9), Estimate("b", -1.0, -1.0, 0.2, 4)]


def test_a_forest_has_one_interval_per_row():
    ax = draw.plot_forest(ROWS, plt.subplots()[1], label="within", strong=[1])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b"]
    assert len(ax.containers) == 2
    assert [float(one[0].get_xdata()[0]) for one in ax.containers] == [0.5, -1.0]
    ends = [one[2][0].get_segments()[0][:, 0] for one in ax.containers]
    np.testing.assert_allclose(ends, [[0.1, 0.8], [-1.0, 0.2]], atol=1e-12)
    assert ax.get_legend_handles_labels()[1] == ["within"]
    low, high = ax.get_ylim()
    assert low > high  # the first row on top


def test_histograms_and_quantiles():
    groups = {"a": np.array([0.0, 0.1, 0.2]), "b": np.array([0.3, 0.4])}
    ax = draw.plot_histograms(groups, (0.15, "found"), plt.subplots()[1], "x")
    assert ax.get_legend_handles_labels()[1] == ["a", "b", "found"]
    ax = draw.plot_quantiles({"all": [1.0, 2, 3, 4, 5]}, plt.subplots()[1], 2.0, 0.5)
    assert list(ax.lines[-1].get_xdata()) == [3.0]
