"""Hill's estimator is its definition, and Clauset's exponent at the same x_min but for one eigenvalue."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capcore.spectra.hill import hill_table
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


def test_ties():
    table = hill_table([1.0, 2.0, 2.0])
    assert np.isinf(table.alpha[0]) and np.isfinite(table.alpha[1])


test_bad_input_is_refused = refused(
    lambda use: use(),
    (lambda: hill_table([1.0]), ["eigenvalues", "at least 2"]),
    (lambda: hill_table([1.0, 0.0]), ["eigenvalues", "found 1"]),
)
