"""Counts, densities and breakpoints in random networks: known cases, two routes, and expectations against counts."""

import numpy as np
import pytest

from chapters.linear_regions import study
from chapters.linear_regions.study import ball_points, expected_boundary_density, spherical_lengths
from chapters.shared.complexity import (
    Network,
    boundary_density,
    ellipse,
    layer_transitions,
    partition_slice,
    polyline,
    random_network,
    segments,
    trace_curves,
)

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def test_the_grid_shows_a_breakpoint_that_is_missing(monkeypatch):
    assert study.grid_mismatches(np.random.default_rng(0), 1, 5_001)[0] == 0
    real = study.curve_regions

    def one_less(network, curves):
        found = real(network, curves)
        object.__setattr__(found, "t", found.t[1:])
        return found

    monkeypatch.setattr(study, "curve_regions", one_less)
    wrong, total = study.grid_mismatches(np.random.default_rng(0), 1, 5_001)
    assert 0 < wrong <= 6 < total


def test_polygons_met_by_a_chord_of_four_squares():
    found = partition_slice(Network([np.eye(2), [[1.0], [1.0]]], [[0.0, 0.0], [0.0]]), [0, 0], [1, 0], [0, 1], SQUARE)
    chords = np.array([
        [[-0.5, -0.5], [-0.1, -0.2]], [[-0.5, 0.4], [0.5, 0.6]], [[-0.5, -0.4], [0.5, 0.6]], [[2.0, 2.0], [3.0, 3.0]],
    ])  # fmt: skip
    met = [study.polygons_met(found, a, b) for a, b in chords]
    assert met == [1, 2, 3, 0]


def test_more_networks_leave_the_first_as_they_are():
    few, many = (study.random_networks([2, 3, 1], n, 0.5, np.random.default_rng(0)) for n in (2, 4))
    np.testing.assert_array_equal(few[1].weights[0], many[1].weights[0])


def test_one_layer_on_a_line_is_a_count_of_roots():
    """One input: every unit switches once, at −b/w, so that long segments meet all of them."""
    networks = study.random_networks([1, 20, 1], 30, 0.5, np.random.default_rng(1))
    found, angles = study.regions_by_length(networks, [0.1, 1e4], 0.5, 10, np.random.default_rng(2))
    assert found[1].mean() == pytest.approx(20, abs=0.1) and angles[1].mean() == pytest.approx(20, abs=0.1)
    assert np.all(found[0] <= found[1])


def test_without_biases_stretching_gains_nothing_and_with_them_it_does():
    rng = np.random.default_rng(3)
    assert study.gained_by_stretching(study.random_networks([3, 8, 8, 1], 3, 0.0, rng), 7.0, 10, rng) == 0
    assert study.gained_by_stretching(study.random_networks([3, 8, 8, 1], 3, 0.5, rng), 7.0, 10, rng) > 0


def test_laws_hold_and_a_wrong_bias_scale_is_noticed():
    networks = study.random_networks([4, 16, 16, 1], 60, 0.5, np.random.default_rng(4))
    for scale, holds in ((0.5, True), (1.5, False)):
        counted, expected = study.angle_gaps(networks, scale, 20, np.random.default_rng(5))
        short = study.prefactor_counts(networks, scale, 0.25, 20, np.random.default_rng(6))
        volume = np.subtract(*study.densities(networks, scale, 20, np.random.default_rng(7), 20))
        for gaps in (counted - expected, short[:, 0] - short[:, 1], volume):
            assert np.all(study.in_standard_errors(gaps) < 4) == holds


def test_angles_without_biases():
    networks = study.random_networks([4, 64, 1], 20, 0.0, np.random.default_rng(8))
    counted, expected = study.first_angle_counts(networks, 50, np.random.default_rng(9)).T
    assert study.in_standard_errors(counted - expected) < 4
    assert expected.mean() == pytest.approx(32, rel=0.1)  # normal points are at right angles on average


def test_silent_boundaries_need_a_layer_above():
    assert 0.02 < study.silent_share(np.random.default_rng(0), 20) < 0.3


def test_an_exponent_of_nothing_is_refused():
    with pytest.raises(ValueError, match="y: found 0 and 3, expected counts above 0"):
        study.exponent([1, 2], [0.0, 3.0])


def test_by_depth_the_count_grows_more_slowly_than_in_proportion():
    """Widths and segments of the chapter, other random numbers: one repetition scatters by 0.02 around 0.90."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng([1, seed])
        shapes = [[8, *[32] * n_layers, 1] for n_layers in (1, 8)]
        networks = [study.random_networks(shape, 60, 0.5, rng) for shape in shapes]
        means = [study.regions_by_length(some, [1.0], 0.5, 20, rng)[0].mean() for some in networks]
        found.append(study.exponent([1, 8], means))
    assert np.mean(found) == pytest.approx(0.90, abs=0.03)


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


@pytest.mark.parametrize(("name", "dim"), [("relu", 2), ("relu", 5), ("hard_tanh", 3)])
def test_the_expectation_over_biases_is_what_is_counted(name, dim):
    counted, expected = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        network = random_network([dim, 8, 8, 1], rng, bias_scale=0.7, activation=name)
        counted.append(boundary_density(network, np.zeros(dim), 1.0, 100, rng).value)
        inputs = rng.normal(size=(100, dim))
        inputs *= rng.random((100, 1)) ** (1 / dim) / np.linalg.norm(inputs, axis=1, keepdims=True)  # in the ball
        expected.append(expected_boundary_density(network, inputs, 0.7).sum(axis=1).mean())
    gap = np.array(counted) - expected
    assert abs(gap.mean()) < 4 * gap.std() / 150**0.5
    assert gap.std() / 150**0.5 < 0.04 * np.mean(counted)  # so that 15 % would be found


@pytest.mark.parametrize("bias_scale", [0.0, 0.8])
def test_breakpoints_are_the_angle_that_layers_turn_through(bias_scale):
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 4))
    gaps = []
    for _ in range(600):
        course = trace_curves(random_network([4, 8, 8, 1], rng, 2**0.5, bias_scale), segments(a, b))
        angles = spherical_lengths(course, 2**0.5, bias_scale)[:, 0]
        gaps.append(layer_transitions(course)[:, 0] - 8 * angles / np.pi)
    gaps = np.array(gaps)
    assert np.all(np.abs(gaps.mean(axis=0)) < 4 * gaps.std(axis=0) / 600**0.5)
    augmented = [np.r_[2**0.5 / 2 * x, bias_scale] for x in (a, b)]
    cosine = augmented[0] @ augmented[1] / np.linalg.norm(augmented[0]) / np.linalg.norm(augmented[1])
    assert angles[0] == pytest.approx(np.arccos(cosine))  # the first layer sees one straight line


def test_angles_of_a_polyline_add_up_and_ellipses_are_refused():
    rng = np.random.default_rng(0)
    network, (a, b) = random_network([3, 6, 6, 1], rng, bias_scale=0.2), rng.normal(size=(2, 3))
    whole = spherical_lengths(trace_curves(network, segments(a, b)), 2**0.5, 0.2)[:, 0]
    parts = spherical_lengths(trace_curves(network, polyline([a, 0.4 * a + 0.6 * b, b])), 2**0.5, 0.2)
    np.testing.assert_allclose(parts.sum(axis=1), whole, atol=1e-12)
    with pytest.raises(ValueError, match="curves: found an ellipse"):
        spherical_lengths(trace_curves(network, ellipse(a, b, a - b)), 2**0.5, 0.2)


def test_bad_input_is_refused():
    network = random_network([2, 3, 1], np.random.default_rng(0))
    with pytest.raises(ValueError, match="bias_scale: found 0, expected more than 0"):
        expected_boundary_density(network, [[0.0, 0.0]], 0.0)
    smooth = random_network([2, 3, 1], np.random.default_rng(0), activation="tanh")
    with pytest.raises(ValueError, match="found 'tanh'"):
        expected_boundary_density(smooth, [[0.0, 0.0]], 1.0)
