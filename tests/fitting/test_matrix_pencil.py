"""The matrix pencil: poles of sums of exponentials, real, complex and merged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from capcore.fitting.variable_projection import hankel_vectors, pencil_poles, real_poles

POLES = [-0.8, -0.3, 0.2, 0.55, 0.9]


def sequence(poles, weights, n=20):
    return (np.asarray(poles)[None, :] ** np.arange(n)[:, None] @ np.asarray(weights)).real


@given(st.lists(st.sampled_from(POLES), min_size=1, max_size=4, unique=True), st.floats(0.5, 2))
def test_real_poles_are_recovered(poles, weight):
    target = sequence(poles, [weight] * len(poles))
    found = pencil_poles(target, len(poles))
    assert hankel_vectors(target).shape[1] == len(poles)
    assert_allclose(np.sort(found.real), np.sort(poles), atol=1e-7)
    assert_allclose(found.imag, 0, atol=1e-7)
    assert np.all(np.diff(np.abs(found)) <= 1e-7)  # the largest first


def test_complex_pairs_are_recovered():
    pair = 0.9 * np.exp(1j * np.pi / 5 * np.array([1, -1]))
    found = pencil_poles(sequence([*pair, 0.4], [0.5, 0.5, 1.0]), 3)
    assert_allclose(np.sort_complex(found), np.sort_complex([*pair, 0.4]), atol=1e-9)


def test_a_double_pole_is_split_by_rounding_only():
    lags = np.arange(20)
    found = pencil_poles(lags * 0.5 ** (lags - 1.0), 2)
    assert_allclose(found, 0.5, atol=1e-5)  # the square root of rounding


def test_no_more_poles_than_asked_for_or_shown():
    target = sequence([0.5, 0.2], [1, 1])
    assert [pencil_poles(target, count).size for count in (0, 1, 2, 5)] == [0, 1, 2, 2]
    assert pencil_poles(np.zeros(8), 3).size == 0 and hankel_vectors(np.zeros(8)).size == 0


@pytest.mark.parametrize("n", range(1, 8))
def test_short_targets(n):
    target = np.random.default_rng(0).normal(size=n)
    assert hankel_vectors(target).shape == (n // 2, n // 2)
    assert pencil_poles(target, 5).size == max(n // 2 - 1, 0)


def test_real_poles_near_complex_ones():
    assert real_poles(np.array([0.7, 0.2 + 0.3j, 0.2 - 0.3j]), 3) == pytest.approx([0.7, 0.15, 0.25])
    assert real_poles(np.array([0.7, 0.2 + 0.3j, 0.2 - 0.3j]), 2) == pytest.approx([0.7, 0.15])
    assert real_poles(np.array([0.7 + 0j]), 3) == pytest.approx([0.7, 0.0, 0.95])
    assert real_poles(np.zeros(0, complex), 2) == pytest.approx([0.0, 0.95])
