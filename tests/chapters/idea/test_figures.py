"""Squares on shadows have the capacities for areas; arrows are a model's that moves; equal errors are equal."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from chapters.idea.figures import plot_equal_error, plot_moves, plot_shadows
from chapters.idea.study import line_model


@pytest.mark.parametrize(("direction", "correlation"), [([2, 1], 0.0), ([1, -1], 0.0), ([-1, 0], 0.4), ([1, 3], -0.6)])
def test_squares(direction, correlation):
    model = line_model(direction, [1, 3], correlation)
    ax = plot_shadows(model, Figure().subplots())
    corners = [patch.get_xy()[:4] for patch in ax.patches]
    areas = [abs(np.linalg.det([square[1] - square[0], square[3] - square[0]])) for square in corners]
    np.testing.assert_allclose(areas, model.space.per_input(), atol=1e-12)


def test_arrows():
    """Two for the moves of the target, and one for the model, which stays where it is when the target moves across."""
    ax = plot_moves(line_model([2, 1], [1, 3], 0.0), Figure().subplots())
    arrows = [text.arrow_patch for text in ax.texts if text.arrow_patch is not None]
    assert len(arrows) == 3


@pytest.mark.parametrize("correlation", [0.0, 0.5, -0.8])
def test_equal_errors(correlation):
    """On the curve the error is the trained model's; the model's line has no point inside it; 𝒦 is across the error."""
    model = line_model([2, 1], [1, 3], correlation)
    ax = plot_equal_error(model, Figure().subplots())
    (curve,) = [line.get_xydata() for line in ax.lines if line.get_linestyle() == "--"]
    (dotted,) = [line.get_xydata() for line in ax.lines if line.get_linestyle() == ":"]
    least = np.diff(dotted, axis=0)[0]
    errors = curve - model.target
    np.testing.assert_allclose(
        np.einsum("ij,jk,ik->i", errors, model.covariance, errors), least @ model.covariance @ least
    )
    assert abs(least @ model.space.basis[:, 0]) < 1e-12
    line = np.outer(np.linspace(-9, 9, 181), model.direction) - model.target
    assert np.einsum("ij,jk,ik->i", line, model.covariance, line).min() > least @ model.covariance @ least - 1e-12
