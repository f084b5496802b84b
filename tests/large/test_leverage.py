"""Leverage scores by Cholesky QR: those of an SVD, at condition numbers where one Gram matrix is not enough."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import svd

from capcore.large.leverage import default_threads, in_threads, leverage_scores


class Listed:
    """A matrix that is at hand, in blocks of two parts of five rows."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix
        self.n_rows, self.n_columns = matrix.shape
        self.n_blocks = -(-self.n_rows // 10)

    def parts(self, block: int) -> Iterator[tuple[slice, np.ndarray]]:
        for start in (10 * block, 10 * block + 5):
            rows = slice(start, min(start + 5, self.n_rows))
            if rows.start < rows.stop:
                yield rows, np.ascontiguousarray(self.matrix[rows].T)


def conditioned(n: int, k: int, condition: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A matrix with the given condition number, and its leverage scores."""
    u = np.linalg.qr(rng.normal(size=(n, k)) * rng.uniform(0.1, 3, size=(n, 1)))[0]
    v = np.linalg.qr(rng.normal(size=(k, k)))[0]
    return (u * np.geomspace(1, 1 / condition, k)) @ v.T, np.square(u).sum(axis=1)


@given(st.integers(1, 8), st.integers(0, 60), st.integers(0, 99), st.sampled_from([1, 2]))
def test_they_are_those_of_the_svd(k: int, more: int, seed: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(k + more, k)) * 10.0 ** rng.integers(-100, 100, size=k)
    found = leverage_scores(Listed(matrix), threads)
    u = svd(matrix / np.linalg.norm(matrix, axis=0), full_matrices=False)[0]
    # One step leaves ε · cond², and a square Gaussian matrix may well have a condition number of a hundred or more.
    np.testing.assert_allclose(found.scores, np.square(u).sum(axis=1), atol=max(1e-12, 1e-15 * found.condition**2))
    assert found.departure < 1e-10


@pytest.mark.parametrize("condition", [1e1, 1e4, 1e6, 1e9, 1e11])
def test_ill_conditioned_columns_lose_no_more_than_they_must(condition: float) -> None:
    matrix, expected = conditioned(200, 12, condition, np.random.default_rng(0))
    found = leverage_scores(Listed(matrix))
    # The matrix itself is only known to ε, and its column space to ε · cond.
    assert np.abs(found.scores - expected).max() < 1e-13 + 1e-15 * condition
    assert found.departure < 1e-10
    assert 0.1 < found.condition / condition < 10


@pytest.mark.parametrize("condition", [1e14, 1e15])
@pytest.mark.parametrize("seed", range(3))
def test_columns_that_are_dependent_but_for_rounding_are_refused(condition: float, seed: int) -> None:
    """The limit is 1e13, the estimate within a factor of five: from 5e13 on nothing may pass."""
    matrix, _ = conditioned(200, 12, condition, np.random.default_rng(seed))
    with pytest.raises(ValueError, match=r"numerically singular.*expected at most 1e\+13"):
        leverage_scores(Listed(matrix))


def test_dependent_columns_are_refused() -> None:
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(50, 4))
    with pytest.raises(ValueError, match="numerically singular"):
        leverage_scores(Listed(np.hstack([matrix, matrix @ rng.normal(size=(4, 1))])))
    matrix[:, 2] = 0
    with pytest.raises(ValueError, match="a column of zeros"):
        leverage_scores(Listed(matrix))
    matrix[3, 1] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        leverage_scores(Listed(matrix))


def test_work_in_threads_keeps_its_order_and_its_errors() -> None:
    assert list(in_threads(lambda x: x * x, range(50), 3)) == [x * x for x in range(50)]
    with pytest.raises(ZeroDivisionError):
        list(in_threads(lambda x: 1 / x, [1, 0], 2))
    assert default_threads() >= 1
