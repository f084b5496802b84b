"""The figures of the chapter on Gaussian prediction show the values they are given, and nothing else."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from capcore.processes import PowerLaw
from chapters.gaussian_prediction.figures import (
    plot_allocations,
    plot_autocorrelation_errors,
    plot_counts,
    plot_error_curve,
    plot_lines,
    plot_missed,
    plot_off_constraint,
    plot_rescaling,
    plot_response_curves,
    plot_response_kinds,
    plot_response_per_input,
    plot_sampled_errors,
    plot_spectra,
)
from chapters.gaussian_prediction.optima import Curve
from chapters.gaussian_prediction.response import autocorrelation_error
from chapters.gaussian_prediction.study import SampledError, count_directions


@pytest.fixture
def axes():
    fig, axes = plt.subplots(1, 2)
    yield axes
    fig.canvas.draw()  # labels and legends that cannot be drawn raise here
    plt.close(fig)


def drawn(ax):
    return [line.get_ydata() for line in ax.get_lines()]


def test_lines_keep_their_values_and_differ_in_more_than_colour(axes):
    lines = {"a": np.arange(4.0), "b": np.ones(4)}
    assert plot_lines(lines, axes[0], "lag", "value", first=1) is axes[0]
    assert np.array_equal(drawn(axes[0]), list(lines.values()))
    assert np.array_equal(axes[0].get_lines()[0].get_xdata(), [1, 2, 3, 4])
    looks = {(line.get_linestyle(), line.get_marker()) for line in axes[0].get_lines()}
    assert len(looks) == 2


def test_one_panel_per_process(axes):
    plot_spectra({"PowerLaw": np.array([2.0, 1.0]), "AR1": np.array([3.0, 0.5])}, axes)
    assert [ax.get_title() for ax in axes] == ["Power Law", "AR1"]
    assert np.array_equal(drawn(axes[1])[0], [3.0, 0.5])
    assert sum(bool(ax.get_xlabel()) for ax in axes) == 1  # labels under each of five panels run into each other


def test_singular_points_are_dotted(axes):
    profiles = [{"1 channel": np.array([1.0, 0.2])}] * 2
    plot_allocations(profiles, [{"1 channel": True}, {"1 channel": False}], axes)
    assert [ax.get_lines()[0].get_linestyle() for ax in axes] == ["-", ":"]
    assert axes[0].xaxis_inverted()


def test_responses_are_shown_on_logarithmic_axes(axes):
    curves = {"inside 𝒦": np.array([1.0, 1.1]), "orthogonal to 𝒦": np.array([1e-8, 1e-9])}
    plot_response_curves(np.array([0.1, 1.0]), curves, axes[0])
    assert np.array_equal(drawn(axes[0]), list(curves.values()))
    responses = {"1 channel": {kind: values[:1] for kind, values in curves.items()}, "8 channels": {"generic": [0.9]}}
    plot_response_kinds(responses, axes[1])
    assert axes[0].get_yscale() == axes[1].get_yscale() == "log"
    assert sorted(float(y[0]) for y in drawn(axes[1])) == [1e-8, 0.9, 1.0]


def test_each_model_has_its_points_and_its_band(axes):
    plot_response_per_input({"m": np.array([0.1, 0.9])}, {"m": np.array([0.2, 1.0])}, {"m": (0.9, 2.1)}, axes[0])
    assert np.array_equal(drawn(axes[0])[0], [0.2, 1.0])
    assert len(axes[0].collections) == 1


def test_negative_eigenvalues_are_crosses(axes):
    rng = np.random.default_rng(0)
    counts = count_directions(rng.normal(size=(12, 3)) @ rng.normal(size=(3, 9)))
    plot_counts(counts, 3, axes[0])
    crosses = next(line for line in axes[0].get_lines() if line.get_label() == "negative eigenvalues")
    assert crosses.get_marker() == "x" and crosses.get_ydata().size == np.count_nonzero(counts.eigenvalues < 0)
    plot_missed(np.array([1.0, 10.0]), {"m": ([0, 2], [0, 0])}, axes[1])
    assert np.array_equal(drawn(axes[1]), [[0, 2], [0, 0]])


def test_crossings_and_optimum_are_marked(axes):
    curve = Curve([[0, 1, 0], [0, 0, 1]], [1.0, -0.5])
    w = np.linspace(-1.9, 1.2, 20)
    plot_error_curve(curve, w, axes[0])
    crossings = next(line for line in axes[0].get_lines() if line.get_label() == "crossings")
    assert crossings.get_xdata().size == 2
    plot_off_constraint(curve, w, axes[1])
    assert np.allclose(drawn(axes[1])[1], curve.off_constraint(w))


def test_samples_and_autocorrelation_errors(axes):
    plot_sampled_errors({"a": SampledError(1.1, 0.05, 100)}, {"a": 1.0}, axes[0])
    assert axes[0].get_yticklabels()[0].get_text() == "a"
    error = autocorrelation_error(0.9 * PowerLaw().predictor(6)[0], PowerLaw())
    plot_autocorrelation_errors([error], ["model"], [axes[1]])
    residual, source = drawn(axes[1])[1:3]
    assert np.allclose(residual, source)
    plot_autocorrelation_errors([], [], [axes[1]])  # nothing to show is no error


def test_rescaling_shows_both_routes(axes):
    factors = np.array([0.5, 1.0, 2.0])
    plot_rescaling(factors, {"lag 0": factors / 3}, {"lag 0": factors / 3}, axes[0])
    assert len(drawn(axes[0])) == 3
