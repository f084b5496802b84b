"""The law of squared gradients, and distances from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.propagation import squared_gradients
from chapters.random_signs import study
from chapters.random_signs.study import dense_layers
from tests.strategies import seeds


@given(seeds, st.integers(2, 4))
def test_the_law_is_the_product_of_squares(seed, n_layers):
    weights = dense_layers(3, n_layers, np.random.default_rng(seed))
    expected = np.linalg.multi_dot([w**2 for w in weights])
    for output in range(3):
        np.testing.assert_allclose(study.law(weights, output), expected[:, output], rtol=1e-12)
    letter = np.linalg.multi_dot([*(w**2 for w in weights[1:]), weights[-1] ** 2])
    np.testing.assert_allclose(study.printed_law(weights), letter[:, 0], rtol=1e-12)


def test_columns_of_length_one_conserve_capacity():
    weights = dense_layers(6, 4, np.random.default_rng(0))
    assert study.law(weights).sum() == pytest.approx(1, abs=1e-14)
    assert study.printed_law(weights).sum() == pytest.approx(1, abs=1e-14)  # so that totals do not tell them apart


def test_single_networks_are_as_far_as_squares_of_normal_variables():
    """Wide layers: ½ E|χ² − 1| = 0.484 for a level law, and fewer inputs make it a little less."""
    rng = np.random.default_rng(0)
    weights = dense_layers(64, 3, rng)
    found = study.distances(squared_gradients(weights, 0, 500, rng), study.law(weights))
    assert np.median(found) == pytest.approx(0.484, abs=0.02)


def test_more_outputs_are_closer_and_all_of_them_not_exact():
    rng = np.random.default_rng(1)
    found = study.summed_outputs(dense_layers(8, 3, rng), [1, 2, 4, 8], 60, rng)
    values = list(found.values())
    assert values == sorted(values, reverse=True) and values[-1] > 0.05


def test_one_layer_follows_the_law_at_once():
    """Nothing to interfere: one matrix below an orthonormal one, all outputs summed, is not random at all."""
    rng = np.random.default_rng(2)
    found = study.summed_outputs([np.eye(4)], [4], 3, rng)
    assert found[4] == pytest.approx(0, abs=1e-12)


def test_depth_and_frequency():
    rng = np.random.default_rng(0)
    found = study.by_depth(8, [2, 4], ["identity", "relu"], 3, 400, rng)
    assert {name: values.shape for name, values in found.items()} == {"identity": (2, 3), "relu": (2, 3)}
    assert found["relu"].mean() < found["identity"].mean()
    slow, fast = study.by_frequency(dense_layers(8, 3, rng), [0.1, 30.0], 4_000, rng)
    assert fast < 0.05 < slow


def test_what_chance_leaves_grows_with_depth_and_falls_with_draws():
    few, many = (study.chance_by_depth(8, [2, 16], 8, n, np.random.default_rng(3)) for n in (200, 3_200))
    assert few.shape == (2, 8)
    assert np.median(few[1]) > 1.5 * np.median(few[0])  # heavy tails: each layer multiplies
    assert np.median(few[0]) == pytest.approx(4 * np.median(many[0]), rel=0.5)  # 1/√draws; medians of 8


def test_a_network_without_gradient_is_as_far_as_can_be():
    assert study.distances(np.zeros((2, 3)), np.ones(3)).tolist() == [1, 1]
