"""Eigenvalues by way of Gram matrices, against singular values and exact arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import gram_spectra, slices, unfolded
from capcore.spectra.densities import taps
from tests.strategies import refused, seeds


@st.composite
def hard_matrices(draw):
    """(count, rows, columns) of any shape: graded rows, nearly of rank one, heavy tails, whole numbers."""
    rng = np.random.default_rng(draw(seeds))
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 24), st.integers(1, 24)))
    kind = draw(st.sampled_from(["plain", "graded", "rank one", "heavy", "whole", "half"]))
    values = rng.standard_cauchy(shape) if kind == "heavy" else rng.normal(size=shape)
    if kind == "graded":
        values *= np.exp(4 * rng.normal(size=(1, shape[1], 1)))
    if kind == "rank one":
        values = 1e-9 * values + rng.normal(size=(1, shape[1], 1)) * rng.normal(size=(1, 1, shape[2]))
    if kind == "whole":
        values = np.round(values)
    return values.astype(np.float16) if kind == "half" else values


def stated_error(found, shape):
    return (10 + max(shape[-2:])) * np.finfo(float).eps * found.eigenvalues[..., :1]


@given(matrices=hard_matrices())
def test_within_the_stated_error_of_singular_values(matrices):
    found = gram_spectra(matrices)
    expected = np.linalg.svd(matrices.astype(float), compute_uv=False) ** 2
    assert found.eigenvalues.shape == expected.shape
    assert (np.abs(found.eigenvalues - expected) <= stated_error(found, matrices.shape)).all()
    assert (np.diff(found.eigenvalues, axis=-1) <= 0).all()
    assert (found.eigenvalues >= 0).all()


@pytest.mark.parametrize("shape", [(10, 64), (300, 300), (64, 5000), (9000, 3)])
def test_larger_matrices(rng, shape):
    """The last two are taken in blocks."""
    matrix = rng.normal(size=shape).astype(np.float32)
    found = gram_spectra(matrix)
    expected = np.linalg.svd(matrix.astype(float), compute_uv=False) ** 2
    assert (np.abs(found.eigenvalues - expected) <= stated_error(found, shape)).all()


@given(seed=seeds, rows=st.integers(0, 3), columns=st.integers(0, 3))
def test_zeros_of_removed_rows_and_columns_are_exact_and_counted(seed, rows, columns):
    matrix = np.random.default_rng(seed).normal(size=(4, 5))
    matrix[:rows] = 0
    matrix[:, :columns] = 0
    found = gram_spectra(matrix)
    assert int(found.n_zeros) == 4 - min(4 - rows, 5 - columns)
    assert np.count_nonzero(found.eigenvalues == 0) == int(found.n_zeros)


def test_zero_matrices_beside_others(rng):
    matrices = np.stack([np.zeros((3, 4)), rng.normal(size=(3, 4))])
    found = gram_spectra(matrices)
    assert found.n_zeros.tolist() == [3, 0]
    np.testing.assert_array_equal(found.eigenvalues[0], 0)


def test_complex_matrices(rng):
    matrix = rng.normal(size=(5, 3)) + 1j * rng.normal(size=(5, 3))
    expected = np.linalg.svd(matrix, compute_uv=False) ** 2
    np.testing.assert_allclose(gram_spectra(matrix).eigenvalues, expected, rtol=1e-12)


test_bad_matrices = refused(
    gram_spectra,
    (np.ones(3), r"shape \(3,\)"),
    (np.ones((0, 3)), r"shape \(0, 3\)"),
    (np.array([[1e200, 1]]), "squares below"),
)


def test_slices_and_unfolded_matrices(rng):
    weights = rng.normal(size=(2, 4, 3, 2, 5))
    for tap, matrices in zip(taps((2, 5)), slices(weights), strict=True):
        np.testing.assert_array_equal(matrices, weights[(..., *tap)])
    rows = unfolded(weights)
    assert rows.shape == (2, 4, 30)
    np.testing.assert_array_equal(rows[1, 2], weights[1, 2].ravel())
    # a row of the unfolded kernel is all of an output channel's weights, so its Gram matrix is the sum over the slices
    total = sum(matrices @ matrices.swapaxes(-1, -2) for matrices in slices(weights))
    np.testing.assert_allclose(rows @ rows.swapaxes(-1, -2), total, atol=1e-13)
    linear = rng.normal(size=(1, 4, 3))
    np.testing.assert_array_equal(slices(linear)[0], unfolded(linear))


@pytest.mark.parametrize("arrange", [slices, unfolded])
def test_weights_of_no_layer(arrange):
    with pytest.raises(ValueError, match=r"groups, out/groups, in/groups, \*kernel"):
        arrange(np.ones((3, 4)))
