"""Eigenvalues from sampled determinants are those that LAPACK finds, and a matrix that fails a test is left to it."""

import numpy as np
import pytest

from capcore.checkpoints import read_checkpoint
from capcore.spectra import characteristic as module
from capcore.spectra import find_layers, laguerre, usual_options
from capcore.spectra.laguerre import band, spectra
from capcore.spectra.nulls import Nulls

SHAPES = [(256, 256), (257, 256), (262, 256), (300, 290), (256, 400), (1100, 270), (30_000, 256), (520, 512)]
NONE, COUNT = np.zeros((0, 0)), 8
CLOSE = 1e-9
"""Largest difference in units of λ_max: some thousandths of a spacing, and far above what was seen."""


def of_noise(shape, rng, block=NONE):
    """(COUNT, m) and (COUNT, m − 1) Diagonals of tridiagonal matrices of noise."""
    parts = [laguerre._tridiagonal(band(shape, rng, block)) for _ in range(COUNT)]
    return tuple(map(np.array, zip(*parts, strict=True)))


@pytest.mark.parametrize("shape", SHAPES)
def test_eigenvalues_are_those_of_lapack(shape, rng):
    diagonals, beside = of_noise(shape, rng)
    at = module.samples(max(shape), min(shape))
    assert min(shape) < len(at.gaps) <= 2 * min(shape)  # enough of them, and no more than these cost
    expected = np.array([module.exact(*each) for each in zip(diagonals, beside, strict=True)])
    found = np.full_like(diagonals, np.nan)
    good = module._sampled(diagonals, beside, at, found, False)
    assert good.sum() >= COUNT - 1  # so it is not LAPACK that is compared with itself
    np.testing.assert_allclose(found[good], expected[good], atol=CLOSE * expected.max(), rtol=0)
    both = module.noise_spectra(diagonals, beside, shape, apart=False)
    np.testing.assert_allclose(both, expected, atol=CLOSE * expected.max(), rtol=0)


@pytest.mark.parametrize("shape", [(256, 256), (280, 1000)])
@pytest.mark.parametrize("entries", [[25.0], [-40.0, 30.0, 22.0], [500.0, *[28.0] * 7], [1e60, 30.0]], ids=len)
def test_large_entries_are_kept_apart(shape, entries):
    """The same random numbers, one matrix at a time by LAPACK; entries of 1e60 are left to it."""
    block, (rng, other, third) = np.diag(entries), map(np.random.default_rng, (5, 5, 5))
    found = [*spectra(shape, (band(shape, rng, block) for _ in range(COUNT)), apart=True)]
    for each in found:
        expected = module.exact(*laguerre._tridiagonal(band(shape, other, block)))
        np.testing.assert_allclose(each, expected, atol=CLOSE * expected[len(entries)], rtol=1e-12)
    if max(entries) < 1e9:
        diagonals, beside = of_noise(shape, third, block)
        at = module.samples(max(shape), min(shape))
        assert module._sampled(diagonals, beside, at, np.empty_like(diagonals), True).sum() >= COUNT - 1


@pytest.mark.parametrize("lost", ["a zero", "half a spacing", "the end of a series"])
def test_what_fails_a_test_is_left_to_lapack(lost, rng, monkeypatch):
    diagonals, beside = of_noise((300, 260), rng)
    expected = np.array([module.exact(*each) for each in zip(diagonals, beside, strict=True)])
    zeros = module.zeros

    def worse(series, number):
        which, psi = zeros(series, number)
        if lost == "a zero":
            return which[1:], psi[1:]
        return which, psi + (np.arange(len(psi)) == 7) * np.pi / 520

    monkeypatch.setattr(module, "zeros", worse)
    if lost == "the end of a series":
        monkeypatch.setattr(module, "ENDED", 1e-30)
    found = np.empty_like(diagonals)
    good = module._sampled(diagonals, beside, module.samples(300, 260), found, False)
    assert not good[0]
    found = module.noise_spectra(diagonals, beside, (300, 260), apart=False)
    np.testing.assert_allclose(found, expected, atol=CLOSE * expected.max(), rtol=0)
    np.testing.assert_array_equal(found[0], expected[0])


def test_zeros_of_known_series():
    """cos kψ has its zeros at (i + ½)π/k; (cos ψ − a)(cos ψ − b) has a pair, even 1e-5 apart, even around π."""
    series = np.zeros((1, 40))
    series[0, 17] = 1.0
    which, psi = module.zeros(series, 160)
    assert not which.any()
    np.testing.assert_allclose(np.sort(psi), (np.arange(17) + 0.5) * np.pi / 17, atol=1e-13)
    for first, second in [(1.0, 1.00001), (2.0, 2.01), (np.pi - 1e-3, np.pi - 0.02)]:
        a, b = np.cos([first, second])
        product = np.zeros((1, 40))
        product[0, :3] = 2 * (a * b + 0.5), -(a + b), 0.5  # cosines of multiples, the constant twice
        found = np.sort(module.zeros(product / 2, 160)[1])
        np.testing.assert_allclose(found, sorted([first, second]), atol=1e-9)


def test_polynomials_through_points_are_exact():
    """Of degree 14, through 28 points: coefficients of (t − 3)^k come back."""
    nodes = np.arange(2 * module.HALF) - module.HALF + 0.5
    for k in range(module.DEGREE + 1):
        expected = np.append(np.poly1d([1.0, -3.0]) ** k, np.zeros(0)) if k else np.ones(1)
        found = (nodes - 3) ** k @ module._taylor()
        np.testing.assert_allclose(found[: k + 1], expected[::-1], rtol=1e-6, atol=1e-6 * abs(expected).max())


@pytest.mark.parametrize("kind", ["noise", "large entries", "heavy tails"])
def test_nulls_of_a_report_are_those_of_lapack(kind, monkeypatch):
    """Exponents of large layers, with and without what this module does."""
    rng = np.random.default_rng(3)
    weights = rng.standard_normal((260, 300)).astype(np.float32)
    if kind == "large entries":
        weights[2, 3], weights[5, 9] = 22.0, 60.0
    if kind == "heavy tails":
        weights = (rng.standard_t(2.5, (260, 300)) + 1e-6).astype(np.float32)
    (layer,) = find_layers(read_checkpoint({"fc": weights})).layers
    options = usual_options(n_null=12)
    found = Nulls(options).of_layer(layer)["fc"]
    monkeypatch.setattr(laguerre, "LEAST", 10**9)
    expected = Nulls(options).of_layer(layer)["fc"]
    assert (
        found.drawn
        == expected.drawn
        == {"noise": "by shape", "heavy tails": "shuffled"}.get(kind, "with large entries")
    )
    np.testing.assert_allclose(found.alphas, expected.alphas, rtol=1e-8)
    np.testing.assert_array_equal(found.spikes, expected.spikes)
