import dataclasses

import numpy as np
import pytest
from scipy.stats import spearmanr

from capcore import AR1, DampedCosine, Hierarchical, PowerLaw
from chapters.hierarchical_errors.forces import forces, forces_across
from chapters.shared import survey


@pytest.fixture(scope="module")
def case():
    return survey.case(Hierarchical(channels=1, n_layers=6), PowerLaw())


def test_they_are_the_rank_correlations_of_the_registry(case):
    size, error = np.abs(case.problem.target), np.abs(case.error)
    found = forces(case)
    assert found.exists
    assert found.capacity == pytest.approx(spearmanr(size, case.allocation.per_input).statistic)
    assert found.outcome == pytest.approx(spearmanr(size, error).statistic)


def test_both_forces_are_felt_where_they_are_put(case, rng):
    """An error that is target size over capacity, in ranks: difficulty must come out positive whatever the outcome."""
    size, capacity = np.abs(case.problem.target), case.allocation.per_input
    error = size**0.5 / (capacity + 1e-3) ** 4
    coefficients = case.problem.target + error * rng.choice([-1, 1], size.size)
    made = dataclasses.replace(case, fit=dataclasses.replace(case.fit, coefficients=coefficients))
    assert forces(made).outcome < -0.5 < 0.3 < forces(made).difficulty


def test_a_target_that_is_attained_has_only_the_first_force():
    found = forces(survey.case(Hierarchical(channels=2, n_layers=4), AR1()))
    assert not found.exists and np.isnan(found.difficulty) and -1 <= found.capacity <= 1


def test_every_family_and_model_is_there():
    archs = {"c = 1": Hierarchical(1, 4), "c = 2": Hierarchical(2, 4)}
    across = forces_across(archs)
    assert {len(row) for row in across.values()} == {2}
    assert across["DampedCosine"][0] == forces(survey.case(archs["c = 1"], DampedCosine()))
