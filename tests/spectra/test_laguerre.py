"""Eigenvalues of noise without its matrix have the law of Gaussian matrices, one by one and in their exponents.

Samples of two kinds are compared by the test of Kolmogorov and Smirnov, which two samples of one law fail at a p-value
of 1e-4 once in ten thousand times. So the 60 comparisons below would fail by chance in one of 170 choices of the seed.
With 1,200 draws on each side, the test sees differences of 0.09 between distribution functions.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capcore.spectra import laguerre as module
from capcore.spectra import noise_eigenvalues
from tests.strategies import seeds

N_DRAWS, CHANCE = 1200, 1e-4
BLOCK = np.zeros((3, 3))
BLOCK[0, 1], BLOCK[2, 0] = 14.0, -11.0


def of_matrices(shape, rng, block=None):
    """The same by brute force: (draws, m) squared singular values of matrices."""
    found = []
    for _ in range(N_DRAWS):
        matrix = rng.standard_normal(shape)
        if block is not None:
            part = matrix[: len(block), : len(block)]
            part[block != 0] = block[block != 0]
        found.append(np.linalg.svd(matrix, compute_uv=False) ** 2)
    return np.array(found)


def same_law(one, other):
    return stats.ks_2samp(one, other).pvalue > CHANCE


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (2, 2), (3, 5), (20, 20), (24, 40), (40, 24), (12, 200)])
def test_every_eigenvalue_has_the_law_of_a_matrix(shape, rng):
    drawn = np.array([noise_eigenvalues(shape, rng) for _ in range(N_DRAWS)])
    expected = of_matrices(shape, rng)
    for k in {0, 1 % min(shape), min(shape) // 2, min(shape) - 1}:
        assert same_law(drawn[:, k], expected[:, k]), k
    assert same_law(drawn[:, 0] - drawn[:, -1], expected[:, 0] - expected[:, -1])  # not the marginal laws alone


@pytest.mark.parametrize("shape", [(12, 30), (30, 12), (16, 16)])
@pytest.mark.parametrize("block", [np.array([[13.0]]), BLOCK, np.eye(5) * 8, np.ones((2, 2)) * 6], ids=len)
def test_a_block_lies_in_the_noise_as_in_a_matrix(shape, block, rng):
    drawn = np.array([module.eigenvalues_of(module.band(shape, rng, block)) for _ in range(N_DRAWS)])
    expected = of_matrices(shape, rng, block)
    for k in (0, 1, 2, 5, -1):
        assert same_law(drawn[:, k], expected[:, k]), k


@given(seeds, st.integers(1, 40), st.integers(1, 40))
def test_small_eigenvalues_are_as_accurate_as_their_size_allows(seed, rows, columns):
    """The determinant of BBᵀ is that of its factor: ln det = Σ ln λ, each λ with an error of at most 4·M·ε·λ_max."""
    rng, m = np.random.default_rng(seed), min(rows, columns)
    main, above = np.sqrt(rng.chisquare(max(rows, columns) - np.arange(m))), np.sqrt(rng.chisquare(np.arange(m)[:0:-1]))
    values = module.eigenvalues_of([main, above] if m > 1 else [main])
    assert (np.diff(values) <= 0).all() and (values >= 0).all()
    bound = 4 * m * np.finfo(float).eps * np.sum(values[0] / np.maximum(values, 1e-300)) + 1e-12
    if bound < 0.1:
        assert abs(np.log(values).sum() - 2 * np.log(main).sum()) <= bound


def test_a_large_shape_forms_no_matrix():
    """Of 4096 × 11008 a matrix has 361 MB; a draw allocates some vectors of 4096 numbers, together less than 1 MB."""
    import tracemalloc

    noise_eigenvalues((8, 8), np.random.default_rng(0))  # loads what is needed
    tracemalloc.start()
    values = noise_eigenvalues((4096, 11008), np.random.default_rng(0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(values) == 4096 and peak < 2**20
    upper = (1 + np.sqrt(4096 / 11008)) ** 2
    assert abs(values[0] / 11008 - upper) < 0.05 and abs(values.mean() / 11008 - 1) < 0.01
