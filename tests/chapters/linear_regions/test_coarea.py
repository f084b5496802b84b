"""Boundary density by two routes: crossings of random lines, and the coarea formula, which follows no line."""

import numpy as np
import pytest

from capcore.complexity import boundary_density, random_network
from chapters.linear_regions.coarea import ball_points, coarea_density


@pytest.mark.parametrize(("name", "seed"), [("relu", 0), ("relu", 1), ("hard_tanh", 2)])
def test_the_coarea_formula_gives_the_counted_density(name, seed):
    rng = np.random.default_rng(seed)
    net = random_network([5, 10, 8, 1], rng, bias_scale=0.3, activation=name)
    counted = boundary_density(net, np.ones(5), 2.0, 3_000, rng)
    mean, error = coarea_density(net, ball_points(np.ones(5), 2.0, 20_000, rng))
    assert abs(mean - counted.value) < 4 * np.hypot(error, counted.standard_error)
    assert np.hypot(error, counted.standard_error) < 0.05 * mean  # so that a fifth would be found


def test_points_fill_the_ball():
    found = ball_points(np.ones(3), 2.0, 20_000, np.random.default_rng(0))
    assert np.mean(np.linalg.norm(found - 1, axis=1) < 1) == pytest.approx(1 / 8, abs=0.01)
