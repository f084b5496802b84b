"""The spectrum of a circular convolution, against the matrix of the whole map written out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import operator_spectra
from capcore.spectra.eigenvalues import ENTRIES, matrix_shape
from tests.strategies import refused, seeds


def written_out(weights, grid, stride=1):
    """(groups·out·outputs, groups·in·inputs) matrix: every output position of every channel is a row."""
    groups, n_out, n_in, *kernel = weights.shape
    coarse, fine = (grid // stride,) * len(kernel), (grid,) * len(kernel)
    matrix = np.zeros((groups, n_out, *coarse, groups, n_in, *fine))
    for position in np.ndindex(*coarse):
        for tap in np.ndindex(*kernel):
            at = tuple((p * stride + t) % grid for p, t in zip(position, tap, strict=True))
            for g in range(groups):
                for o, i in np.ndindex(n_out, n_in):
                    matrix[(g, o, *position, g, i, *at)] += weights[(g, o, i, *tap)]
    return matrix.reshape(groups * n_out * int(np.prod(coarse)), -1)


@st.composite
def convolutions(draw):
    kernel = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    channels = [draw(st.integers(1, 3)) for _ in range(3)]
    stride, coarse = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return np.random.default_rng(draw(seeds)).normal(size=(*channels, *kernel)), coarse * stride, stride


def error(weights, spectrum, stride=1):
    """Twice the bound of the matrix at one frequency, and the rounding of sums over taps."""
    _, rows, columns, *kernel = weights.shape
    steps = 10 + max(rows, columns * stride ** len(kernel)) + np.prod(kernel)
    return 2 * steps * np.finfo(float).eps * spectrum.eigenvalues[0]


@given(convolution=convolutions())
def test_against_the_matrix_of_the_map(convolution):
    """Any stride, number of groups, and kernels longer than the grid."""
    weights, grid, stride = convolution
    spectrum = operator_spectra(weights, grid, stride=stride)
    matrix = written_out(weights, grid, stride)
    expected = np.linalg.svd(matrix, compute_uv=False) ** 2
    assert len(spectrum.eigenvalues) == min(matrix.shape)
    np.testing.assert_allclose(spectrum.eigenvalues, expected, atol=error(weights, spectrum, stride), rtol=0)


def test_three_axes(rng):
    weights = rng.normal(size=(1, 2, 2, 2, 3, 1))
    spectrum = operator_spectra(weights, 3)
    expected = np.linalg.svd(written_out(weights, 3), compute_uv=False) ** 2
    np.testing.assert_allclose(spectrum.eigenvalues, expected, atol=error(weights, spectrum), rtol=0)


def test_batches_of_frequencies(rng, monkeypatch):
    """One frequency at a time gives what all at once give."""
    weights = rng.normal(size=(1, 3, 2, 3, 3))
    at_once = operator_spectra(weights, 6).eigenvalues
    monkeypatch.setattr("capcore.spectra.eigenvalues.ENTRIES", 1)
    assert ENTRIES > 1
    np.testing.assert_allclose(operator_spectra(weights, 6).eigenvalues, at_once, atol=1e-13, rtol=0)


def test_zeros_of_removed_channels_are_exact(rng):
    weights = rng.normal(size=(1, 4, 4, 3))
    weights[:, 1] = 0
    found = operator_spectra(weights, 5)
    assert int(found.n_zeros) == 5
    assert np.count_nonzero(found.eigenvalues == 0) == 5


def test_matrix_shape():
    assert matrix_shape((2, 8, 4, 3, 3), 16, 2) == ((8, 16), 64)


test_what_is_no_convolution = refused(
    lambda shape, options: operator_spectra(np.ones(shape), **options),
    ((1, 2, 2), {"grid": 4}, ["(1, 2, 2)", "*kernel"]),
    ((1, 2, 2, 3, 3), {"grid": 5, "stride": 2}, ["stride: found 2 on 5 positions", "divisor"]),
    ((1, 2, 2, 3, 3), {"grid": 0}, ["grid: found 0"]),
    ((1, 2, 2, 3, 3), {"grid": 4, "stride": -1}, ["stride: found -1"]),
)
