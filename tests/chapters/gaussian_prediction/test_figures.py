"""The figures of the chapter on Gaussian prediction show the values they are given, and nothing else."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from capcore.processes import AR1, PowerLaw
from chapters.gaussian_prediction.figures import (
    plot_error_curve,
    plot_lines,
    plot_paths,
    plot_response_per_input,
    plot_response_to_one,
    ring_refitted,
)
from chapters.gaussian_prediction.optima import Curve
from chapters.gaussian_prediction.response import Answer


@pytest.fixture
def axes():
    fig, axes = plt.subplots(1, 2)
    yield axes
    fig.canvas.draw()  # labels and legends that cannot be drawn raise here
    plt.close(fig)


def drawn(ax):
    return [line.get_ydata() for line in ax.get_lines()]


def test_lines_keep_their_values_and_differ_in_more_than_colour(axes):
    lines = {"PowerLaw": np.arange(4.0), "AR1": np.ones(4)}
    assert plot_lines(lines, axes[0], "lag", "value", first=1) is axes[0]
    assert np.array_equal(drawn(axes[0]), list(lines.values()))
    assert np.array_equal(axes[0].get_lines()[0].get_xdata(), [1, 2, 3, 4])
    assert [line.get_label() for line in axes[0].get_lines()] == ["power law", "AR(1)"]
    assert len({line.get_linestyle() for line in axes[0].get_lines()}) == 2
    left, right = axes[0].get_xlim()
    assert left > right, "the most recent lag stands at the right"


def test_paths_are_samples_of_their_processes_each_at_its_height(axes):
    plot_paths({"AR1": AR1(0.5), "PowerLaw": PowerLaw()}, 2000, axes[0])
    first, second = drawn(axes[0])
    assert first.size == 2000 and abs(np.corrcoef(first[:-1], first[1:])[0, 1] - 0.5) < 0.1  # five standard errors
    assert abs(np.median(second) + 6) < 2
    assert [text.get_text() for text in axes[0].texts] == ["AR(1)", "power law"]


def test_each_model_has_its_points_and_its_band(axes):
    capacities, squares = np.array([0.1, 0.9]), np.array([0.2, 1.0])
    plot_response_per_input({"m": Answer(np.eye(2), capacities, squares, (0.9, 2.1))}, axes[0])
    ring_refitted(capacities, squares, axes[0])
    assert np.array_equal(drawn(axes[0]), [squares, squares])
    assert len(axes[0].collections) == 1


def test_the_answer_to_one_coefficient_is_a_column_of_the_matrix(axes):
    matrix = np.arange(9.0).reshape(3, 3) / 9
    plot_response_to_one(Answer(matrix, np.ones(3), np.ones(3), (1.0, 1.0)), 2, axes[0])
    bars, target = (patch.get_data() for patch in axes[0].patches)
    assert np.array_equal(bars.values, matrix[:, 2]) and np.array_equal(target.edges, [1.5, 2.5])
    assert axes[0].xaxis_inverted()


def test_crossings_and_optimum_are_marked(axes):
    curve = Curve([[0, 1, 0], [0, 0, 1]], [1.0, -0.5])
    plot_error_curve(curve, np.linspace(-1.9, 1.2, 20), axes[0])
    crossings = axes[0].get_lines()[2]
    assert crossings.get_xdata().size == 2
    assert [text.get_text() for text in axes[0].texts].count("no optimum") == 1
