"""Bounds on the number of regions: Zaslavsky's formula, and brute force in the plane and in space."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.complexity import Network, partition_slice, random_network
from chapters.effective_complexity.region_bounds import curve_complexity, one_layer_regions, tighter_complexity

layers = st.lists(st.integers(1, 5), min_size=1, max_size=6).map(np.array)


@given(st.integers(1, 30), st.integers(1, 6))
def test_zaslavsky(m, d):
    assert one_layer_regions(np.full(m, 2), d) == sum(math.comb(m, s) for s in range(d + 1))


@given(layers)
def test_one_input_and_many_inputs(pieces):
    assert one_layer_regions(pieces, 1) == 1 + np.sum(pieces - 1)
    assert one_layer_regions(pieces, len(pieces)) == np.prod(pieces)  # every combination of pieces
    assert curve_complexity([pieces], 1) == pytest.approx(math.log(one_layer_regions(pieces, 1)))


@given(st.lists(layers, min_size=1, max_size=3), st.integers(1, 5))
def test_the_formula_is_above_the_tighter_bound(pieces, d):
    assert tighter_complexity(pieces, d) <= curve_complexity(pieces, d) + 1e-12


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
def test_bad_input_is_refused(pieces):
    with pytest.raises(ValueError, match=r"pieces\[0\]: found .* expected whole numbers of at least 1"):
        curve_complexity([np.array(pieces)], 2)
    with pytest.raises(ValueError, match="n_inputs: found 0"):
        curve_complexity([np.array([2])], 0)
