"""Figure 3 drawn from the model object: what is highlighted is what the model responds to."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from capcore.architectures import Hierarchical
from chapters.hierarchical.architecture_figures import FAINT, plot_architecture

ARCHITECTURES = [
    Hierarchical(1, n_layers=4),
    Hierarchical([2, 3], kernel_size=[3, 2, 4]),
    Hierarchical(2, 6, dilations=[1, 2, 4, 1, 2, 4]),
    Hierarchical(2, 3, dilations=[1, 3, 1], input_dim=2),
    Hierarchical(1, n_layers=1, kernel_size=5),
]


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


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
