"""Tangents of curved activations, and bounds on numbers of regions: Zaslavsky's formula, and brute force."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from chapters.effective_complexity.tangents import (
    COARSEST,
    curve_complexity,
    one_layer_regions,
    restricted,
    tangent_activation,
)
from chapters.shared.complexity import Network, partition_slice, random_network

Z = np.linspace(-12, 12, 24_001)
CURVE = {"tanh": np.tanh, "logistic": expit, "sigmoid": expit}
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


def test_without_the_tangent_at_zero_neighbours_are_parallel():
    slope = 1 - np.tanh(0.3) ** 2
    assert slope == 1 - np.tanh(-0.3) ** 2  # tangents at ±0.3 have the same slope, and no knot


def test_a_coarse_tolerance_gives_hard_tanh():
    for error in (COARSEST, 1.0, 10.0):
        phi = tangent_activation("tanh", error)
        np.testing.assert_allclose(phi.value(Z), np.clip(Z, -1, 1), atol=1e-15)


@given(st.floats(-4, 4), st.floats(-4, 4))
def test_a_restricted_activation_is_the_same_inside(low, high):
    low, high = sorted((low, high))
    phi = tangent_activation("tanh", 0.02)
    less, z = restricted(phi, low, high), np.linspace(low, high, 101)
    np.testing.assert_allclose(less.value(z), phi.value(z), atol=1e-12)
    assert len(less.pieces) == len(less.kinks) + 1 == 1 + sum(low < k < high for k in phi.kinks)


@pytest.mark.parametrize(
    ("message", "name", "error"),
    [
        ("activation: found 'relu', expected one of", "relu", 0.1),
        ("error: found 0, expected at least 1e-9", "tanh", 0.0),
        ("error: found -0.1", "tanh", -0.1),
        ("error: found nan", "tanh", np.nan),
    ],
)
def test_bad_input_is_refused(message, name, error):
    with pytest.raises(ValueError, match=message):
        tangent_activation(name, error)


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
    found = len(np.unique(patterns @ 3 ** np.arange(6)))
    exact = one_layer_regions(np.full(6, 3), 3)
    assert 0.7 * exact < found <= exact  # small regions are missed, none is found that is not there


@pytest.mark.parametrize("pieces", [[], [0, 2], [1.5], [[2, 2]]])
def test_bad_input_is_refused_region_bounds(pieces):
    with pytest.raises(ValueError, match=r"pieces\[0\]: found .* expected whole numbers of at least 1"):
        curve_complexity([np.array(pieces)], 2)
    with pytest.raises(ValueError, match="n_inputs: found 0"):
        curve_complexity([np.array([2])], 0)
