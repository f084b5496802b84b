"""Figures of the ResNets' exponents: what they draw is what they were given."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from chapters.spectra_choices import figures as resnet_choices
from chapters.spectra_resnets import study as resnet_spectra


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_histograms_hold_all_exponents(ax):
    groups = {"trained": np.array([1.0, 2.5, 3.0, 50.0, np.nan]), "noise": np.array([2.0, 4.0])}
    resnet_spectra.plot_exponent_histograms(groups, ax)
    heights = [patch.get_data().values.sum() for patch in ax.patches if hasattr(patch, "get_data")]
    assert heights == pytest.approx([1.0, 1.0, 1.0])  # filled, outlined, and the other group
    assert ax.get_legend_handles_labels()[1] == ["trained", "noise"]


def test_p_values_are_cumulated(ax):
    resnet_spectra.plot_p_values({"all": np.array([0.8, 0.2])}, ax)
    x, y = ax.lines[1].get_data()
    assert [*x] == [0, 0.2, 0.8, 1] and [*y] == [0, 0.5, 1, 1]


def test_every_family_has_its_points_and_no_line_is_fitted(ax):
    table = pd.DataFrame({"family": ["a"] * 3 + ["b"] * 3, "error": [1.0, 2, 3, 4, 5, 6], "x": [1.0, 2, 3, 7, 7, 7]})
    resnet_choices.plot_errors(table, "x", ax, "x")
    assert [line.get_xdata().tolist() for line in ax.lines] == [[1, 2, 3], [7, 7, 7]]
    assert {line.get_linestyle() for line in ax.lines} == {"None"}


def test_every_combination_is_counted_where_it_lies():
    figure, axes = plt.subplots(2, 1)
    resnet_choices.plot_correlations({"one": np.array([-1.0, 0.8, 0.8]), "other": np.array([0.0])}, axes)
    heights = [[bar.get_height() for bar in ax.patches] for ax in axes]
    assert (heights[0][0], heights[0][18], sum(heights[0])) == (1, 2, 3) and heights[1][10] == sum(heights[1]) == 1
    assert [ax.get_title(loc="left") for ax in axes] == ["one", "other"]
    plt.close(figure)
