"""Reduction to a band against LAPACK's own routes, for every width, and the routines that it calls by address."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import lapack
from capcore.spectra.band_reduction import banded_eigenvalues, banded_singular_values, gram_matrix
from tests.strategies import all_of, seeds

EPS = np.finfo(float).eps
KINDS = ["plain", "graded", "deficient", "zero", "whole"]


def matrix(rng, kind, rows, columns):
    """Of one of the kinds; ``graded`` spans twelve orders of magnitude."""
    values = rng.normal(size=(rows, columns))
    if kind == "graded":
        values *= np.geomspace(1, 1e-12, columns)
    if kind == "deficient":
        values = values[:, : columns // 2] @ rng.normal(size=(columns // 2, columns))
    if kind == "whole":
        values = np.round(values)
    return np.asfortranarray(values * (kind != "zero"))


@given(seed=seeds, kind=st.sampled_from(KINDS), n=st.integers(1, 40), more=st.integers(0, 30), width=st.integers(1, 45))
def test_singular_values_are_lapacks(seed, kind, n, more, width):
    """Within (10 + m) ε σ_max, the error of a backward stable method: one ε of the norm per step of m."""
    a = matrix(np.random.default_rng(seed), kind, n + more, n)
    expected = np.linalg.svd(a, compute_uv=False)
    found = banded_singular_values(a, width)
    assert found.shape == (n,) and (np.diff(found) <= 0).all() and (found >= 0).all()
    np.testing.assert_allclose(found, expected, rtol=0, atol=(10 + n + more) * EPS * expected[0])


@given(seed=seeds, kind=st.sampled_from(KINDS), n=st.integers(1, 40), width=st.integers(1, 45))
def test_eigenvalues_are_lapacks_and_the_upper_triangle_is_not_read(seed, kind, n, width):
    a = matrix(np.random.default_rng(seed), kind, n, n)
    a += a.T
    expected = np.linalg.eigvalsh(a)
    a[np.triu_indices(n, 1)] = np.nan
    found = banded_eigenvalues(a, width)
    assert found.shape == (n,) and (np.diff(found) >= 0).all()
    np.testing.assert_allclose(found, expected, rtol=0, atol=(10 + n) * EPS * np.abs(expected).max())


@pytest.mark.parametrize("order", ["by rows", "by columns", "every other"])
def test_gram_matrices_of_any_layout(rng, order):
    """Whole numbers, so that sums are exact in any order."""
    a = np.round(9 * rng.normal(size=(17, 12)))
    a = {"by rows": a, "by columns": np.asfortranarray(a), "every other": a[::2, ::2]}[order]
    assert np.array_equal(gram_matrix(a), np.tril(a.T @ a))


def test_routines_with_another_signature_are_not_called(monkeypatch):
    """Whole numbers of 64 bits, another number of arguments, or none of that name."""
    lapack._routine.cache_clear()
    assert lapack.available()
    for changed in ({"dlasq1": ("lapack", "ddddi")}, {"dlasq1": ("lapack", "idddii")}, {"dlasq9": ("lapack", "idddi")}):
        with monkeypatch.context() as patch:
            patch.setattr(lapack, "SIGNATURES", lapack.SIGNATURES | changed)
            lapack._routine.cache_clear()
            assert not lapack.available()
            with pytest.raises(np.linalg.LinAlgError, match=all_of([next(iter(changed)), "scipy.linalg.svd"])):
                lapack.call(next(iter(changed)), 1, np.ones(1), np.ones(1), np.ones(4), 0)
    lapack._routine.cache_clear()
    assert not lapack.expected("void (int64_t *, double *)", "id")
    assert not lapack.expected("void (int *, float *)", "id")


def test_what_a_routine_reports_and_wrong_arrays_are_refused():
    with pytest.raises(np.linalg.LinAlgError, match="dlasq1: found info = -1"):
        lapack.call("dlasq1", -1, np.ones(1), np.ones(1), np.ones(4), 0)
    with pytest.raises(TypeError, match="float32, expected float64"):
        lapack.call("dlasq1", 1, np.ones(1, np.float32), np.ones(1), np.ones(4), 0)
