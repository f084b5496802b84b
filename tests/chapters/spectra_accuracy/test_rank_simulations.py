"""Simulated samples and tables whose relation is known."""

import numpy as np
import pytest

from chapters.spectra_accuracy import rank_simulations as study


def test_the_copula_interval_keeps_its_level_where_the_others_do_not():
    found = study.coverage([4, 10], 0.8, 60, np.random.default_rng(0), n_resamples=100)
    assert set(found) == set(study.INTERVALS)
    assert min(found["copula"]) > 0.9  # 95 % by design, 60 samples
    assert found["bca"][0] < found["copula"][0]
    assert all(0 <= share <= 1 for shares in found.values() for share in shares)


def test_power_rises_with_networks_and_correlation():
    found = study.power_curves([4, 8, 20], [0.9, 0.4], np.random.default_rng(0), 500)
    assert found[0.9][0] == 0 and list(found[0.9]) == sorted(found[0.9])
    assert (found[0.9] >= found[0.4]).all()


def test_a_metric_that_knows_only_size_has_little_left_at_fixed_size():
    families = [4, 6, 8, 12, 20]
    nothing, much = (study.size_studies(families, knows, 60, np.random.default_rng(0)) for knows in (0.0, 3.0))
    assert nothing.metric.mean() > 0.6 and much.metric.mean() > 0.6  # which is why the plain average cannot tell
    assert nothing.size.mean() < -0.9
    assert abs(nothing.partial.mean()) < 0.2 < 0.4 < much.partial.mean()


def test_it_refuses():
    with pytest.raises(ValueError, match="correlation: found 1"):
        study.coverage([4], 1.0, 30, np.random.default_rng(0))
    with pytest.raises(ValueError, match="n_studies: found 0"):
        study.size_studies([4], 0.0, 0, np.random.default_rng(0))
