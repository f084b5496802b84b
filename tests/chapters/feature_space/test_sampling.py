"""The covariance of features, from samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import capcore as cc
from capcore.processes.feature_process import FeatureProcess
from capcore.processes.features import BASES
from chapters.feature_space.study import sampled_covariance

every_basis = pytest.mark.parametrize("basis", BASES.values(), ids=BASES)


@every_basis
def test_sampling_agrees(basis):
    """Of 300 z-scores the largest exceeds 5 with probability 2e-4, were they normal; cubes are heavier-tailed."""
    process = FeatureProcess(cc.PowerLaw(), basis(3))
    sampled = sampled_covariance(process, 8, 50_000, rng=1)
    scores = (sampled.mean - process.covariance(8)) / sampled.standard_error
    assert np.abs(scores).max() < 5
    assert 0.3 < scores.std() < 1.7
    again = sampled_covariance(process, 8, 50_000, rng=1)
    assert np.array_equal(sampled.mean, again.mean)


def test_the_standard_error_is_that_of_a_mean(rng):
    """The scatter of many small estimates, against the error that one of them states."""
    process = FeatureProcess(cc.AR1(0.5), cc.Hermite(2))
    estimates = [sampled_covariance(process, 2, 400, rng=rng) for _ in range(300)]
    scatter = np.std([estimate.mean for estimate in estimates], axis=0)
    stated = np.mean([estimate.standard_error for estimate in estimates], axis=0)
    assert_allclose(stated, scatter, rtol=0.25)


def test_one_sample_is_refused():
    with pytest.raises(ValueError, match="n_samples: found 1"):
        sampled_covariance(FeatureProcess(cc.AR1(), cc.Hermite(1)), 2, 1)
