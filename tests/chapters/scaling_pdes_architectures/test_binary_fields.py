"""The exact law on powers of two against all displacements, and its limit of many layers."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.propagation import propagate
from chapters.scaling_pdes_architectures import fields as study
from chapters.scaling_pdes_architectures.dilated import field, stepped_dilations
from chapters.scaling_pdes_architectures.fields import doubling


@given(st.integers(1, 6), st.floats(0.01, 0.5))
def test_every_sequence_of_digits(n_layers, jump):
    expected = np.zeros(n_layers + 1)
    for digits in product((-1, 0, 1), repeat=n_layers):
        chance = np.prod([jump if digit else 1 - 2 * jump for digit in digits])
        distance = abs(sum(digit * 2**level for level, digit in enumerate(digits)))
        expected += chance * (distance < 2 ** np.arange(n_layers + 1))
    np.testing.assert_allclose(study.within_powers(n_layers, jump), expected, atol=1e-13)


def test_layers_on_positions():
    n = 11
    start = np.zeros(2**13)
    start[2**12] = 1
    capacity = propagate(start, doubling(n, 1 / n)).per_position
    distance = np.abs(np.arange(2**13) - 2**12)
    expected = [capacity[distance < 2**m].sum() for m in range(n + 1)]
    np.testing.assert_allclose(study.within_powers(n, 1 / n), expected, atol=1e-13)


@pytest.mark.parametrize("rate", [0.2, 1.0, 3.0])
def test_first_order_to_the_limit(rate):
    gaps = [study.limit_gap(n, rate) for n in (1024, 2048, 4096)]
    assert np.log2(gaps[1] / gaps[2]) == pytest.approx(1, abs=0.02)


def test_half_of_the_capacity():
    """u = 1 − ln 2/(2a) of the octaves, to one octave in 4,096."""
    half = study.half_within(study.within_powers(4096, 1 / 4096))
    assert half / 4096 == pytest.approx(1 - np.log(2) / 2, abs=1 / 1024)


def test_a_gaussian_by_octaves():
    deviation = field(stepped_dilations(64), 1 / 64).deviation
    octaves = study.gaussian_octaves(64, deviation)
    assert octaves.sum() == pytest.approx(1) and octaves[-8:].sum() > 0.95


def test_octaves_sum_to_all_of_it():
    octaves = study.octave_capacities(500, 1 / 500)
    assert octaves.sum() == pytest.approx(1, rel=1e-12) and (octaves > 0).all()


def test_impossible_jumps_between_octaves_are_refused():
    with pytest.raises(ValueError, match=r"jump: found 0\.6"):
        study.within_powers(4, 0.6)
    with pytest.raises(ValueError, match="n_layers: found 0"):
        study.within_powers(0, 0.1)
