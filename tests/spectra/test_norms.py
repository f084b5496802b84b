"""Norms and ranks of a spectrum against matrix norms, and their laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import log_alpha_norm, spectrum_norms
from tests.strategies import seeds


def matrix(seed, shape=(12, 20)):
    return np.random.default_rng(seed).normal(size=shape)


def test_norms_are_those_of_the_matrix():
    weights = matrix(0)
    found = spectrum_norms(np.linalg.svd(weights, compute_uv=False) ** 2)
    frobenius, spectral = np.linalg.norm(weights) ** 2, np.linalg.norm(weights, 2) ** 2
    assert found.log_frobenius == pytest.approx(np.log10(frobenius), rel=1e-12)
    assert found.log_spectral == pytest.approx(np.log10(spectral), rel=1e-12)
    assert found.stable_rank == pytest.approx(frobenius / spectral, rel=1e-12)
    assert found.log_stable_rank == pytest.approx(np.log(frobenius) / np.log(spectral), rel=1e-12)
    assert found.rank == np.linalg.matrix_rank(weights)


@given(seeds, st.floats(0.5, 6))
def test_the_alpha_norm_is_a_schatten_norm(seed, alpha):
    """Σ λ^α = Σ s^(2α)."""
    values = np.linalg.svd(matrix(seed), compute_uv=False)
    assert log_alpha_norm(values**2, alpha) == pytest.approx(np.log10(np.sum(values ** (2 * alpha))), abs=1e-9)


@pytest.mark.parametrize(("n", "entropy"), [(1, 0.0), (2, 1.0), (50, 1.0)])
def test_equal_eigenvalues_have_the_largest_entropy_and_stable_rank(n, entropy):
    found = spectrum_norms(np.r_[np.full(n, 3.0), np.zeros(4)])
    assert (found.entropy, found.stable_rank, found.rank) == (pytest.approx(entropy), pytest.approx(n), n)


def test_the_largest_exponents_do_not_overflow():
    assert log_alpha_norm([1e200, 1.0], 50.0) == pytest.approx(10_000)


def test_eq_6_is_undefined_where_the_largest_eigenvalue_is_one():
    assert np.isnan(spectrum_norms([1.0, 0.5]).log_stable_rank)


def test_a_failed_fit_has_no_alpha_norm_and_zeros_no_norms():
    assert np.isnan(log_alpha_norm([2.0, 1.0], np.nan))
    for function in (spectrum_norms, lambda values: log_alpha_norm(values, 2.0)):
        with pytest.raises(ValueError, match="none above zero"):
            function([0.0, 0.0])
