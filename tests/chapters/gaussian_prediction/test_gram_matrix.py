"""The paper's own procedure, eigenvalues of the Gram matrix: squared singular values, and what they lose."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from capcore.capacity.constraints import ConstraintSpace
from chapters.gaussian_prediction.study import gram_eigenvalues
from tests.strategies import matrices

EPS = np.finfo(float).eps


@given(matrices())
def test_gram_eigenvalues_are_squared_singular_values(matrix):
    singular = np.linalg.svd(matrix, compute_uv=False)
    expected = np.zeros(matrix.shape[0])
    expected[: singular.size] = singular**2
    assert_allclose(gram_eigenvalues(matrix), expected, atol=1e-12 * singular[0] ** 2)


def test_the_gram_matrix_loses_what_the_columns_show():
    # Two unit columns at an angle of 1e-9: independent, but their Gram matrix is ones to the last bit.
    matrix = np.array([[1.0, 1.0], [0.0, 1e-9], [0.0, 0.0]])
    assert ConstraintSpace.from_columns(matrix).dimension == 2
    values = gram_eigenvalues(matrix)
    assert np.count_nonzero(values > 3 * EPS * values[0]) == 1
    assert_allclose(ConstraintSpace.from_columns(matrix).per_input(), [1, 1, 0], atol=1e-9)


def test_the_gram_matrix_has_negative_eigenvalues_of_rounding():
    rng = np.random.default_rng(0)
    values = gram_eigenvalues(rng.normal(size=(40, 5)) @ rng.normal(size=(5, 30)))
    assert values.min() < 0 and abs(values.min()) < 1e-14 * values[0]
    assert np.all(np.diff(values) <= 0)


@pytest.mark.parametrize("exponent", [-332, -20, 20, 332])
def test_a_matrix_of_any_scale_is_squared(exponent):
    matrix = np.random.default_rng(8).normal(size=(6, 3))
    found = np.ldexp(gram_eigenvalues(np.ldexp(matrix, exponent)), -2 * exponent)
    assert_allclose(found, gram_eigenvalues(matrix), atol=1e-13)  # rounding of 6 × 6


@pytest.mark.parametrize("exponent", [-996, 996])
def test_squares_beyond_double_precision_are_refused(exponent):
    with pytest.raises(ValueError, match="matrix: found a largest entry"):
        gram_eigenvalues(np.ldexp(np.eye(3), exponent))


def test_what_is_no_matrix():
    with pytest.raises(ValueError, match=r"matrix: found .*\(2,\).*expected 2"):
        gram_eigenvalues([1.0, 2.0])
