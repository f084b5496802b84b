"""The figures of the chapter on linear systems draw what they are given, and return their axis."""

import matplotlib.pyplot as plt
import numpy as np

from capcore.architectures import Hierarchical
from capcore.processes import FractionalGaussianNoise, PowerLaw
from chapters.linear_systems.figures import plot_error_plane, plot_pair_gaps, plot_realised, plot_sum_and_union
from chapters.linear_systems.study import error_curve, optimal_error


def curves(ax):
    return {line.get_label(): line.get_ydata() for line in ax.get_lines()}


def test_pair_gaps(ax):
    angles, gaps = np.array([0.0, np.pi / 2]), np.array([1.0, 0.0])
    assert plot_pair_gaps(angles, gaps, ax) is ax
    assert np.array_equal(curves(ax)["random pairs"], gaps)


def test_sum_and_union(ax):
    separate, joint = np.array([2.0, 1.0]), np.array([1.0, 0.5])
    assert plot_sum_and_union(separate, joint, ax) is ax
    assert np.array_equal(curves(ax)["together"], joint)
    assert ax.xaxis_inverted()


def test_realised_error_below_its_limit(ax):
    error = optimal_error(Hierarchical(1, 4), PowerLaw())
    assert plot_realised(error, ax) is ax
    assert np.all(curves(ax)["trained model"] <= 1.001 * error.free)


def test_no_error_is_said_in_words(ax):
    assert "no error" in plot_realised(None, ax).texts[0].get_text()


def test_the_error_plane_rings_another_crossing_only_inside_it(ax):
    curve = error_curve(PowerLaw())
    assert plot_error_plane(curve, ax, 0.7) is ax
    assert "other crossing" not in curves(ax)
    figure, wide = plt.subplots()
    plot_error_plane(curve, wide, 3.0)
    assert np.allclose(curves(wide)["other crossing"], curve.errors(curve.other_crossings)[:, 1])
    plt.close(figure)


def test_the_error_plane_of_white_noise_has_level_sets_though_the_loss_vanishes(ax):
    assert plot_error_plane(error_curve(FractionalGaussianNoise(0.5)), ax, 1.0) is ax
