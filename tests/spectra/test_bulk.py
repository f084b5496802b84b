"""The law of noise, and a fit that spikes do not move."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from capcore.spectra import fit_bulk, gram_spectra
from capcore.spectra.noise import bulk_density, bulk_distribution, bulk_edges, bulk_quantiles
from tests.strategies import refused

ratios = st.floats(0.01, 1)
sigmas = st.floats(0.1, 10)


@given(ratio=st.one_of(st.floats(0.01, 0.9), st.just(1.0)), sigma=sigmas, share=st.floats(0.01, 0.99))
def test_the_distribution_is_the_integral_of_the_density(ratio, sigma, share):
    lower, upper = bulk_edges(ratio, sigma)
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    end = np.pi * share  # λ = middle − half·cos t takes the roots at both ends away

    def slope(t):
        return float(bulk_density(np.array(middle - half * np.cos(t)), ratio, sigma)) * half * np.sin(t)

    expected = quad(slope, 0, end, epsabs=1e-11, limit=200)[0]
    found = bulk_distribution(np.array(middle - half * np.cos(end)), ratio, sigma)
    assert found == pytest.approx(expected, abs=1e-8)


@given(ratio=ratios, sigma=sigmas)
def test_ends_and_inverse(ratio, sigma):
    lower, upper = bulk_edges(ratio, sigma)
    assert bulk_distribution(np.array([0, lower, upper, 2 * upper]), ratio, sigma) == pytest.approx(
        [0, 0, 1, 1], abs=1e-12
    )
    assert bulk_density(np.array([lower * 0.9, upper * 1.1]), ratio, sigma).tolist() == [0, 0]
    shares = np.linspace(0.01, 0.99, 99)
    assert bulk_distribution(sigma**2 * bulk_quantiles(shares, ratio), ratio, sigma) == pytest.approx(shares, abs=1e-5)


@given(ratio=ratios)
def test_moments(ratio):
    """Mean 1, variance M/N: by quantiles."""
    values = bulk_quantiles((np.arange(20000) + 0.5) / 20000, ratio)
    assert values.mean() == pytest.approx(1, abs=1e-4)
    assert values.var() == pytest.approx(ratio, abs=1e-3)


def spectrum(matrix):
    return gram_spectra(matrix).eigenvalues / max(matrix.shape)


@pytest.mark.parametrize("shape", [(16, 16), (16, 64), (64, 64), (576, 64), (300, 300)])
@pytest.mark.parametrize("strengths", [(), (4, 3)])
def test_sigma_within_sampling_error(rng, shape, strengths):
    """Over 60 draws: σ² within four standard errors of the best estimate from all entries, doubled for the fit from the
    middle half alone, and M/N per cent of bias at a share of 1/M for finite size; planted spikes change nothing."""
    n, m = max(shape), min(shape)
    left, right = np.linalg.qr(rng.normal(size=(shape[0], 2)))[0], np.linalg.qr(rng.normal(size=(shape[1], 2)))[0]
    spikes = sum((s * np.sqrt(n) * np.outer(left[:, i], right[:, i]) for i, s in enumerate(strengths)), np.zeros(shape))
    fits = [fit_bulk(spectrum(0.3 * (rng.normal(size=shape) + spikes)), shape) for _ in range(60)]
    variances = np.array([fit.sigma**2 for fit in fits]) / 0.09
    best = np.sqrt(2 / (n * m))
    assert variances.std() < 2 * best
    assert variances.mean() == pytest.approx(1, abs=4 * 2 * best / np.sqrt(60) + 0.7 / m)
    assert np.median([fit.n_spikes for fit in fits]) == len(strengths)
    assert np.mean([fit.n_spikes != len(strengths) for fit in fits]) < 0.15


def test_spikes_show_above_the_transition_only(rng):
    """θ > σ(M/N)^¼ is where a planted spike leaves the bulk, at (θ² + σ²)(θ² + σ²M/N)/θ² (Baik, Ben Arous & Péché)."""
    n, m = 1200, 300
    transition = (m / n) ** 0.25
    left, right = np.eye(n)[:, 0], np.eye(m)[:, 0]
    for factor, seen in [(0.7, 0), (1.5, 1), (3, 1)]:
        theta = factor * transition
        matrix = rng.normal(size=(n, m)) + theta * np.sqrt(n) * np.outer(left, right)
        values = spectrum(matrix)
        fit = fit_bulk(values, (n, m))
        assert fit.n_spikes == seen
        if seen:
            expected = (theta**2 + 1) * (theta**2 + m / n) / theta**2
            assert values[0] == pytest.approx(expected, rel=0.1)
            assert fit.soft_rank == pytest.approx(fit.upper / values[0])
    assert fit.soft_rank < 0.6


def test_soft_rank_of_noise(rng):
    fit = fit_bulk(spectrum(rng.normal(size=(400, 200))), (400, 200))
    assert fit.soft_rank == pytest.approx(1, abs=0.05)
    assert (fit.lower, fit.upper) == pytest.approx(bulk_edges(0.5, fit.sigma))
    assert fit.upper < fit.threshold < 1.1 * fit.upper


@given(factor=st.floats(1e-6, 1e6), divisor=st.floats(0.1, 1e4))
def test_units(factor, divisor):
    """σ is of the entries, the edges are of the eigenvalues given."""
    values = spectrum(np.random.default_rng(0).normal(size=(40, 90)))
    plain = fit_bulk(values, (40, 90))
    other = fit_bulk(values * 90 / divisor * factor**2, (90, 40), divisor=divisor)
    assert other.sigma == pytest.approx(plain.sigma * factor, rel=1e-12)
    assert other.upper == pytest.approx(plain.upper * 90 / divisor * factor**2, rel=1e-12)
    assert (other.n_spikes, other.soft_rank) == (plain.n_spikes, pytest.approx(plain.soft_rank))


def test_pooled_matrices(rng):
    matrices = rng.normal(size=(9, 64, 32))
    values = gram_spectra(matrices).eigenvalues.ravel() / 64
    fit = fit_bulk(rng.permutation(values), (32, 64))
    assert fit.sigma == pytest.approx(1, abs=4 * np.sqrt(2 / matrices.size))
    assert fit.n_spikes == 0


test_what_has_no_bulk = refused(
    lambda values, shape, options: fit_bulk(values, shape, **options),
    (np.ones(7), (7, 7), {}, ["found 7", "at least 8"]),
    (np.ones(10), (8, 9), {}, ["found 10", "multiple of 8"]),
    (np.r_[np.ones(10), -1], (11, 11), {}, ["not positive"]),
    (np.r_[np.ones(6), np.zeros(4)], (10, 10), {}, ["4 of 10", "expected at most 1/4"]),
    (np.ones(10), (10, 0), {}, ["shape: found 0"]),
    (np.ones(10), (10, 10), {"divisor": 0}, ["divisor: found 0"]),
)
