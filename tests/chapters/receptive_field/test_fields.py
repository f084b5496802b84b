"""The exact law on powers of two, its limit, and receptive fields of every regime."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.propagation import propagate
from chapters.receptive_field import fields as study
from chapters.receptive_field.dilated import field, stepped_dilations
from chapters.receptive_field.fields import doubling


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


DEPTHS = study.doublings(4096)


@pytest.mark.parametrize("name", list(study.regimes()))
@pytest.mark.parametrize("n_layers", [8, 32])
def test_cumulants_are_those_of_the_whole_law(name, n_layers):
    layers = study.regimes()[name](n_layers)
    added = study.size(layers)
    summed = study.moments(*study.law(layers, study.width_for(added)))
    np.testing.assert_allclose(added, summed, atol=1e-8)


@given(st.floats(0.05, 0.5), st.floats(0.1, 4.0), st.floats(0.05, 0.95))
def test_exponents_do_not_depend_on_the_weights(jump, rate, stay):
    found = {name: study.exponents(DEPTHS[:5], study.sizes(make, DEPTHS[:5])) for name, make in
             study.regimes(jump, rate, stay).items()}  # fmt: skip
    assert found["ε ∝ 1/L"]["deviation"] == pytest.approx(0, abs=1e-9)
    for name in ("fixed ε", "repeated blocks", "causal"):
        assert found[name]["deviation"] == pytest.approx(0.5, abs=1e-9)


def test_within_one_network():
    rows = study.traversed(4096, DEPTHS)
    assert study.exponents(DEPTHS, rows)["deviation"] == pytest.approx(0.5)
    assert rows[-1].deviation == pytest.approx(np.sqrt(2))


def test_shapes_of_deep_stacks():
    """−1/N for fixed weights of a quarter; 1/(2a) − 3/N where they shrink."""
    make = study.regimes()
    assert study.size(make["fixed ε"](4096)).excess_kurtosis == pytest.approx(-1 / 4096)
    assert study.size(make["ε ∝ 1/L"](4096)).excess_kurtosis == pytest.approx(0.5 - 3 / 4096)


def test_a_causal_kernel_drifts():
    rows = study.sizes(study.regimes()["causal"], DEPTHS)
    assert [row.mean for row in rows] == [n / 2 for n in DEPTHS]
    assert 0.5 < study.exponents(DEPTHS, rows)["reach"] < 1


def test_doubling_is_the_field_in_units_of_the_largest():
    added = study.size(study.doubling(20, 0.25))
    scaled = field(stepped_dilations(20), 0.25)
    assert added.deviation / 2**19 == pytest.approx(scaled.deviation)
    assert added.excess_kurtosis == pytest.approx(scaled.excess_kurtosis)


def test_thirds_and_trebling_dilations_are_even():
    """Digits −1, 0, 1 in base three, all alike: every position once."""
    layers = [study.symmetric(1 / 3).dilated(3**level) for level in range(4)]
    _, capacity = study.law(layers, 81)
    np.testing.assert_allclose(capacity, 1 / 81, rtol=1e-12)


def test_densities_integrate_to_one():
    layers = study.regimes()["fixed ε"](256)
    of = study.size(layers)
    x, density = study.standardised(*study.law(layers, study.width_for(of)), of)
    assert np.sum(density) / of.deviation == pytest.approx(1, abs=1e-6)
    assert np.sum(density * x**2) / of.deviation == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: study.doublings(31), "deepest: found 31, expected at least 32 layers"),
        (lambda: study.doublings(True), "deepest: found True"),
        (lambda: study.symmetric(0.6), "jump: found 0.6"),
        (lambda: study.doubling(61, 0.1), "n_layers: found 61, expected at most 60"),
        (lambda: study.sizes(study.regimes()["causal"], [0]), "depths: found 0"),
    ],
)
def test_bad_fields_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
