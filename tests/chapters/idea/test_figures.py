"""The areas of the squares on the shadows are the capacities, and an arrow is drawn only for a model that moves."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from chapters.idea.figures import plot_moves, plot_shadows
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
