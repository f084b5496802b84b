import numpy as np
import pytest

from capcore.allocation import allocate
from capcore.architectures import Hierarchical
from capcore.optimum import Problem, fit
from capcore.processes import PowerLaw
from chapters.gaussian_prediction.study import constraint_matrix, count_directions, counts_under_mixing, regauge


def test_eigenvalues_are_squares_and_lose_what_is_below_the_root_of_rounding():
    counts = count_directions(np.diag(10.0 ** -np.arange(0.0, 12.0, 2.0)))
    assert np.allclose(counts.eigenvalues[:4], counts.singular_values[:4] ** 2)
    assert (counts.by_singular_values, counts.by_eigenvalues) == (6, 4)


@pytest.mark.parametrize("condition", [1.0, 100.0])
@pytest.mark.parametrize("channels", [1, 2, [2, 3, 1]])
def test_mixing_changes_neither_the_model_nor_its_constraint_space(channels, condition, rng):
    arch = Hierarchical(channels, n_layers=4)
    params = arch.init(rng)
    other = regauge(arch, params, condition, rng)
    assert condition == 1 or not np.allclose(other, params)
    assert np.allclose(arch.coefficients(other), arch.coefficients(params), atol=1e-12 * condition)
    gap = allocate(arch, other, PowerLaw()).per_input - allocate(arch, params, PowerLaw()).per_input
    assert np.abs(gap).max() < 1e-8


def test_the_count_through_the_gram_matrix_depends_on_the_mixing_and_the_other_does_not():
    arch = Hierarchical(4, n_layers=6)
    problem = Problem.of(arch, PowerLaw())
    params = fit(arch, problem).params
    balanced = count_directions(constraint_matrix(arch, params, problem))
    assert balanced.by_eigenvalues == balanced.by_singular_values == arch.generic_capacity() == 48
    mixed = counts_under_mixing(arch, params, problem, [1e3, 1e5])
    assert [counts.by_singular_values for counts in mixed] == [48, 48]
    assert 48 > mixed[0].by_eigenvalues > mixed[1].by_eigenvalues


def test_a_condition_below_one_is_refused(rng):
    arch = Hierarchical(2, n_layers=2)
    with pytest.raises(ValueError, match=r"condition: found 0\.5, expected a number of at least 1"):
        regauge(arch, arch.init(rng), 0.5, rng)
