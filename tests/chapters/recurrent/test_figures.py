"""The figures of the recurrent chapter draw what they are given, and return their axis."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import capcore as cc
from chapters.hierarchical.figures import plot_losses
from chapters.recurrent import figures as draw


@pytest.mark.parametrize(("channels", "steps"), [(1, 2), (3, 7)])
def test_every_weight_of_the_network_is_drawn(ax, channels, steps):
    assert draw.plot_recurrent(cc.Recurrent(9, channels), ax, steps) is ax
    outward, inward, onward, last = (len(edges.get_segments()) for edges in ax.collections[:4])
    assert outward == inward == channels * steps
    assert onward == channels * (steps - 1) and last == channels
    nodes = [len(dots.get_offsets()) for dots in ax.collections[4:]]
    assert nodes == [steps] * (channels + 2)
    ends = {tuple(segment[-1]) for segment in ax.collections[3].get_segments()}
    assert ends == {(0.0, channels + 1.0)}  # the most recent output
    assert [text.get_text() for text in ax.texts][:3] == [
        "input",
        f"{channels} channel" + "s" * (channels > 1),
        "output",
    ]


def test_capacities(ax):
    curves = {"κ, exact": np.array([2, 4]), "κ in double precision": np.array([2, 3])}
    assert draw.plot_capacities(np.array([1, 2]), np.array([3, 6]), curves, 4, ax) is ax
    assert [line.get_ydata().tolist() for line in ax.get_lines()[:3]] == [[3, 6], [2, 4], [2, 3]]


def test_the_three_panels_are_titled_and_have_common_legends():
    figure, axes = plt.subplots(1, 3)
    draw.plot_capacities(np.array([1, 2]), np.array([3, 6]), {"κ": np.array([2, 4])}, 4, axes[0])
    for ax in axes[1:]:
        plot_losses({"loss": ([2, 4], [1e-1, 1e-2])}, ax)
    draw.tidy_scaling(axes)
    assert all(ax.get_legend() is None for ax in axes) and len(figure.legends) == 1
    assert [ax.get_title(loc="left") or ax.get_title() for ax in axes][2] == "loss vs size"
    figure.canvas.draw()
    plt.close(figure)


@pytest.mark.parametrize("logarithmic", [True, False])
def test_zeros_are_not_drawn(ax, logarithmic):
    curves = {"a": (np.array([2, 4, 6]), np.array([0.1, 0.01, 0.0])), "b": (np.array([2]), np.array([0.0]))}
    assert draw.plot_law(curves, ax, logarithmic) is ax
    assert [line.get_xdata().tolist() for line in ax.get_lines()] == [[2, 4]], "nothing is left of b, not even a name"
    assert ax.get_xscale() == ("log" if logarithmic else "linear") and ax.get_yscale() == "log"


def test_poles_by_the_sign_of_their_weights(ax):
    poles = {1: np.array([0.5]), 3: np.array([-2.0, 0.1, 0.9])}
    weights = {1: np.array([1.0]), 3: np.array([-1.0, 0.0, 2.0])}
    assert draw.plot_poles(poles, weights, ax) is ax
    marks = [(line.get_xdata().tolist(), line.get_marker(), line.get_markerfacecolor()) for line in ax.get_lines()]
    assert [mark[0] for mark in marks] == [[0.5], [], [], [0.9], [-2.0], [0.1]]
    assert marks[4][2] == "none" and marks[5][1] == "x"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1", "3"]


def test_singular_values_are_relative(ax):
    curves = {"double": np.array([4.0, 2.0]), "digits": np.array([4.0, 1.0, 0.0])}
    assert draw.plot_singular_values(curves, ax, threshold=1e-14) is ax
    double, digits, threshold = ax.get_lines()
    assert double.get_ydata().tolist() == [1, 0.5] and digits.get_ydata().tolist() == [1, 0.25]
    assert digits.get_markerfacecolor() == "none" and threshold.get_ydata()[0] == 1e-14


def test_capacity_over_lags_and_along_other_axes(ax):
    profiles = {1: np.array([1.0, 0.5, 0.2]), 2: np.ones(3)}
    assert draw.plot_capacity(profiles, ax) is ax
    assert ax.get_lines()[0].get_xdata().tolist() == [0, 1, 2] and ax.xaxis_inverted()
    assert [text.get_label() for text in ax.get_lines()[:2]] == ["1 channel", "2 channels"]
    other = plt.figure().add_subplot()
    draw.plot_capacity(profiles, other, "eigenvector")
    assert other.get_lines()[0].get_xdata().tolist() == [1, 2, 3] and not other.xaxis_inverted()
    tails = plt.figure().add_subplot()
    draw.plot_capacity(profiles, tails, logarithmic=True)
    assert tails.get_lines()[0].get_xdata().tolist() == [1, 2, 3] and tails.xaxis_inverted()


def test_losses_stand_against_parameters_too(ax):
    plot_losses({"loss": ([2, 4], [1e-1, 1e-2])}, ax)
    draw.add_by_parameters({"loss": (np.array([1, 2]), np.array([1e-1, 1e-2]))}, ax)
    first, dotted = [line for line in ax.get_lines() if len(line.get_xdata()) == 2]
    assert list(dotted.get_xdata()) == [3, 6] and dotted.get_color() == first.get_color()


def test_strips_keep_their_values_and_short_ones_leave_the_past_white(ax):
    image = draw.plot_where({"long": np.array([1.0, 0.5, 0.2]), "short": np.array([0.9])}, ax)
    np.testing.assert_array_equal(np.ma.filled(image.get_array(), np.nan), [[1, 0.5, 0.2], [0.9, np.nan, np.nan]])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["long", "short"]
    left, right = ax.get_xlim()
    assert left > right, "the most recent lag stands at the right"
