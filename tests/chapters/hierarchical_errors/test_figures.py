"""The figures of the chapter on errors draw what they are given, and return their axis."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from capcore import AR1, Hierarchical, PowerLaw
from capcore.plotting import LAG_LABEL
from chapters.hierarchical_errors import figures as draw
from chapters.hierarchical_errors.runs import many_runs
from chapters.hierarchical_errors.study import PredictionErrors
from chapters.shared import survey

ARCH = Hierarchical(channels=1, n_layers=4)


@pytest.fixture(scope="module")
def runs():
    return many_runs(ARCH, PowerLaw(), 3, max_iterations=20)


@pytest.fixture(scope="module")
def case():
    return survey.case(ARCH, PowerLaw())


def curves(ax):
    return {line.get_label(): line.get_ydata() for line in ax.get_lines()}


def test_figure_6_shows_means_with_bands_cut_at_zero(runs):
    figure, axes = plt.subplots(2, 1)
    draw.plot_runs(runs, axes)
    assert axes[0].get_xlabel() == LAG_LABEL
    for ax, compared in zip(axes, (runs.inputs, runs.eigenvectors), strict=True):
        shown = curves(ax)
        assert shown["squared errors"] == pytest.approx(compared.errors.mean)
        assert shown[r"bound $n_S-\kappa_S$"] == pytest.approx(compared.bounds.mean)
        assert min(path.vertices[:, 1].min() for band in ax.collections for path in band.get_paths()) >= 0
    assert axes[0].xaxis_inverted() and not axes[1].xaxis_inverted()
    figure.canvas.draw()
    plt.close(figure)


@pytest.mark.parametrize("name", draw.QUANTITIES)
def test_statistics_against_the_stopping_point(ax, runs, name):
    draw.plot_stopping([10, 100], {"inputs": [runs.inputs] * 2}, name, ax, limit=0.5)
    line = ax.containers[0][0]
    assert line.get_ydata() == pytest.approx([getattr(runs.inputs, name)] * 2)
    assert ax.get_xscale() == "log"


def test_losses_with_and_without_a_floor(ax, runs):
    draw.plot_losses([10, 100], [runs.losses, runs.losses / 2], ax, floor=1e-9)
    assert {"L-BFGS-B: median and runs", "converged optimum"} <= set(curves(ax))
    assert curves(ax)["L-BFGS-B: median and runs"] == pytest.approx(
        [np.median(runs.losses), np.median(runs.losses) / 2]
    )


def test_families_stand_below_one_another(ax, runs):
    draw.plot_families({"a": runs, "b": runs}, "distance", {"inputs": 0.5, "eigenvectors": 0.25}, ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert ax.containers[1][0].get_xdata() == pytest.approx([runs.eigenvectors.distance] * 2)
    assert ax.yaxis_inverted()


def test_figure_14_has_six_panels_and_gaps_where_the_truth_is_zero(case):
    figure, axes = plt.subplots(2, 3)
    attained = PredictionErrors.of(survey.case(ARCH, AR1()))
    for errors in (PredictionErrors.of(case), attained):
        draw.plot_model_against_truth(errors, axes)
        assert axes[0, 1].get_lines()[-2].get_ydata() == pytest.approx(errors.coefficient_error)
        assert axes[1, 1].get_lines()[-2].get_ydata() == pytest.approx(errors.autocorrelation_error)
        figure.canvas.draw()
    plt.close(figure)


def test_absolute_errors_have_a_legend_or_say_that_there_are_none(ax):
    draw.plot_absolute_errors({}, ax, "y")
    assert ax.texts[0].get_text() == "every target is attained: no error" and ax.get_legend() is None
    draw.plot_absolute_errors({"a": np.array([0.0, -1e-3])}, ax, "y")
    assert curves(ax)["a"] == pytest.approx([np.nan, 1e-3], nan_ok=True)
    assert ax.get_legend() is not None


def test_forces_show_one_point_per_input(case):
    figure, axes = plt.subplots(1, 3)
    points = draw.plot_forces(case, axes)
    bar = draw.add_lag_bar(points, axes)
    assert np.asarray(points.get_offsets())[:, 1] == pytest.approx(np.abs(case.error))
    assert [label.get_text() for label in bar.ax.get_yticklabels()] == ["0", "1", "3", "7", "15"]
    figure.canvas.draw()
    plt.close(figure)


def test_a_table_of_correlations_shows_dashes_where_there_is_nothing(ax):
    draw.plot_correlation_table(np.array([[0.5, np.nan]]), ["row"], ["a", "b"], ax)
    assert [text.get_text() for text in ax.texts] == ["+0.50", "–"]


def test_a_shared_legend_has_every_label_once():
    figure, axes = plt.subplots(1, 2)
    for ax, names in zip(axes, (("a", "b"), ("b", "c")), strict=True):
        for name in names:
            ax.plot([0, 1], label=name)
    legend = draw.share_legend(figure, axes, ncols=3)
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]
    plt.close(figure)
