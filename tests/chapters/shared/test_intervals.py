"""Student's intervals, for a mean and for a ratio."""

import numpy as np
import pytest
from scipy import stats

from chapters.shared.intervals import Interval, geometric_interval, student_interval


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_it_is_scipys(rng, level):
    samples = rng.normal(size=(7, 3))
    mean, half = student_interval(samples, level)
    low, high = stats.t.interval(level, 6, samples.mean(axis=0), stats.sem(samples, axis=0))
    np.testing.assert_allclose(mean - half, low, rtol=1e-12)
    np.testing.assert_allclose(mean + half, high, rtol=1e-12)


def test_intervals_cover():
    """95 % of 1,000 intervals, with a standard error of 0.7 %."""
    rng = np.random.default_rng(0)
    found = [Interval.of(rng.normal(size=6)) for _ in range(1000)]
    assert np.mean([abs(mean) < width for mean, width in found]) == pytest.approx(0.95, abs=0.025)


def test_ends_and_signs():
    assert [Interval.of(v).sign for v in ([1, 1.1], [-1, -1.1], [1, -1])] == [1, -1, 0]
    assert (Interval(2.0, 0.5).low, Interval(2.0, 0.5).high) == (1.5, 2.5)
    with pytest.raises(ValueError, match="level: found 1, expected a number between 0 and 1"):
        Interval.of([1, 2], 1)
    with pytest.raises(ValueError, match="samples: found 1, expected at least 2"):
        Interval.of([1.0])


def test_geometric_intervals():
    mean, low, high = geometric_interval(np.array([[1.0, 10.0], [4.0, 10.0], [16.0, 10.0]]))
    np.testing.assert_allclose(mean, [4, 10])
    np.testing.assert_allclose([low[1], high[1]], 10)
    assert low[0] * high[0] == pytest.approx(16) and low[0] < 1  # symmetric in the logarithm
    with pytest.raises(ValueError, match="samples: found 1, expected at least 2"):
        geometric_interval([1.0])
    with pytest.raises(ValueError, match="samples: found 0, expected more than 0"):
        geometric_interval([1.0, 0.0])
