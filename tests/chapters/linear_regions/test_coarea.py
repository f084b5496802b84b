"""Boundary density by two routes: crossings of random lines, and the coarea formula, which follows no line."""

import numpy as np
import pytest

from capcore.complexity import Network, boundary_density, random_network
from chapters.linear_regions.region_laws import ball_points


def coarea_density(network, points, window=0.02):
    """Boundary per volume around points (n, d) of that volume, and its standard error.

    It is Σ over units and kinks of the mean of ‖∇z‖ δ(z − kink), and the delta function is a window of width 2h over
    2h, where h is ``window`` standard deviations of the unit's pre-activation. The bias is of order h².
    """
    levels = network.pre_activations(points)[:-1]
    found = np.zeros(len(points))
    for layer, z in enumerate(levels):
        half = np.maximum(window * z.std(axis=0), 1e-12)
        below = Network(network.weights[: layer + 1], network.biases[: layer + 1], network.activation, network.slope)
        for kink in network.phi.kinks:
            close = np.abs(z - kink) < half
            rows = np.flatnonzero(close.any(axis=1))
            if rows.size:
                steepness = np.linalg.norm(below.jacobian(points[rows]), axis=2)
                found[rows] += (close[rows] * steepness / (2 * half)).sum(axis=1)
    return float(found.mean()), float(found.std(ddof=1) / len(found) ** 0.5)


def test_one_unit_draws_a_diameter():
    """A single unit on the plane: the boundary is a diameter, 2 in an area of π."""
    line = Network([np.eye(2)[:, :1], [[1.0]]], [[0.0], [0.0]])
    mean, error = coarea_density(line, ball_points(np.zeros(2), 1.0, 20_000, np.random.default_rng(0)))
    assert abs(mean - 2 / np.pi) < 4 * error


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
