"""Student's interval against SciPy's own."""

import numpy as np
import pytest
from scipy import stats

from capcore.intervals import student_interval


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_it_is_scipys(rng, level):
    samples = rng.normal(size=(7, 3))
    mean, half = student_interval(samples, level)
    low, high = stats.t.interval(level, 6, samples.mean(axis=0), stats.sem(samples, axis=0))
    np.testing.assert_allclose(mean - half, low, rtol=1e-12)
    np.testing.assert_allclose(mean + half, high, rtol=1e-12)
