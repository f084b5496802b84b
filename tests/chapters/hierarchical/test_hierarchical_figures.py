"""The figures of the hierarchical chapter draw what they are given, and return their axis."""

import numpy as np

from chapters.hierarchical.channels_figures import (
    legend_below,
    plot_histories,
    plot_losses,
    plot_parametrisation,
    plot_spread,
)
from chapters.hierarchical.eigenvalues_figures import plot_counts, plot_eigenvalues
from chapters.hierarchical.landscape_figures import plot_by_digits, plot_digit_grid, plot_skyline


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_parametrisation(ax):
    assert plot_parametrisation(np.array([1, 2]), np.array([12, 40]), np.array([7, 20]), 64, ax) is ax
    assert labels(ax) == ["# parameters", "κ", "# inputs"]
    assert ax.get_lines()[1].get_ydata().tolist() == [7, 20]


def test_losses_with_a_benchmark_and_a_band(ax):
    curves = {"a": ([1, 2], [1e-3, 1e-9]), "b": ([1, 2], [1e-3, 1e-5])}
    band = ("range", [1, 2], [1e-4, 1e-9], [1e-2, 1e-5])
    assert plot_losses(curves, ax, benchmark=("fully connected", 1e-12), n_inputs=64, band=band) is ax
    assert labels(ax) == ["range", "a", "b", "# inputs", "fully connected"]
    styles = [line.get_linestyle() for line in ax.get_lines()[:2]]
    assert styles[0] != styles[1]


def test_histories_start_at_one_on_a_logarithmic_axis(ax):
    assert plot_histories({"a": np.array([1.0, 0.1])}, ax, {"a": "C1--"}) is ax
    (line,) = ax.get_lines()
    assert line.get_xdata().tolist() == [1, 2]
    assert line.get_linestyle() == "--"


def test_negative_eigenvalues_are_hollow_at_their_modulus(ax):
    assert plot_eigenvalues({"a": np.array([2.0, 1e-16, 0.0, -3e-16])}, ax, threshold=3e-16) is ax
    filled, hollow, threshold = ax.get_lines()
    assert filled.get_ydata().tolist() == [2.0, 1e-16]
    assert hollow.get_ydata().tolist() == [3e-16]
    assert hollow.get_markerfacecolor() == "none"
    assert threshold.get_ydata()[0] == 3e-16


def test_counts_are_shares(ax):
    assert plot_counts({"a": np.array([0, 0, 0, 2]), "b": np.array([1])}, ax) is ax
    assert sorted(patch.get_height() for patch in ax.patches) == [0.25, 0.75, 1.0]
    assert plot_counts({}, ax) is ax


def test_the_skyline_has_one_silhouette_and_one_key_per_profile(ax):
    assert plot_skyline({"one": np.array([1.0, 0.2]), "two": np.array([1.0, 0.6])}, ax) is ax
    assert len(ax.collections) == len(ax.patches) == len(ax.texts) == 2
    assert ax.get_xlim() == (1.5, -0.5)  # the most recent input at the right
    assert {text.get_text() for text in ax.texts} == {"one", "two"}


def test_stems_are_grouped_by_digits(ax):
    assert plot_by_digits(np.linspace(1, 0, 5), np.array([0, 1, 1, 2, 3]), ax, ("ref", np.zeros(5))) is ax
    assert labels(ax) == ["ref", "no digit", "one digit", "two digits", "three or more"]


def test_the_grid_has_recent_digits_across(ax):
    assert plot_digit_grid(np.arange(12.0), [3, 2, 2], ax) is ax
    assert ax.get_images()[0].get_array().tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert ax.get_xlabel() == "lag modulo 3"


def test_spreads_stand_side_by_side_at_evenly_spaced_channels(ax):
    assert plot_spread({"a": {2: [1.0, 2.0], 16: [3.0]}, "b": {2: [1.0]}}, ax, "ratio") is ax
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2", "16"]
    first, second = ax.get_lines()
    assert first.get_ydata().tolist() == [1.0, 2.0, 3.0]
    assert first.get_xdata()[0] < 0 < second.get_xdata()[0]


def test_a_legend_moves_below_the_figure(ax):
    plot_losses({"a": ([1, 2], [1.0, 0.1])}, ax)
    assert legend_below(ax, side="left") is ax
    assert ax.get_legend() is None
    (legend,) = ax.get_figure().legends
    assert [text.get_text() for text in legend.get_texts()] == ["a"]
