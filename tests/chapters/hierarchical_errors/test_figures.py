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


def test_each_stack_has_a_line_for_its_last_stop_and_one_for_the_lowest_loss():
    stop = {"l-bfgs-b": [{"loss": 1e-1, "per_input": [1, 0]}, {"loss": 1e-2, "per_input": [1, 0.5]}]}
    deep = {"gauss-newton": [{"loss": 1e-5, "per_input": [1, 1]}, {"loss": 1e-4, "per_input": [0, 1]}]}
    figure, axes = plt.subplots(1, 2)
    draw.plot_stopped_stacks({"tiled": {"runs": stop | deep}, "repeated": {"runs": stop}}, axes)
    for ax, lowest in zip(axes, ((r"loss $10^{-5}$", [1, 1]), (r"loss $10^{-2}$", [1, 0.5])), strict=True):
        shown = [(patch.get_label(), list(patch.get_data().values)) for patch in ax.patches]
        assert shown == [(r"loss $10^{-2}$", [1, 0.5]), lowest] and ax.xaxis_inverted()
    assert [ax.get_title() for ax in axes] == ["tiled", "repeated"]
    figure.canvas.draw()


def test_figure_6_shows_means_and_bands_above_them(runs):
    figure, axes = plt.subplots(2, 1)
    draw.plot_runs(runs, axes)
    assert axes[0].get_xlabel() == LAG_LABEL
    for ax, compared in zip(axes, (runs.inputs, runs.eigenvectors), strict=True):
        shown = curves(ax)
        assert shown["squared errors"] == pytest.approx(compared.errors.mean)
        assert shown[r"bound $n_S-\kappa_S$"] == pytest.approx(compared.bounds.mean)
        for band, spread in zip(ax.collections, (compared.errors, compared.bounds), strict=True):
            heights = np.concatenate([path.vertices[:, 1] for path in band.get_paths()])
            assert heights.min() == pytest.approx(max(spread.mean.min(), ax.get_ylim()[0]))
            assert heights.max() == pytest.approx((spread.mean + spread.deviation).max())
    assert axes[0].xaxis_inverted() and not axes[1].xaxis_inverted()
    figure.canvas.draw()
    plt.close(figure)


def test_figure_14_has_six_panels_and_gaps_where_the_truth_is_zero(case):
    figure, axes = plt.subplots(2, 3)
    attained = PredictionErrors.of(survey.case(ARCH, AR1()))
    for errors in (PredictionErrors.of(case), attained):
        draw.plot_model_against_truth(errors, axes)
        assert axes[0, 1].get_lines()[-2].get_ydata() == pytest.approx(errors.coefficient_error)
        assert axes[1, 1].get_lines()[-2].get_ydata() == pytest.approx(errors.autocorrelation_error)
        figure.canvas.draw()
    plt.close(figure)


def test_distances_against_the_stopping_point(ax, runs):
    draw.plot_stopping([10, 100], {"inputs": [runs.inputs] * 2, "eigenvectors": [runs.eigenvectors] * 2}, ax)
    assert ax.containers[0][0].get_ydata() == pytest.approx([runs.inputs.distance] * 2)
    assert [text.get_text() for text in ax.texts] == [
        "along the inputs",
        "along the eigenvectors",
        "errors drawn at random",
    ]


def test_losses_with_and_without_a_floor(ax, runs):
    draw.plot_losses([10, 100], [runs.losses, runs.losses / 2], ax, floor=1e-9)
    assert len(ax.get_lines()) == runs.n_runs + 1
    assert ax.get_lines()[0].get_ydata() == pytest.approx([runs.losses[0], runs.losses[0] / 2])
    assert [text.get_text() for text in ax.texts] == ["the optimum, reached by Gauss–Newton"]
