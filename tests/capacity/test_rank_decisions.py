"""Which singular values count: one tolerance, and columns of unit length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from capcore.architectures.columns import compress_columns, equilibrate, rank_tolerance
from capcore.capacity.constraints import ConstraintSpace, chain
from tests.strategies import matrices, seeds

EPS = np.finfo(float).eps


def space(matrix):
    return ConstraintSpace.from_columns(matrix)


# --- rank decisions --------------------------------------------------------------------------------------------------


def test_one_tolerance_policy():
    assert rank_tolerance((10, 5), 2.0) == rank_tolerance((5, 10), 2.0) == 20 * EPS
    assert rank_tolerance((4, 10**6), 1.0) == 256 * EPS
    k = space(np.random.default_rng(0).normal(size=(7, 4)))
    assert k.tolerance == pytest.approx(7 * EPS * k.singular_values[0])
    assert k.singular_values.shape == (4,)


@pytest.mark.parametrize(("n", "p"), [(40, 6), (6, 40), (5, 20_000), (3000, 4), (30, 30)])
@pytest.mark.parametrize("small", [1e-3, 1e-8, 1e-12])
def test_small_singular_values_are_counted_and_rounding_is_not(n, p, small):
    # Rank 3 with singular values 1, √small, small by construction; the other ones are rounding.
    rng = np.random.default_rng(0)
    u, v = (np.linalg.qr(rng.normal(size=(m, 3)))[0] for m in (n, p))
    k = ConstraintSpace.from_columns(u * [1, small**0.5, small] @ v.T, equilibrated=True)
    assert k.dimension == 3
    assert_allclose(k.singular_values[:3], [1, small**0.5, small], rtol=1e-3)
    assert np.all(k.singular_values[3:] <= k.tolerance)
    # A singular vector moves by rounding over its gap.
    assert k.capacity(u) == pytest.approx(3, abs=(100 * EPS / small) ** 2 + 1e-12)


@given(matrices(), seeds)
def test_scales_of_columns_do_not_matter(matrix, seed):
    rng = np.random.default_rng(seed)
    scales = 10.0 ** rng.uniform(-150, 150, matrix.shape[1]) * rng.choice([-1, 1], matrix.shape[1])
    scaled = space(matrix * scales)
    assert scaled.dimension == np.linalg.matrix_rank(matrix)
    assert_allclose(scaled.per_input(), space(matrix).per_input(), atol=1e-7)


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e300])
def test_the_ends_of_the_number_range(scale):
    k = space(np.array([[1.0, 0], [1, 0], [0, 1]]) * scale)
    assert_allclose(k.per_input(), [0.5, 0.5, 1], atol=1e-3 if scale < 1e-307 else 1e-14)


@given(matrices())
def test_zero_and_repeated_columns_add_nothing(matrix):
    more = np.hstack([np.zeros((matrix.shape[0], 2)), matrix, matrix[:, :1]])
    assert space(more).dimension == space(matrix).dimension
    assert_allclose(space(more).per_input(), space(matrix).per_input(), atol=1e-8)


@given(st.integers(1, 6), st.integers(1, 60), seeds)
def test_compression_keeps_singular_values_and_space(n, p, seed):
    matrix = np.random.default_rng(seed).normal(size=(n, p))
    compressed = compress_columns(matrix)
    assert compressed.shape == (n, min(n, p))
    assert_allclose(compressed @ compressed.T, matrix @ matrix.T, atol=1e-12 * p)


def test_equilibrated_columns_have_unit_length():
    matrix = np.array([[3e200, 0, -1e-200], [4e200, 0, 0]])
    assert_allclose(equilibrate(matrix), [[0.6, 0, -1], [0.8, 0, 0]], rtol=1e-15)


def test_a_sum_whose_rank_falls_below_that_of_its_first_part_adds_nothing():
    """The third direction of the first is just above its threshold, which a hundred columns of length one raise."""
    e = np.eye(4)
    first = space(np.column_stack([e[0], e[1], e[0] + 8 * EPS * e[2]]))
    second = space(np.tile(e[:, :1], 100))
    assert (first.dimension, (first + second).dimension) == (3, 2)
    assert [part.dimension for part in chain([first, second])] == [3, 0]
