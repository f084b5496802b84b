"""The spectrum of a circular convolution, against the matrix of the whole map written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import gram_spectra, operator_spectra, slices, unfolded
from capcore.spectra.eigenvalues import ENTRIES, matrix_shape
from tests.strategies import all_of, seeds


def written_out(weights, grid, stride, dilation):
    """(groups·out·outputs, groups·in·inputs) matrix: every output position of every channel is a row."""
    groups, n_out, n_in, *kernel = weights.shape
    coarse = [length // step for length, step in zip(grid, stride, strict=True)]
    matrix = np.zeros((groups, n_out, *coarse, groups, n_in, *grid))
    for position in np.ndindex(*coarse):
        for tap in np.ndindex(*kernel):
            source = zip(position, stride, tap, dilation, grid, strict=True)
            at = tuple((p * s + t * d) % length for p, s, t, d, length in source)
            for g in range(groups):
                for o, i in np.ndindex(n_out, n_in):
                    matrix[(g, o, *position, g, i, *at)] += weights[(g, o, i, *tap)]
    return matrix.reshape(groups * n_out * int(np.prod(coarse)), -1)


@st.composite
def convolutions(draw):
    ndim = draw(st.integers(1, 2))
    lists = lambda top: draw(st.lists(st.integers(1, top), min_size=ndim, max_size=ndim))  # noqa: E731
    stride, dilation, kernel, coarse = lists(3), lists(3), lists(3), lists(3)
    channels = [draw(st.integers(1, 3)) for _ in range(3)]
    grid = [c * s for c, s in zip(coarse, stride, strict=True)]
    return np.random.default_rng(draw(seeds)).normal(size=(*channels, *kernel)), grid, stride, dilation


@given(convolution=convolutions())
def test_against_the_matrix_of_the_map(convolution):
    """Any stride, dilation, number of groups, and kernels longer than the grid."""
    weights, grid, stride, dilation = convolution
    found = operator_spectra(weights, grid, stride=stride, dilation=dilation)
    matrix = written_out(weights, grid, stride, dilation)
    expected = np.linalg.svd(matrix, compute_uv=False) ** 2
    assert len(found.eigenvalues) == min(matrix.shape)
    np.testing.assert_allclose(found.eigenvalues, expected, atol=2 * float(found.resolution), rtol=0)


def test_three_axes(rng):
    weights = rng.normal(size=(1, 2, 2, 2, 3, 1))
    found = operator_spectra(weights, (3, 2, 2))
    expected = np.linalg.svd(written_out(weights, (3, 2, 2), (1,) * 3, (1,) * 3), compute_uv=False) ** 2
    np.testing.assert_allclose(found.eigenvalues, expected, atol=2 * float(found.resolution), rtol=0)


def test_batches_of_frequencies(rng, monkeypatch):
    """One frequency at a time gives what all at once give."""
    weights = rng.normal(size=(1, 3, 2, 3, 3))
    at_once = operator_spectra(weights, 6).eigenvalues
    monkeypatch.setattr("capcore.spectra.eigenvalues.ENTRIES", 1)
    assert ENTRIES > 1
    np.testing.assert_allclose(operator_spectra(weights, 6).eigenvalues, at_once, atol=1e-13, rtol=0)


def test_laws(rng):
    weights = rng.normal(size=(1, 4, 3, 3, 3))
    found = operator_spectra(weights, 8).eigenvalues
    assert found.sum() == pytest.approx(64 * np.square(weights).sum(), rel=1e-12)  # Parseval
    flipped = operator_spectra(weights[..., ::-1, ::-1], 8).eigenvalues
    np.testing.assert_allclose(found, flipped, atol=1e-12, rtol=0)  # convolution or correlation
    adjoint = operator_spectra(weights.swapaxes(1, 2), 8).eigenvalues
    np.testing.assert_allclose(found, adjoint, atol=1e-12, rtol=0)
    point = operator_spectra(weights[..., :1, :1], 8).eigenvalues  # a kernel of one tap: its matrix, 64 times
    np.testing.assert_allclose(point[::64], gram_spectra(weights[0, :, :, 0, 0]).eigenvalues, atol=1e-13, rtol=0)


def test_the_unfolded_kernel_bounds_the_operator(rng):
    """λ_max of the map is at most taps times that of the unfolded kernel, and slices bound it by their sum."""
    weights = rng.normal(size=(1, 4, 3, 3, 3))
    largest = operator_spectra(weights, 16).eigenvalues[0]
    assert largest <= 9 * gram_spectra(unfolded(weights)).eigenvalues.max()
    assert np.sqrt(largest) <= np.sqrt(gram_spectra(slices(weights)).eigenvalues[:, 0, 0]).sum()


def test_zeros_of_removed_channels_are_exact(rng):
    weights = rng.normal(size=(1, 4, 4, 3))
    weights[:, 1] = 0
    found = operator_spectra(weights, 5)
    assert int(found.n_zeros) == 5
    assert np.count_nonzero(found.eigenvalues == 0) == 5


def test_matrix_shape():
    assert matrix_shape((2, 8, 4, 3, 3), (16, 8), (2, 4)) == ((8, 32), 16)


@pytest.mark.parametrize(
    ("shape", "options", "parts"),
    [
        ((1, 2, 2), {"grid": 4}, ["(1, 2, 2)", "*kernel"]),
        ((1, 2, 2, 3, 3), {"grid": (4, 4, 4)}, ["grid: found 3 numbers for 2 axes"]),
        ((1, 2, 2, 3, 3), {"grid": 5, "stride": 2}, ["stride: found 2 on 5 positions", "divisor"]),
        ((1, 2, 2, 3, 3), {"grid": 0}, ["grid: found 0"]),
        ((1, 2, 2, 3, 3), {"grid": 4, "dilation": -1}, ["dilation: found -1"]),
    ],
)
def test_what_is_no_convolution(shape, options, parts):
    with pytest.raises(ValueError, match=all_of(parts)):
        operator_spectra(np.ones(shape), **options)
