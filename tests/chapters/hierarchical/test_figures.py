"""The figures of the hierarchical chapter draw what they are given, and return their axis."""

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from chapters.hierarchical.figures import (
    FAINT,
    legend_below,
    plot_architecture,
    plot_by_digits,
    plot_counts,
    plot_digit_grid,
    plot_eigenvalues,
    plot_histories,
    plot_losses,
    plot_parametrisation,
    plot_skyline,
    plot_spread,
)


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


ARCHITECTURES = [
    Hierarchical(1, n_layers=4),
    Hierarchical([2, 3], kernel_size=[3, 2, 4]),
    Hierarchical(2, 6, dilations=[1, 2, 4, 1, 2, 4]),
    Hierarchical(2, 3, dilations=[1, 3, 1], input_dim=2),
    Hierarchical(1, n_layers=1, kernel_size=5),
]


def nodes(ax, layer):
    """Lags drawn in colour in one layer."""
    lines = [line for line in ax.get_lines() if len(line.get_ydata()) and line.get_ydata()[0] == layer]
    return {-x for line in lines if line.get_markerfacecolor() != FAINT for x in line.get_xdata()}


@pytest.mark.parametrize("arch", ARCHITECTURES, ids=repr)
def test_coloured_inputs_are_those_the_model_responds_to(arch, ax):
    assert plot_architecture(arch, ax) is ax
    response = np.abs(arch.coefficients(np.ones(arch.n_params))).reshape(arch.n_inputs, -1).sum(axis=1)
    assert nodes(ax, 0) == set(np.flatnonzero(response).tolist())
    assert nodes(ax, arch.n_layers) == {0}


@pytest.mark.parametrize("arch", ARCHITECTURES, ids=repr)
def test_every_edge_is_a_tap(arch, ax):
    plot_architecture(arch, ax)
    for collection in ax.collections:
        for (x0, y0), (x1, y1) in collection.get_segments():
            layer = int(y1) - 1
            assert y0 == layer
            tap = (x1 - x0) / arch.dilations[layer]
            assert tap in range(arch.kernel_sizes[layer])


def test_disjoint_supports_have_one_path_per_input(ax):
    """The coloured edges form a tree: into each layer one edge per node."""
    plot_architecture(Hierarchical(4, 6), ax)
    strong = ax.collections[1].get_segments()
    assert len(strong) == sum(2**k for k in range(1, 7))


def test_another_output_shifts_the_field(ax):
    plot_architecture(Hierarchical(1, 3), ax, highlight=2)
    assert nodes(ax, 0) == set(range(2, 10))
    assert nodes(ax, 3) == {2}


def test_labels_name_channels_taps_and_dilations(ax):
    plot_architecture(Hierarchical([1, 3], kernel_size=[2, 2, 3], input_dim=2), ax)
    texts = [text.get_text() for text in ax.texts]
    assert texts[0] == "input, 2 components"
    assert texts[1:] == [
        "hidden, 1 channel\n2 taps, dilation 1",
        "hidden, 3 channels\n2 taps, dilation 2",
        "output\n3 taps, dilation 4",
    ]
