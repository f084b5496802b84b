"""The pruned scan is the exhaustive one; exponents, errors and refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.spectra.exponents import fit_tail
from capcore.spectra.power_law import best_tails, fit_power_law, fit_power_laws, pack, starts
from tests.strategies import refused, seeds


def exhaustive(values, min_tail=2):
    """(α, x_min, D) of every distinct value as x_min, by the formulas as they are printed, in order of x_min."""
    values = np.sort(values)
    rows = []
    for x_min in np.unique(values)[:-1]:
        tail = values[values >= x_min]
        n = len(tail)
        if n < min_tail:
            continue
        alpha = 1 + n / np.sum(np.log(tail / x_min))
        distance = np.max(np.abs(1 - (tail / x_min) ** (1 - alpha) - np.arange(n) / n))
        rows.append((alpha, x_min, distance))
    return np.array(rows)


@settings(max_examples=150, deadline=None)
@given(seeds, st.integers(2, 120), st.sampled_from(["pareto", "ties", "wishart", "lognormal", "wide", "narrow"]))
def test_the_scan_finds_what_an_exhaustive_one_finds(seed, n, kind):
    rng = np.random.default_rng(seed)
    values = {
        "pareto": lambda: rng.pareto(1.5, n) + 1,
        "ties": lambda: rng.integers(1, 8, n).astype(float),
        "wishart": lambda: np.linalg.svd(rng.standard_normal((n, n + 3)), compute_uv=False) ** 2,
        "lognormal": lambda: rng.lognormal(size=n),
        "wide": lambda: 10.0 ** rng.uniform(-140, 140, n),
        "narrow": lambda: 1 + 1e-3 * rng.random(n),
    }[kind]()
    fit = fit_power_law(values, threshold=0.0)
    if len(np.unique(values)) < 2:
        assert not fit.ok
    else:
        rows = exhaustive(values)
        best = rows[rows[:, 2].argmin()]
        mine = rows[rows[:, 1] == fit.x_min][0]
        precision = 1e-7 if kind == "narrow" else 1e-12  # ln(x/x_min) near zero: rounding of x over its gaps
        assert fit.distance == pytest.approx(best[2], abs=precision)
        assert fit.alpha == pytest.approx(mine[0], rel=precision)
        if len(rows) == 1 or np.ptp(np.sort(rows[:, 2])[:2]) > 2 * precision:
            assert fit.x_min == best[1]


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 300), st.booleans())
def test_the_scan_is_bitwise_an_exhaustive_one_over_logarithms(seed, n, ties):
    rng = np.random.default_rng(seed)
    logs = np.sort(rng.integers(0, 9, n) / 4.0 if ties else rng.standard_normal(n))
    packed = pack([logs])
    allowed = starts(packed)
    if not allowed.any():
        return
    every = [(i, *fit_tail(logs[i:], logs[i])) for i in np.flatnonzero(allowed)]
    expected = min(every, key=lambda row: row[2])
    assert best_tails(packed, allowed) == [expected]


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 40), st.integers(2, 12))
def test_no_tail_is_shorter_than_asked_and_none_is_left_out(seed, n, min_tail):
    values = np.abs(np.random.default_rng(seed).standard_normal(n))  # thin-tailed: short tails fit best
    rows, fit = exhaustive(values, min_tail), fit_power_law(values, min_tail=min_tail, threshold=0.0)
    assert fit.ok == bool(len(rows))
    if fit.ok:
        assert fit.n_tail >= min_tail
        assert fit.distance == pytest.approx(rows[:, 2].min(), abs=1e-12)
        assert fit.x_min == rows[rows[:, 2].argmin(), 1]


TIED = [[1.0, 1, 1, 2, 2, 4], [1.0, 1, 1, 4, 4, 8], [1.0, 1, 1, 4, 4, 64]]
"""Three of six values, then two of three, are the tail's lowest: D is 2/6 from the first on, 1/3 from the fourth."""


@pytest.mark.parametrize("together", [False, True])
def test_of_tails_at_one_distance_the_longest_is_taken(together):
    """Exact ties, alone and among other spectra, whose best tails are found in another way."""
    others = [np.random.default_rng(seed).pareto(1.5, 30) + 1 for seed in range(2)]
    for values in TIED:
        logs = np.log(values)
        distances = [fit_tail(logs[start:], logs[start])[1] for start in (0, 3)]
        assert distances[0] == distances[1] == 1 / 3
        spectra = [others[0], values, others[1]] if together else [values]
        fit = fit_power_laws(spectra)[len(spectra) // 2]
        assert (fit.x_min, fit.n_tail, fit.distance) == (1.0, 6, 1 / 3)


def test_several_spectra_are_fitted_as_each_alone():
    rng = np.random.default_rng(1)
    spectra = [rng.pareto(1.5, n) + 1 for n in (30, 50, 30, 2, 50, 1)]
    assert repr(fit_power_laws(spectra)) == repr([fit_power_law(spectrum) for spectrum in spectra])
    assert fit_power_laws([]) == []


def test_sigma_is_that_of_a_known_x_min():
    fit = fit_power_law(np.random.default_rng(0).pareto(1.5, 400) + 1, x_min=1.0)
    assert fit.sigma == pytest.approx((fit.alpha - 1) / 20)
    assert (fit.n_tail, fit.n, fit.ok) == (400, 400, True)


def test_zeros_are_dropped_by_rule():
    values = np.random.default_rng(0).pareto(1.5, 50) + 1
    padded = np.r_[values, 0.0, 0.0, 1e-16, -1e-16]
    fit, plain = fit_power_law(padded), fit_power_law(values)
    assert (fit.alpha, fit.x_min, fit.n) == (plain.alpha, plain.x_min, 50)
    assert fit_power_law(np.r_[values, 1e-16], threshold=0.0).n == 51
    assert fit_power_law(values, threshold=np.median(values)).n == 25


def test_booleans_are_no_spectrum():
    with pytest.raises(ValueError, match=r"^eigenvalues: found booleans, expected"):
        fit_power_law([True, False])


@pytest.mark.parametrize(
    ("values", "options", "reason"),
    [
        ([2.0], {}, "1 eigenvalue(s) left"),
        ([0.0, 0.0], {}, "0 eigenvalue(s) left"),
        ([3.0, 3.0, 3.0], {}, "too few distinct"),
        ([1.0, 2.0, 2.0, 2.0], {"min_tail": 5}, "4 eigenvalue(s) left"),
        ([1.0, 2.0], {"x_min": 5.0}, "from x_min = 5 on"),
        ([5.0, 5.0], {"x_min": 5.0}, "from x_min = 5 on are equal"),
    ],
)
def test_too_little_is_a_status_with_a_reason(values, options, reason):
    fit = fit_power_law(values, **options)
    assert fit.status == "failed" and not fit.ok and reason in fit.reason
    assert np.isnan(fit.alpha) and np.isnan(fit.distance) and np.isnan(fit.sigma)


test_bad_input_is_refused = refused(
    lambda values, options: fit_power_law(values, **options),
    ([1.0, -1.0], {}, ["eigenvalues", "-1", "squared singular values"]),
    ([[1.0, 2.0]], {}, ["eigenvalues", "(1, 2)"]),
    ([1.0, 2.0], {"x_min": 0.0}, ["x_min", "positive"]),
    ([1.0, 2.0], {"min_tail": 1}, ["min_tail", "at least 2"]),
    ([1.0, 2.0], {"threshold": -1.0}, ["threshold", "-1"]),
)
