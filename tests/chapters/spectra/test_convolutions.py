"""Slices of a kernel against the map that it applies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.spectra import convolutions
from tests.strategies import seeds


@given(seeds, st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(3, 4))
def test_the_matrix_is_the_convolution(seed, n_out, n_in, length, grid):
    """Against a sum of shifted images."""
    rng = np.random.default_rng(seed)
    kernel, image = rng.normal(size=(n_out, n_in, length, length)), rng.normal(size=(n_in, grid, grid))
    expected = sum(
        np.einsum("oi,ixy->oxy", kernel[:, :, i, j], np.roll(image, (-i, -j), axis=(1, 2)))
        for i in range(length)
        for j in range(length)
    )
    np.testing.assert_allclose(convolutions.circular_matrix(kernel, grid) @ image.ravel(), expected.ravel(), atol=1e-12)


@given(seeds, st.integers(1, 4), st.integers(1, 4))
def test_operator_norm_and_bounds(seed, n_out, n_in):
    kernel = np.random.default_rng(seed).normal(size=(n_out, n_in, 3, 3))
    written_out = np.linalg.svd(convolutions.circular_matrix(kernel, 4), compute_uv=False) ** 2
    assert convolutions.gap(convolutions.eigenvalues(kernel, "operator", 4)[0], written_out) < 1e-12
    assert convolutions.norm_kept(kernel) < 1e-12
    low, middle, high = convolutions.norm_bounds(kernel, 4)
    assert low * (1 - 1e-12) <= middle <= high * (1 + 1e-12)
    assert middle == pytest.approx(np.sqrt(written_out[0]), rel=1e-10)


@given(seeds, st.integers(2, 6), st.integers(2, 6))
def test_rotated_taps_keep_every_slice_and_the_unfolded_kernel(seed, n_out, n_in):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n_out, n_in))
    equal, rotated = convolutions.equal_taps(matrix), convolutions.rotated_taps(matrix, rng)
    for arrangement in ("slices", "unfolded"):
        pairs = zip(
            convolutions.eigenvalues(rotated, arrangement), convolutions.eigenvalues(equal, arrangement), strict=True
        )
        assert max(convolutions.gap(*pair) for pair in pairs) < 1e-10
    assert convolutions.norm_bounds(equal)[1] == pytest.approx(
        convolutions.norm_bounds(equal)[2]
    )  # all taps pull together


def test_one_tap_is_its_own_map():
    kernel = np.random.default_rng(0).normal(size=(3, 4, 1, 1))
    low, middle, high = convolutions.norm_bounds(kernel)
    assert low == pytest.approx(middle) and middle == pytest.approx(high)


def test_bounds_fail_where_they_should(monkeypatch):
    monkeypatch.setattr(convolutions, "norm_bounds", lambda kernel, grid: (2.0, 1.0, 3.0))
    assert not convolutions.bounds_hold(1, np.random.default_rng(0))


def test_gaps():
    assert convolutions.gap([3.0, 1.0], [1.0, 2.0]) == 0.5
    with pytest.raises(ValueError, match="found 2 values, expected 1"):
        convolutions.gap([1.0, 2.0], [1.0])
    matrix = np.random.default_rng(0).normal(size=(4, 7))
    assert convolutions.svd_gap(matrix, np.linalg.eigvalsh(matrix @ matrix.T) / 7) < 1e-14
    assert convolutions.svd_gap(matrix, np.linalg.eigvalsh(matrix @ matrix.T)) > 1
