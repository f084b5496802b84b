"""Tangents, their networks and counts; routes to the Fisher–Rao norm; and the factorial."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from chapters.effective_complexity import experiment, factorial
from chapters.effective_complexity.images import PLACES, images, midpoints, shuffled_features
from chapters.effective_complexity.study import explicit, parameter_vector, rescaled_units
from chapters.effective_complexity.tangent_networks import (
    segment_knots,
    segment_pieces,
    tangent_network,
    uniform_tangents,
)
from chapters.effective_complexity.tangents import curve_complexity, one_layer_regions, restricted, tangent_activation
from chapters.shared.complexity import Network, curve_regions, partition_slice, random_network, segments
from chapters.shared.complexity import fisher_norm as fr
from tests.chapters.shared.complexity.test_networks import case_fisher_norm, options
from tests.strategies import seeds

Z = np.linspace(-12, 12, 24_001)


CURVE = {"tanh": np.tanh, "logistic": expit}


tolerances = st.floats(1e-4, 0.2)


@given(st.sampled_from(sorted(CURVE)), tolerances)
def test_the_error_is_within_the_tolerance_and_equal_to_it_at_knots(name, error):
    phi = tangent_activation(name, error)
    assert np.abs(phi.value(Z) - CURVE[name](Z)).max() <= error * (1 + 1e-9)
    kinks = np.array(phi.kinks)
    at = np.abs(phi.value(kinks) - CURVE[name](kinks))
    np.testing.assert_allclose(at[1:-1], error, rtol=1e-7)  # the outermost meet the asymptotes, perhaps closer
    assert np.all(at[[0, -1]] <= error * (1 + 1e-9))


@given(st.sampled_from(sorted(CURVE)), tolerances)
def test_pieces_are_tangents_and_meet(name, error):
    phi = tangent_activation(name, error)
    edges = np.array(phi.kinks)
    slopes, intercepts = np.array(phi.pieces).T
    np.testing.assert_allclose(slopes[1:] * edges + intercepts[1:], slopes[:-1] * edges + intercepts[:-1], atol=1e-10)
    gaps = slopes[:, None] * Z + intercepts[:, None] - CURVE[name](Z)
    upper = gaps[len(slopes) // 2 :, Z >= 0]  # concave there: tangents lie above, and touch
    assert upper.min() > -1e-12 and np.all(upper.min(axis=1) < 1e-5)  # on the grid; the asymptote at 12
    middle = phi.pieces[len(slopes) // 2]
    assert middle == ((1.0, 0.0) if name == "tanh" else (0.25, 0.5))


@pytest.mark.parametrize("error", [0.1, 0.03, 0.01])
def test_no_fewer_tangents_would_do(error):
    """Every start of a tangent within reach of the last knot gives a next knot no farther than the greedy one."""
    phi = tangent_activation("tanh", error)
    z = np.linspace(0, 6, 4_001)
    reach, knots = 0.0, np.array([k for k in phi.kinks if k > 0])
    for knot in knots[:-1]:
        starts = np.linspace(reach, 5, 2_001)
        gaps = np.tanh(starts)[:, None] + (1 - np.tanh(starts)[:, None] ** 2) * (z - starts[:, None]) - np.tanh(z)
        fits = gaps[:, np.searchsorted(z, reach)] <= error + 1e-3 if reach else starts == 0.0
        ends = [z[np.flatnonzero((row <= error) & (z >= reach))[-1]] for row in gaps[fits]]
        assert max(ends) <= knot + 0.02
        reach = knot


@given(st.floats(-4, 4), st.floats(-4, 4))
def test_a_restricted_activation_is_the_same_inside(low, high):
    low, high = sorted((low, high))
    phi = tangent_activation("tanh", 0.02)
    less, z = restricted(phi, low, high), np.linspace(low, high, 101)
    np.testing.assert_allclose(less.value(z), phi.value(z), atol=1e-12)
    assert len(less.pieces) == len(less.kinks) + 1 == 1 + sum(low < k < high for k in phi.kinks)


layers = st.lists(st.integers(1, 5), min_size=1, max_size=6).map(np.array)


@given(st.integers(1, 30), st.integers(1, 6))
def test_zaslavsky(m, d):
    assert one_layer_regions(np.full(m, 2), d) == sum(math.comb(m, s) for s in range(d + 1))


@given(layers)
def test_one_input_and_many_inputs(pieces):
    assert one_layer_regions(pieces, 1) == 1 + np.sum(pieces - 1)
    assert one_layer_regions(pieces, len(pieces)) == np.prod(pieces)  # every combination of pieces
    assert curve_complexity([pieces], 1) == pytest.approx(math.log(one_layer_regions(pieces, 1)))


def test_parallel_families_in_the_plane():
    """Pieces of tangents as ReLUs with parallel kinks, partitioned polygon by polygon."""
    rng, pieces = np.random.default_rng(0), np.array([2, 3, 5])
    directions = np.repeat(rng.normal(size=(2, 3)), pieces - 1, axis=1)
    m = directions.shape[1]
    network = Network([directions, rng.normal(size=(m, 1))], [rng.normal(size=m), [0.0]])
    square = 400.0 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    assert partition_slice(network, [0.0, 0.0], [1.0, 0.0], [0.0, 1.0], square).n_patterns == one_layer_regions(
        pieces, 2
    )


def test_sign_vectors_in_space():
    rng = np.random.default_rng(1)
    network = random_network([3, 6, 1], rng, bias_scale=0.4, activation="hard_tanh")
    points = rng.normal(size=(400_000, 3)) * np.exp(rng.normal(size=(400_000, 1)))
    patterns = network.phi.piece(network.pre_activations(points)[0])
    result = len(np.unique(patterns @ 3 ** np.arange(6)))
    exact = one_layer_regions(np.full(6, 3), 3)
    assert 0.7 * exact < result <= exact  # small regions are missed, none is found that is not there


def case(seed, activation="tanh", widths=(3, 6, 5, 2)):
    rng = np.random.default_rng(seed)
    return random_network(widths, rng, 2.0, 0.5, activation), rng


@given(seeds, st.sampled_from(["tanh", "logistic"]), st.sampled_from([0.3, 0.05]))
def test_the_error_is_kept(seed, activation, error):
    network, rng = case(seed, activation)
    inputs = rng.normal(size=(60, 3))
    tangents = tangent_network(network, inputs, error)
    assert np.mean(np.abs(tangents(inputs) - network(inputs))) <= error
    finer = tangent_network(network, inputs, error / 5)  # not always more pieces: knots may fall outside the range
    assert np.mean(np.abs(finer(inputs) - network(inputs))) <= error / 5
    assert uniform_tangents(network, error / 5).complexity > uniform_tangents(network, error).complexity
    for layer, z in zip(tangents.activations, network.pre_activations(inputs), strict=False):
        for phi, values in zip(layer, z.T, strict=True):
            assert all(values.min() < kink < values.max() for kink in phi.kinks)  # nothing the points do not need


@given(seeds, st.sampled_from(["tanh", "logistic"]))
def test_pieces_on_a_segment_are_those_of_a_fine_grid(seed, activation):
    network, rng = case(seed, activation)
    result, (start, end) = uniform_tangents(network, 0.1), rng.normal(size=(2, 3)) * 2
    knots = np.sort(np.concatenate(segment_knots(result, start, end)))
    t = np.linspace(0, 1, 20_001)
    value, patterns = start + t[:, None] * (end - start), []
    for i in range(2):
        z = result.hidden(i, value)
        patterns.append(np.stack([phi.piece(z[:, j]) for j, phi in enumerate(result.activations[i])], axis=1))
        value = result.apply(i, z)
    changes = np.flatnonzero(np.any(np.diff(np.concatenate(patterns, axis=1), axis=0), axis=1))
    assert len(changes) <= len(knots) == segment_pieces(result, [start], [end])[0] - 1
    lone = np.diff(np.r_[-1, knots, 2]).clip(max=1)
    lone = np.minimum(lone[1:], lone[:-1]) > 1e-4  # two knots within a step of the grid are one change
    assert {int(np.floor(k * 20_000)) for k in knots[lone]} <= set(changes.tolist())
    logits = result(start + t[:, None] * (end - start))
    bends = np.flatnonzero(np.abs(np.diff(logits, 2, axis=0)).max(axis=1) > 1e-10)
    assert {int(b) for b in bends} <= {c + s for c in changes for s in (-1, 0)}  # affine in between


@pytest.mark.parametrize("activation", ["relu", "hard_tanh", "leaky_relu"])
def test_it_counts_what_the_exact_tracer_counts(activation):
    for seed in range(20):
        network, rng = case(seed, activation)
        starts, ends = rng.normal(size=(2, 5, 3))
        expected = curve_regions(network, segments(starts, ends)).patterns
        np.testing.assert_array_equal(segment_pieces(uniform_tangents(network), starts, ends), expected)


@given(seeds, st.sampled_from([(1, 4, 1), (2, 5, 3, 1), (3, 6, 5, 4, 2)]))
def test_the_complexity_bounds_pieces_on_a_line(seed, widths):
    network, rng = case(seed, "tanh", widths)
    result, ends = uniform_tangents(network, 0.03), 10 * rng.normal(size=(2, 1, widths[0]))
    assert np.log(segment_pieces(result, *ends)[0]) <= result.complexity / widths[0] + 1e-12


def test_a_unit_that_no_output_reads_gets_the_coarsest_tangents():
    network, rng = case(0, "tanh", (3, 4, 1))
    network.weights[1][2] = 0
    inputs = 3 * rng.normal(size=(200, 3))
    assert tangent_network(network, inputs, 1e-3).pieces[0][2] == 3


@given(seeds, options, st.sampled_from(["relu", "tanh", "logistic"]), st.sampled_from([0.0, 0.5]))
def test_one_pass_is_the_explicit_matrix(seed, option, activation, bias_scale):
    args = (*case_fisher_norm(seed, option[1], activation, bias_scale), *option)
    assert fr.fisher_rao(*args) == pytest.approx(explicit(*args), rel=1e-10, abs=1e-14)


@given(seeds, options, st.sampled_from([0.0, 0.5]))
def test_rescaling_units_changes_nothing(seed, option, bias_scale):
    network, inputs, targets = case_fisher_norm(seed, option[1], bias_scale=bias_scale)
    rng = np.random.default_rng(seed)
    other = rescaled_units(network, [rng.uniform(0.1, 10, m) for m in network.widths[1:-1]])
    np.testing.assert_allclose(other(inputs), network(inputs), atol=1e-12)
    rest = (inputs, targets, *option)
    assert fr.fisher_rao(other, *rest) == pytest.approx(fr.fisher_rao(network, *rest), rel=1e-9, abs=1e-14)
    assert np.linalg.norm(parameter_vector(other)) != pytest.approx(np.linalg.norm(parameter_vector(network)))


def test_points_off_the_data():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(400, 2)) @ [[1.0, 0.9], [0.0, 0.4]]
    shuffled = shuffled_features(inputs, 4_000, rng)
    for j in range(2):
        assert set(shuffled[:, j]) <= set(inputs[:, j])
    assert np.corrcoef(inputs.T)[0, 1] > 0.85
    assert abs(np.corrcoef(shuffled.T)[0, 1]) < 0.08  # five standard errors of 4,000 pairs


def test_midpoints_lie_between_points_of_different_labels():
    inputs, labels = np.arange(6.0)[:, None] ** 2, np.array([0, 0, 0, 1, 1, 1])
    between = {(a + b) / 2 for a in inputs[:3, 0] for b in inputs[3:, 0]}
    points = midpoints(inputs, labels, 200, np.random.default_rng(0))
    assert set(points[:, 0]) == between


def test_the_points_are_what_they_are_said_to_be():
    data = images()
    assert data.x.shape == (600, 64) and data.x_test.shape == (360, 64)
    assert {name: len(points) for name, points in data.places.items()} == dict.fromkeys(PLACES, 360)
    rows = {tuple(row) for row in data.x}
    assert all(tuple(row) in rows for row in data.places["training"])
    assert not any(tuple(row) in rows for row in data.places["pixels"])
    labels = {tuple(row): y for row, y in zip(data.x_test, data.y_test, strict=True)}
    assert all(labels[tuple(a)] != labels[tuple(b)] for a, b in zip(data.starts, data.ends, strict=True))
    moved = experiment.shuffled(data.y, 3)
    assert sorted(moved) == sorted(data.y) and 0.05 < np.mean(moved == data.y) < 0.15  # one in ten by chance


def test_runs_of_one_seed_start_alike():
    data = images()
    networks, targets = experiment.trained(data, [4, 4], ["right", "shuffled"], n_epochs=1, snapshots=[0])
    np.testing.assert_array_equal(networks[0][0].weights[0], networks[0][1].weights[0])
    assert not np.array_equal(networks[1][0].weights[0], networks[1][1].weights[0])
    np.testing.assert_array_equal(targets[0], data.y)


@given(seeds, st.integers(2, 4))
def test_shares_add_up(seed, n_seeds):
    rng = np.random.default_rng(seed)
    design = factorial.Factorial({"noise": rng.normal(size=(2, 2, 2, 2, n_seeds))})
    assert sum(design.shares()["noise"].values()) == pytest.approx(1)
    assert 0 <= design.structure_share()["noise"] <= 1


def test_effects_are_found_where_they_are_put():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(2, 2, 2, 2, 5))
    y[:, 1] += 4  # size alone
    y[:, :, 1, 1] += 4  # optimisation and data together
    design = factorial.Factorial({"a": y})
    assert [bool(design.moved(factor)) for factor in factorial.FACTORS] == [False, True, True, True]
    shares = design.shares()["a"]
    assert shares["size"] > 0.4 and shares["framework"] < 0.05
    assert design.structure_share()["a"] == pytest.approx(shares["size"], abs=0.05)


def test_the_f_test_keeps_its_level():
    rng = np.random.default_rng(1)
    result = np.mean([factorial.p_value(rng.normal(size=(2, 2, 2, 2, 3)), 1) < 0.05 for _ in range(800)])
    assert result == pytest.approx(0.05, abs=0.03)  # four standard errors
