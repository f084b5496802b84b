"""The figures of the chapter on dilated stacks draw what they are given, and return their axis."""

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from chapters.hierarchical.figures import (
    add_shares,
    legend_below,
    plot_address,
    plot_addressed,
    plot_digit_grid,
    plot_eigenvalues,
    plot_histories,
    plot_lines,
    plot_losses,
    plot_parametrisation,
    plot_skyline,
)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_parametrisation(ax):
    assert plot_parametrisation(np.array([1, 2]), np.array([12, 40]), np.array([7, 20]), 64, ax) is ax
    assert labels(ax) == ["# parameters", "capacity κ", "# inputs"]
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


def test_the_skyline_has_one_silhouette_and_one_key_per_profile(ax):
    assert plot_skyline({"one": np.array([1.0, 0.2]), "two": np.array([1.0, 0.6])}, ax) is ax
    assert len(ax.collections) == len(ax.patches) == len(ax.texts) == 2
    assert ax.get_xlim() == (1.5, -0.5)  # the most recent input at the right
    assert {text.get_text() for text in ax.texts} == {"one", "two"}


def test_losses_that_are_rounding_are_shaded_and_the_axis_stays(ax):
    plot_losses({"a": ([1, 2], [1e-3, 1e-10])}, ax)
    assert not ax.patches
    plot_losses({"a": ([1, 2], [1e-3, 1e-31])}, ax)
    (band,), low = ax.patches, ax.get_ylim()[0]
    assert band.get_y() == pytest.approx(low, rel=1e-9) and band.get_y() + band.get_height() == pytest.approx(1e-28)
    assert low < 1e-31 and ax.texts[-1].get_text() == "rounding"


def test_a_legend_moves_below_the_figure(ax):
    plot_losses({"a": ([1, 2], [1.0, 0.1])}, ax)
    assert legend_below(ax, side="left") is ax
    assert ax.get_legend() is None
    (legend,) = ax.get_figure().legends
    assert [text.get_text() for text in legend.get_texts()] == ["a"]


def test_the_grid_has_recent_digits_across(ax):
    assert plot_digit_grid(np.arange(12.0), [3, 2, 2], ax, [4]) is ax
    assert ax.get_images()[0].get_array().tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert ax.get_xlabel() == "low digits: lag modulo 3"
    assert [(text.get_text(), text.get_position()) for text in ax.texts] == [("4", (1, 1))]


def test_shares_stand_beside_their_rows_and_columns(ax):
    plot_digit_grid(np.zeros(6), [3, 2], ax)
    assert add_shares(np.array([0.25, 0.5]), np.array([1.0, 0.5, 0.75]), ax) is ax
    right, above = ax.child_axes
    assert [bar.get_width() for bar in right.patches] == [0.25, 0.5]
    assert [bar.get_height() for bar in above.patches] == [1.0, 0.5, 0.75]


def test_lines_run_over_the_lags_or_over_what_is_named(ax):
    profiles, colours = {"a": np.array([1.0, 0.5, 0.0])}, {"a": "k"}
    assert plot_lines(profiles, ax, colours) is ax
    assert ax.get_xlim() == (2.5, -0.5)  # the most recent input at the right
    assert plot_lines(profiles, ax, colours, "eigenvector").get_xlabel() == "eigenvector"


ARCHITECTURES = [Hierarchical(1, n_layers=4), Hierarchical([2, 3], kernel_size=[3, 2, 4]), Hierarchical(1, 1, 5)]


@pytest.mark.parametrize("arch", ARCHITECTURES, ids=repr)
def test_the_tree_has_one_path_per_input_and_names_the_taps_of_one(arch, ax):
    lag = arch.n_inputs - 1
    assert plot_address(arch, lag, ax) is ax
    edges = [edge for collection in ax.collections for edge in collection.get_segments()]
    for (x0, y0), (x1, y1) in edges:
        tap = (x0 - x1) / arch.dilations[int(y0)]
        assert y1 == y0 + 1
        assert tap in range(arch.kernel_sizes[int(y0)])
    assert sorted(edge[0][0] for edge in edges if edge[0][1] == 0) == list(range(arch.n_inputs))
    taps = [text.get_text() for text in ax.texts if "tap" in text.get_text()]
    pairs = zip(arch.dilations[::-1], arch.kernel_sizes[::-1], strict=True)
    assert taps == [f"dilation {dilation}, tap {size - 1}" for dilation, size in pairs]
    bold = [line.get_xdata() for line in ax.get_lines() if line.get_linewidth() > 3]
    assert (bold[0][1], bold[-1][0]) == (0, lag)


def test_lags_with_one_digit_carry_their_address(ax):
    assert plot_addressed(np.linspace(1, 0, 8), [2, 2, 2], ax) is ax
    assert [text.get_text() for text in ax.texts] == ["000", "001", "010", "100"]
    assert [text.get_position()[0] for text in ax.texts] == [0, 1, 2, 4]
