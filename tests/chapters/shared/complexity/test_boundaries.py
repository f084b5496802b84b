"""Boundary per volume: counted on lines, measured on polygons, known for one plane."""

import numpy as np
import pytest

from chapters.shared.complexity import Network, boundary_density, crofton_factor, partition_slice, random_network


def test_factors():
    found = [crofton_factor(d) for d in (1, 2, 3)]
    np.testing.assert_allclose(found, [1, np.pi / 2, 2], rtol=1e-13)
    directions = np.random.default_rng(0).normal(size=(200_000, 7))
    cosine = np.abs(directions[:, 0]) / np.linalg.norm(directions, axis=1)
    assert crofton_factor(7) == pytest.approx(1 / cosine.mean(), rel=4 * cosine.std() / cosine.mean() / 200_000**0.5)


@pytest.mark.parametrize("seed", range(3))
def test_lines_find_the_length_of_the_polygons_sides(seed):
    rng = np.random.default_rng(seed)
    network = random_network([2, 10, 8, 1], rng, bias_scale=0.5)
    turn = np.linspace(0, 2 * np.pi, 400, endpoint=False)  # the ring outside the 400-gon is 4e-5 of the disc
    disc = 1.5 * np.column_stack([np.cos(turn), np.sin(turn)])
    found = partition_slice(network, [0.2, 0.1], [1.0, 0.0], [0.0, 1.0], disc)
    counted = boundary_density(network, [0.2, 0.1], 1.5, 4_000, rng)
    assert counted.value == pytest.approx(found.boundary_length / found.areas.sum(), abs=4 * counted.standard_error)


@pytest.mark.parametrize("dim", [1, 2, 3, 9])
def test_a_plane_through_a_ball(dim):
    """The disc's volume over the ball's, whatever the dimension: Γ(d/2 + 1)/(√π Γ((d+1)/2))."""
    from scipy.special import gamma

    weights = np.zeros((dim, 1))
    weights[0] = 3.0
    found = boundary_density(
        Network([weights, [[1.0]]], [[0.0], [0.0]]), np.zeros(dim), 2.0, 4_000, np.random.default_rng(0)
    )
    exact = gamma(dim / 2 + 1) / (np.pi**0.5 * gamma((dim + 1) / 2)) / 2
    assert found.value == pytest.approx(exact, abs=4 * found.standard_error + 1e-12)  # in one dimension no scatter


def test_bad_input_is_refused():
    network, rng = random_network([2, 3, 1], np.random.default_rng(0)), np.random.default_rng(0)
    with pytest.raises(ValueError, match="radius: found -1"):
        boundary_density(network, [0.0, 0.0], -1.0, 10, rng)
    with pytest.raises(ValueError, match="n_lines: found 1"):
        boundary_density(network, [0.0, 0.0], 1.0, 1, rng)
    with pytest.raises(ValueError, match=r"inputs: found shape \(10, 3\)"):
        boundary_density(network, [0.0, 0.0, 0.0], 1.0, 10, rng)
