"""Equation 6 of paper 3 where α is known: limits, units, and spectra of pure power laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.spectra import fit_power_law, spectrum_norms
from chapters.spectra_metrics import study
from tests.strategies import seeds


@given(seeds, st.floats(0.5, 50))
def test_in_one_unit_it_is_the_log_stable_rank(seed, n):
    values = np.random.default_rng(seed).pareto(1.5, 12) + 2
    assert study.log_ratio(values) == pytest.approx(spectrum_norms(values).log_stable_rank, rel=1e-12)
    assert study.log_ratio(values, n, n) == pytest.approx(spectrum_norms(values / n).log_stable_rank, rel=1e-9)


@pytest.mark.parametrize("entries", study.ENTRIES)
def test_entries_have_the_tail_that_was_asked_for(entries):
    found = np.sort(np.abs(study.heavy_tailed(1.2, 400, entries, np.random.default_rng(0))).ravel())
    counts = [(found > x).mean() for x in (10.0, 100.0)]
    assert np.log10(counts[0] / counts[1]) == pytest.approx(1.2, abs=0.12)  # 600 beyond 100: 4 % of a count


def test_norms_grow_as_derived():
    """Σλ and λ_max of WᵀW both grow as n^(4/μ), whence the limit (4/μ)/(4/μ − 1); medians of 400 extremes: ± 0.16."""
    rng, medians = np.random.default_rng(0), []
    for n in (20, 80):
        draws = [study.heavy_tailed(1.0, n, "both signs", rng) for _ in range(400)]
        spectra = [np.linalg.svd(weights, compute_uv=False) ** 2 for weights in draws]
        medians.append([np.median([np.log(part(values)) for values in spectra]) for part in (np.sum, np.max)])
    growth = np.subtract(*medians[::-1]) / np.log(4)
    np.testing.assert_allclose(growth, 4.0, atol=0.4)
    assert growth[0] == pytest.approx(growth[1], abs=0.1)  # one eigenvalue carries the sum
    assert study.entries_limit(1.0) == pytest.approx(4 / (4 - 1))


def test_simulated_units_are_those_of_the_definition():
    found = study.simulated([1.0], 30, 3, "both signs", np.random.default_rng(0))
    rng = np.random.default_rng(0)
    values = np.linalg.svd(study.heavy_tailed(1.0, 30, "both signs", rng), compute_uv=False) ** 2
    assert found["alpha"][0, 0] == fit_power_law(values).alpha and found["limit"][0, 0] == 1.5
    expected = {
        "printed": study.log_ratio(values, 1, 30),
        "W": study.log_ratio(values),
        "W/√N": study.log_ratio(values / 30),
        "half": study.log_ratio(values / 4, 1, 30),
        "double": study.log_ratio(values * 4, 1, 30),
    }
    for unit, value in expected.items():
        assert found[unit][0, 0] == pytest.approx(value, rel=1e-12)
    assert study.deviation(found) == pytest.approx(abs(found["printed"].mean() / found["alpha"].mean() - 1))


@pytest.mark.parametrize(("alpha", "limit"), [(1.3, 1.3), (1.6, 1.6), (3.0, 4.0), (4.0, 6.0)])
def test_pure_power_laws_tend_to_their_limits(alpha, limit):
    far = [abs(study.pure_ratio(alpha, 10**k) - limit) for k in (2, 6)]
    assert far[1] < far[0] and far[1] < 0.08 * limit


def test_a_pure_power_law_directly():
    n, alpha = 50, 1.8
    values = ((np.arange(n) + 0.5) / n) ** (-1 / (alpha - 1))
    assert study.pure_ratio(alpha, n) == pytest.approx(np.log(n * values.sum()) / np.log(values[0]), rel=1e-12)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match=r"alpha: found 1\.0"):
        study.pure_ratio(1.0, 10)
    with pytest.raises(ValueError, match="entries: found 'negative'"):
        study.heavy_tailed(1.0, 4, "negative", np.random.default_rng(0))
