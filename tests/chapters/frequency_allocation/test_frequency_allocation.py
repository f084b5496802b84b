"""Capacity along frequencies: totals, waves, windows and untrained models."""

import numpy as np
import pytest
from scipy.linalg import circulant

from capcore.architectures import Hierarchical
from capcore.processes import AR1, PowerLaw
from chapters.frequency_allocation import figures as draw
from chapters.frequency_allocation import study
from chapters.shared.survey import case


def test_the_band_is_the_central_eighty_per_cent(ax):
    draws = np.linspace(0, 1, 101)[:, None] * np.ones(9)
    assert draw.plot_untrained(np.full(9, 0.3), draws, draws / 2, ax) is ax
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((0.1, 0.9))
    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    assert lines["trained"] == pytest.approx(np.full(9, 0.3))
    assert lines["untrained, without Σ"] == pytest.approx(np.full(9, 0.25))


@pytest.fixture(scope="module")
def alloc():
    return case(Hierarchical(2, 5), PowerLaw()).allocation


def test_profiles_keep_the_total(alloc):
    modes = study.along_modes(alloc)
    assert modes.shape == (17,) and modes.max() <= 1 + 1e-9
    assert 2 * modes.sum() - modes[0] - modes[-1] == pytest.approx(alloc.total)


def test_standing_waves_are_orthonormal():
    waves = study.cosine_modes(12)
    assert waves.T @ waves == pytest.approx(np.eye(12), abs=1e-12)
    assert waves[:, 1] == pytest.approx(np.cos(np.pi * (np.arange(12) + 0.5) / 12) * np.sqrt(2 / 12))


def test_a_circulant_covariance_has_fourier_modes_as_eigenvectors():
    lags = np.minimum(np.arange(16), 16 - np.arange(16))
    fourier, standing = study.largest_shares(circulant(0.7**lags))
    assert fourier == pytest.approx(1.0)
    assert standing < 0.95


def test_eigenvectors_of_ar1_are_nearly_standing_waves_and_no_fourier_modes():
    """φ → 1 gives the DCT; the share in a Fourier frequency does not grow with the window."""
    shares = np.array([study.largest_shares(AR1(0.99).covariance(n)) for n in (32, 128)])
    assert np.all(shares[:, 1] > 0.98) and np.all(shares[:, 0] < 0.9)
    assert shares[1, 0] < shares[0, 0] + 0.01


def test_the_gap_vanishes_along_the_eigenvectors_themselves(alloc):
    vectors = np.linalg.eigh(alloc.covariance)[1]
    assert study.profile_gap(alloc, vectors) == pytest.approx(0, abs=1e-9)
    assert study.profile_gap(alloc, study.fourier_modes(32)) > 0.01


def test_contrast():
    profile = np.zeros(33)
    profile[8::8] = 1
    assert study.contrast(profile, 8) == pytest.approx(1)
    assert study.contrast(np.array([profile, 0 * profile]), 4) == pytest.approx([0, 0])


def test_a_wave_has_its_frequency_and_its_shadow_the_capacity_of_its_plane(alloc):
    """The two modes of a frequency share its capacity; the longest shadow is the larger share."""
    wave, shadow = study.wave_and_shadow(alloc.space, 1 / 8)
    spectrum = np.abs(np.fft.rfft(wave))
    assert np.argmax(spectrum) == 4 and spectrum[4] == pytest.approx(np.sqrt(32 / 2) * np.linalg.norm(wave))
    assert alloc.space.basis @ (alloc.space.basis.T @ shadow) == pytest.approx(shadow)
    share, both = shadow @ shadow / (wave @ wave), alloc.per_frequency[4]
    assert both / 2 <= share <= min(1, both)
