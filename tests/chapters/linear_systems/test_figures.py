"""The figures of the chapter on linear systems draw what they are given, and return their axis."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.constraints import ConstraintSpace
from capcore.processes import FractionalGaussianNoise, PowerLaw
from chapters.linear_systems import errors
from chapters.linear_systems.figures import (
    plot_chain_orders,
    plot_departures,
    plot_error_plane,
    plot_exceedance,
    plot_leverages,
    plot_loss_along,
    plot_pair_gaps,
    plot_realised,
    plot_shares_against_free,
    plot_simulated,
    plot_squared_cosines,
    plot_sum_and_union,
)
from chapters.linear_systems.study import error_curve, optimal_error
from chapters.linear_systems.systems import leverages, random_basis


@pytest.fixture
def simulated(rng):
    space = ConstraintSpace.from_columns(random_basis(5, 2, rng))
    subspaces = [*np.eye(5), random_basis(5, 2, rng)]
    return {law: errors.simulate(space, subspaces, law, 50, rng) for law in errors.COORDINATE_LAWS}


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def curves(ax):
    return {line.get_label(): line.get_ydata() for line in ax.get_lines()}


def test_leverages(ax):
    arch = Hierarchical(1, kernel_size=[2, 3])
    three = leverages(arch, np.ones(arch.n_params), PowerLaw())
    assert plot_leverages(three, ax, "title") is ax
    assert np.array_equal(curves(ax)[r"$\Sigma J$ (constraints)"], three["constraints"])


def test_squared_cosines_stack_up_to_the_capacity(ax):
    cosines = {"a": np.array([1.0, 0.5]), "b": np.array([0.25, 0.0])}
    assert plot_squared_cosines(cosines, {"a": 1.5, "b": 0.25}, ax) is ax
    tops = [patch.get_y() + patch.get_height() for patch in ax.patches]
    assert tops == [1.0, 1.5, 0.25, 0.25]
    assert [line.get_ydata()[0] for line in ax.get_lines()] == [1.5, 0.25]


def test_pair_gaps(ax):
    angles, gaps = np.array([0.0, np.pi / 2]), np.array([1.0, 0.0])
    assert plot_pair_gaps(angles, gaps, ax) is ax
    assert np.array_equal(curves(ax)["random pairs"], gaps)


def test_sum_and_union(ax):
    separate, joint = np.array([2.0, 1.0]), np.array([1.0, 0.5])
    assert plot_sum_and_union(np.arange(2), separate, joint, ax) is ax
    assert np.array_equal(curves(ax)["together"], joint)
    assert ax.xaxis_inverted()


def test_chain_orders_place_each_term_after_those_before_it(ax):
    assert plot_chain_orders([[0, 1], [1, 0]], [[2.0, 1.0], [2.5, 0.5]], ["first", "second"], ax) is ax
    assert [(patch.get_x(), patch.get_width()) for patch in ax.patches] == [(0, 2), (2, 1), (0, 2.5), (2.5, 0.5)]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["1, 2", "2, 1"]
    assert labels(ax) == ["first", "second"]
    assert ax.patches[0].get_facecolor() == ax.patches[3].get_facecolor() != ax.patches[1].get_facecolor()


def test_simulated_ratios_have_bars_of_two_standard_errors(ax, simulated):
    assert plot_simulated(simulated, 5, ax) is ax
    result = simulated["normal"]
    segments = ax.collections[0].get_segments()
    assert segments[0][1][1] - segments[0][0][1] == pytest.approx(4 * result.standard_error[0] / result.predicted[0])


def test_departures_and_exceedance(ax, simulated):
    assert plot_departures({"case": np.array([0.5, 2.0])}, ax) is ax
    figure, other = plt.subplots()
    assert plot_exceedance(simulated, 5, other) is other
    assert all(np.all(np.diff(line.get_ydata()) <= 0) for line in other.get_lines()[:3])
    plt.close(figure)


def test_shares_lie_on_the_diagonal_for_one_free_dimension(ax):
    error = optimal_error(Hierarchical(1, 2), PowerLaw())
    assert plot_shares_against_free({"PowerLaw": error}, ax) is ax
    (line,) = [line for line in ax.get_lines() if line.get_label() == "PowerLaw"]
    assert np.allclose(line.get_xdata(), line.get_ydata(), atol=1e-6)


def test_no_shares_leave_an_empty_axis_without_a_legend(ax):
    assert plot_shares_against_free({}, ax).get_legend() is None


def test_realised_error_with_rings_where_it_exceeds_the_mean(ax):
    error = optimal_error(Hierarchical(1, 4), PowerLaw())
    assert plot_realised(error, ax) is ax
    assert curves(ax)["above Eq. 6"].size == np.count_nonzero(error.shares > error.mean_shares)


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


def test_loss_along_the_curve_is_least_at_the_optimum(ax):
    curve = error_curve(PowerLaw())
    assert plot_loss_along(curve, ax) is ax
    drawn = curves(ax)
    assert drawn["optimum"][0] <= min(values.min() for values in drawn.values())
    assert labels(ax) == ["range of use", "optimum", "other crossing"]
