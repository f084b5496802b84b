"""Counts of linear regions against roots, grids, angles and the coarea formula, and the stored networks."""

import numpy as np
import pytest
from matplotlib.path import Path

from chapters.kit.stored import stored
from chapters.linear_regions import experiment, plane, study
from chapters.linear_regions.study import ball_points, spherical_lengths
from chapters.shared.complexity import (
    Network,
    boundary_density,
    curve_regions,
    layer_transitions,
    partition_slice,
    random_network,
    segments,
    trace_curves,
)

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def test_the_grid_shows_a_breakpoint_that_is_missing(monkeypatch):
    assert study.grid_mismatches(np.random.default_rng(0), 1, 5_001)[0] == 0
    real = study.curve_regions

    def one_less(network, curves):
        result = real(network, curves)
        return result._replace(t=result.t[1:])

    monkeypatch.setattr(study, "curve_regions", one_less)
    wrong, total = study.grid_mismatches(np.random.default_rng(0), 1, 5_001)
    assert 0 < wrong <= 6 < total


def test_polygons_met_by_a_chord_of_four_squares():
    partition = partition_slice(
        Network([np.eye(2), [[1.0], [1.0]]], [[0.0, 0.0], [0.0]]), [0, 0], [1, 0], [0, 1], SQUARE
    )
    chords = np.array([
        [[-0.5, -0.5], [-0.1, -0.2]], [[-0.5, 0.4], [0.5, 0.6]], [[-0.5, -0.4], [0.5, 0.6]], [[2.0, 2.0], [3.0, 3.0]],
    ])  # fmt: skip
    met = [study.polygons_met(partition, a, b) for a, b in chords]
    assert met == [1, 2, 3, 0]


def test_one_layer_on_a_line_is_a_count_of_roots():
    """One input: every unit switches once, at −b/w, so that long segments meet all of them."""
    networks = study.random_networks([1, 20, 1], 30, 0.5, np.random.default_rng(1))
    result, angles = study.regions_by_length(networks, [0.1, 1e4], 0.5, 10, np.random.default_rng(2))
    assert result[1].mean() == pytest.approx(20, abs=0.1) and angles[1].mean() == pytest.approx(20, abs=0.1)
    assert np.all(result[0] <= result[1])


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


def coarea_density(network, points, window=0.02):
    """Boundary per volume around points (n, d) of that volume, and its standard error.

    It is Σ over units and kinks of the mean of ‖∇z‖ δ(z − kink), and the delta function is a window of width 2h over
    2h, where h is ``window`` standard deviations of the unit's pre-activation. The bias is of order h².
    """
    levels = network.pre_activations(points)[:-1]
    result = np.zeros(len(points))
    for layer, z in enumerate(levels):
        half = np.maximum(window * z.std(axis=0), 1e-12)
        below = Network(network.weights[: layer + 1], network.biases[: layer + 1], network.activation)
        for kink in network.phi.kinks:
            close = np.abs(z - kink) < half
            rows = np.flatnonzero(close.any(axis=1))
            if rows.size:
                steepness = np.linalg.norm(below.jacobian(points[rows]), axis=2)
                result[rows] += (close[rows] * steepness / (2 * half)).sum(axis=1)
    return float(result.mean()), float(result.std(ddof=1) / len(result) ** 0.5)


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


LAST = len(plane.SETTINGS["epochs"]) - 1


@pytest.fixture(scope="module")
def values():
    return stored("plane_networks")["values"]


def test_on_the_plane_it_is_the_network(rng):
    network = random_network([5, 7, 6, 3], rng, bias_scale=0.3)
    directions, places = rng.normal(size=(3, 5)), rng.normal(size=(20, 2))
    result = plane.on_plane(network, directions)(places)
    np.testing.assert_allclose(result, network(directions[0] + places @ directions[1:]), atol=1e-12)


def test_packing_rounds_by_half_a_step_and_once(rng):
    network = random_network([2, 7, 6, 3], rng, bias_scale=0.3)
    content = plane.packed(network)
    again = plane.unpacked(content)
    assert plane.packed(again) == content
    for layer, scale in enumerate(content["scales"]):
        for given, one in ((network.weights, again.weights), (network.biases, again.biases)):
            assert np.abs(given[layer] - one[layer]).max() <= 0.5001 * scale
        assert scale <= 1.0001 * max(np.abs(network.weights[layer]).max(), np.abs(network.biases[layer]).max()) / 32767


@pytest.mark.parametrize(("kind", "step"), [("right", 0), ("shuffled", LAST)])
def test_polygons_fill_the_square_once_and_are_as_many_as_stored(values, rng, kind, step):
    of_kind, half = values["kinds"][kind], values["half"]
    result = plane.cut(plane.unpacked(of_kind["networks"][step]), half)
    assert result.n_patterns == of_kind["polygons"][step]
    assert result.areas.sum() == pytest.approx((2 * half) ** 2, rel=1e-9)
    points = rng.uniform(-half, half, (200, 2))
    np.testing.assert_array_equal(sum(Path(polygon).contains_points(points) for polygon in result.polygons), 1)


def test_rounded_weights_leave_the_regions_of_the_whole_network(values):
    directions, places = experiment.plane_through(experiment.three_images())
    start = experiment.start(plane.SETTINGS["seed"])
    whole = experiment.slice_of(start, directions, places, plane.SETTINGS["margin"])
    assert whole.outline.max() == pytest.approx(values["half"], rel=1e-5)
    for of_kind in values["kinds"].values():
        assert of_kind["polygons"][0] == pytest.approx(whole.n_patterns, rel=0.01)
        stored_start, now = plane.unpacked(of_kind["networks"][0]), plane.on_plane(start, directions)
        assert np.abs(stored_start(places) - now(places)).max() < 1e-3 * np.ptp(now(places))
    np.testing.assert_allclose([image[1:] for image in values["images"]], places, atol=1e-6)


def test_curves_join_images_of_different_classes():
    at = experiment.setting()
    assert len(at.lines) == 100 and len(at.circles) == 30
    where = {image.tobytes(): label for image, label in zip(at.x, at.y, strict=True)}
    starts = at.lines.coefficients[:, 0]
    assert all(start.tobytes() in where for start in starts)
    assert all(np.abs(at.x - end).sum(axis=1).min() < 1e-9 for end in at.lines.coefficients.sum(axis=1))


def test_shuffled_labels_are_the_same_labels_in_another_order():
    right, shuffled = (experiment.labels(kind, 0) for kind in experiment.LABELS)
    assert np.mean(right == shuffled) < 0.2
    np.testing.assert_array_equal(np.sort(right), np.sort(shuffled))
    assert np.any(experiment.labels("shuffled", 1) != shuffled)


def test_invisible_units_are_invisible_and_counted():
    network = experiment.start(0)
    padded = experiment.with_invisible_units(network, 96, 1e-4, np.random.default_rng(0))
    at = experiment.setting()
    t = np.linspace(0, 1, 21)
    inputs = np.concatenate([at.lines.points(np.full(21, i), t) for i in range(100)])
    assert np.abs(padded(inputs) - network(inputs)).max() <= 1.0001e-4 * np.ptp(network(inputs))
    assert padded.n_hidden == network.n_hidden + 97
    more, fewer = (curve_regions(net, at.lines).linear.mean() for net in (padded, network))
    assert more > 1.5 * fewer


def test_the_plane_holds_its_three_images():
    images = experiment.three_images()
    plane, places = experiment.plane_through(images)
    np.testing.assert_allclose(plane[0] + places @ plane[1:], images, atol=1e-12)
    np.testing.assert_allclose(plane[1:] @ plane[1:].T, np.eye(2), atol=1e-12)
    result = experiment.slice_of(experiment.start(0), plane, places)
    assert np.all(np.abs(places) < result.outline.max())
