"""Counts of regions in random networks: what the study's own helpers compute, on cases that are known."""

import numpy as np
import pytest

from capcore.complexity import Network, partition_slice
from chapters.linear_regions import region_laws as study

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
