"""Hill's estimator is its definition, and Clauset's exponent at the same x_min but for one eigenvalue."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.spectra.hill import hill_table
from capcore.spectra.power_law import fit_power_law
from tests.strategies import refused, seeds


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(2, 80))
def test_the_table_is_the_definition(seed, n):
    values = np.random.default_rng(seed).pareto(1.5, n) + 1
    table = hill_table(values)
    ordered = np.sort(values)[::-1]
    for k in range(1, n):
        total = np.log(ordered[:k] / ordered[k]).sum()
        assert table.alpha[k - 1] == pytest.approx(1 + k / total, rel=1e-11)
        assert table.standard_error[k - 1] == pytest.approx(k / total / np.sqrt(k), rel=1e-11)
    np.testing.assert_allclose(table.x_min, ordered[1:])


def test_it_leaves_out_the_eigenvalue_that_is_x_min():
    values = np.random.default_rng(0).pareto(1.5, 60) + 1
    table = hill_table(values)
    for k in (5, 30, 59):
        fit = fit_power_law(values, x_min=float(table.x_min[k - 1]) * (1 - 1e-15))
        assert fit.n_tail == k + 1
        assert table.alpha[k - 1] - 1 == pytest.approx((fit.alpha - 1) * k / (k + 1))


def test_without_bias_for_a_power_law():
    rng = np.random.default_rng(1)
    tables = [hill_table(rng.pareto(1.5, 50) + 1) for _ in range(2000)]
    alpha, error = (np.array([getattr(table, name)[19] for table in tables]) for name in ("alpha", "standard_error"))
    assert (1 / (alpha - 1)).mean() == pytest.approx(1 / 1.5, abs=4 * (1 / (alpha - 1)).std() / np.sqrt(2000))
    assert alpha.std() == pytest.approx(np.median(error), rel=0.2)  # skewed at k = 20


def test_ties():
    table = hill_table([1.0, 2.0, 2.0])
    assert np.isinf(table.alpha[0]) and np.isfinite(table.alpha[1])


test_bad_input_is_refused = refused(
    lambda use: use(),
    (lambda: hill_table([1.0]), ["eigenvalues", "at least 2"]),
    (lambda: hill_table([1.0, 0.0]), ["eigenvalues", "found 1"]),
)
