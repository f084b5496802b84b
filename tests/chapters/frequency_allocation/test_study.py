import numpy as np
import pytest
from scipy.linalg import circulant

from capcore.architectures import Hierarchical, Linear
from capcore.processes import AR1, PowerLaw
from chapters.frequency_allocation import study
from chapters.shared.survey import case


@pytest.fixture(scope="module")
def found():
    return case(Hierarchical(2, 5), PowerLaw()).allocation


def test_profiles_keep_the_total(found):
    modes = study.along_modes(found)
    assert modes.shape == (17,) and modes.max() <= 1 + 1e-9
    assert 2 * modes.sum() - modes[0] - modes[-1] == pytest.approx(found.total)


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


def test_the_gap_vanishes_along_the_eigenvectors_themselves(found):
    vectors = np.linalg.eigh(found.covariance)[1]
    assert study.profile_gap(found, vectors) == pytest.approx(0, abs=1e-9)
    assert study.profile_gap(found, study.fourier_modes(32)) > 0.01


def test_gaps_by_window():
    table = study.gaps_by_window(PowerLaw(), 1, [3, 4])
    assert table["n_inputs"].tolist() == [8, 16]
    assert table["mean capacity"] == pytest.approx([4 / 8, 5 / 16])
    again = case(Hierarchical(1, 4), PowerLaw()).allocation
    assert table["fourier"][1] == pytest.approx(study.profile_gap(again, study.fourier_modes(16)))


def test_pairs_have_as_many_values_as_frequencies(found):
    rough = study.roughnesses(found)
    assert set(rough) == {"frequencies", "inputs", "pairs of inputs"}
    assert rough["pairs of inputs"] <= rough["inputs"] + 1e-9 or rough["pairs of inputs"] > 1
    assert study.halves(np.arange(5.0)).tolist() == [0.5, 2.5]


def test_a_full_model_is_flat_with_and_without_training():
    full = Linear(np.eye(8))
    weighted, plain = study.untrained(full, PowerLaw(), 3)
    assert weighted == pytest.approx(np.ones((3, 5))) and plain == pytest.approx(np.ones((3, 5)))


def test_untrained_models_are_drawn_from_the_seed():
    arch = Hierarchical(1, 3)
    first, second = (study.untrained(arch, PowerLaw(), 2, seed) for seed in (0, 1))
    assert np.array_equal(first[0], study.untrained(arch, PowerLaw(), 2, 0)[0])
    assert not np.allclose(first[0], second[0])
    assert 2 * first[1].sum(axis=1) - first[1][:, 0] - first[1][:, -1] == pytest.approx([4, 4])


def test_a_full_model_is_left_out():
    assert study.not_full({"a": Hierarchical(1, 3), "b": Hierarchical(8, 3)}) == ["a"]
    with pytest.raises(ValueError, match=r"channels: found only models with full capacity .b., expected a smaller one"):
        study.not_full({"b": Hierarchical(8, 3)})


def test_contrast():
    profile = np.zeros(33)
    profile[8::8] = 1
    assert study.contrast(profile, 8) == pytest.approx(1)
    assert study.contrast(np.array([profile, 0 * profile]), 4) == pytest.approx([0, 0])
    with pytest.raises(ValueError, match="period: found 5, expected a number whose double divides the 64 inputs"):
        study.contrast(profile, 5)


def test_a_wave_has_its_frequency_and_its_shadow_the_capacity_of_its_plane(found):
    """The two modes of a frequency share its capacity; the longest shadow is the larger share."""
    wave, shadow = study.wave_and_shadow(found.space, 1 / 8)
    spectrum = np.abs(np.fft.rfft(wave))
    assert np.argmax(spectrum) == 4 and spectrum[4] == pytest.approx(np.sqrt(32 / 2) * np.linalg.norm(wave))
    assert found.space.basis @ (found.space.basis.T @ shadow) == pytest.approx(shadow)
    share, both = shadow @ shadow / (wave @ wave), found.per_frequency[4]
    assert both / 2 <= share <= min(1, both)
