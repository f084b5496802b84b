"""Eigenvalues above their noise: how often the count is right, and the stored counts."""

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.processes import PowerLaw
from capcore.processes.problem import Problem
from chapters.gaussian_prediction.study import gram_eigenvalues, models_by_channels
from chapters.hierarchical.eigenvalue_counts import (
    SETTINGS,
    count_above_noise,
    count_models,
    model_eigenvalues,
    noise_scale,
    registered_counts,
)
from chapters.kit.stored import stored


def test_the_scale_is_that_of_the_most_negative():
    assert noise_scale([2.0, -3e-16, -1e-17]) == 3e-16
    assert noise_scale([2.0, 1.0]) == 0.0
    assert count_above_noise([2.0, 1.0]) == 2


def test_a_symmetric_noise_gives_the_count_half_of_the_time(rng):
    """The largest of m positive noise values exceeds the most negative of m others with probability one half."""
    noise = rng.normal(0, 1e-15, (4000, 40))
    counts = [count_above_noise(np.append(np.ones(3), values)) for values in noise]
    assert np.mean(np.array(counts) == 3) == pytest.approx(0.5, abs=0.04)  # five standard errors


def test_eigenvalues_of_a_model_are_squared_singular_values(rng):
    arch = Hierarchical(2, 3)
    problem, params = Problem.of(arch, PowerLaw()), arch.init(rng)
    squares = np.linalg.svd(problem.covariance @ arch.jacobian(params), compute_uv=False) ** 2
    found = model_eigenvalues(arch, params, problem)
    assert np.allclose(found, squares, atol=1e-12 * squares[0])
    assert np.array_equal(found, gram_eigenvalues(problem.covariance @ arch.jacobian(params)))


def test_a_model_that_fills_the_space_is_counted_right_and_has_no_noise():
    found = count_models({"full": Hierarchical(2, n_layers=3)}, PowerLaw())
    assert found["right"] == {"full": True}
    assert found["negative_share"] == {"full": 0.0}


def test_a_singular_optimum_is_counted_wrong():
    """AR(1): the optimum of a model with more than one channel has a lower rank than the generic one."""
    assert not count_models(models_by_channels([2], 4), PowerLaw())["families"]["AR1"]["2 channels"]


def test_the_stored_counts_are_those_of_a_run_now_but_for_rounding():
    """What rounding cannot change: full models are counted right, singular optima wrong, and signs are balanced."""
    content = stored("eigenvalue_counts")
    assert content["settings"] == SETTINGS
    kept = content["values"]
    now = count_models(models_by_channels([1, 8], 6), PowerLaw())
    assert now["right"]["8 channels"] == kept["right"]["8 channels"] is True
    for family in ("AR1", "DampedCosine"):
        assert now["families"][family]["8 channels"] == kept["families"][family]["8 channels"] is False
    assert np.isclose(now["negative_share"]["1 channel"], kept["negative_share"]["1 channel"], atol=0.15)


def test_registered_counts_are_stored_or_made_now():
    content = stored("eigenvalue_counts")
    models = models_by_channels(content["settings"]["channels"], 6)
    assert registered_counts(content, models, PowerLaw()) is content["values"]
    assert registered_counts(content, models_by_channels([1], 3), PowerLaw())["right"].keys() == {"1 channel"}
    assert registered_counts(content, models, PowerLaw(), seed=1) is not content["values"]
