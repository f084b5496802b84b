"""Several models of one process: rows, capacities, conditions."""

import numpy as np
import pytest

from capcore.architectures import Hierarchical, Linear
from capcore.optimum import Problem, fit
from capcore.processes import AR1, PowerLaw
from chapters.gaussian_prediction.study import models_by_channels
from chapters.hierarchical.study import (
    conditions_in_balance,
    conditions_of_sweep,
    exact_capacities,
    first_within,
    residual_condition,
    sweep,
    transition,
)


@pytest.fixture(scope="module")
def optima():
    return sweep(models_by_channels([1, 2, [2, 3], 4], n_layers=3), PowerLaw())


def test_every_row_is_its_models(optima):
    assert optima.width.tolist() == [1, 2, 2.5, 4]
    assert optima.n_params.tolist() == [arch.n_params for arch in optima.models.values()]
    assert optima.capacity.tolist() == [arch.generic_capacity() for arch in optima.models.values()]
    losses = [optima.problem.loss(found.coefficients) for found in optima.fits.values()]
    assert optima.loss == pytest.approx(losses)


def test_each_fit_is_that_of_the_seed_alone(optima):
    alone = fit(Hierarchical(2, 3), PowerLaw(), rng=0)
    assert np.array_equal(alone.params, optima.fits["2 channels"].params)


def test_allocations_describe_the_fits(optima):
    found = optima.allocations()
    assert [alloc.total for alloc in found.values()] == optima.capacity.tolist()
    assert found["1 channel"].per_input.sum() == pytest.approx(4)


def test_attained_targets_have_an_excess_of_exactly_zero(optima):
    assert (optima.excess[:1] > 0).all()
    assert optima.loss[-1] > 0
    assert optima.excess[-1] == 0


def test_singular_optima_are_allocated_without_a_warning(recwarn):
    (alloc,) = sweep(models_by_channels([2], 3), AR1()).allocations().values()
    assert alloc.total < alloc.generic_total
    assert not recwarn.list


def test_transitions(optima):
    assert transition(optima.width, optima.loss, optima.loss[1], factor=1.0) == 2
    assert transition(optima.width, optima.loss, optima.loss[1] / 5) == 2
    assert transition(optima.width, optima.loss, -1.0) == 8
    assert first_within([3.0, 2.0], 0.1) is None
    assert first_within([3.0, 2.0, 1.0], 0.2) == 1


def test_curves_and_both_routes_to_the_capacity(optima):
    assert [values.tolist() for values in optima.curve] == [optima.width.tolist(), optima.loss.tolist()]
    closed, eliminated = exact_capacities(optima.models)
    assert closed.tolist() == eliminated.tolist() == optima.capacity.tolist()


def test_a_model_without_hidden_layers_counts_as_one_channel_wide():
    assert sweep(models_by_channels([5], n_layers=1), PowerLaw()).width.tolist() == [1.0]


def test_it_is_the_squared_condition_number_of_the_residuals_jacobian(rng):
    arch = Hierarchical(2, 4)
    problem, params = Problem.of(arch, PowerLaw()), arch.init(rng)
    s = np.linalg.svd(problem.root @ arch.jacobian(params), compute_uv=False)
    assert residual_condition(arch, params, problem) == pytest.approx((s[0] / s[arch.generic_capacity() - 1]) ** 2)


def test_of_the_fully_connected_model_it_is_that_of_the_covariance():
    process = PowerLaw()
    expected = np.linalg.cond(process.covariance(8))
    assert residual_condition(Linear(np.eye(8)), np.ones(8), process) == pytest.approx(expected)


def test_it_is_finite_where_rank_is_lost():
    arch = Hierarchical(2, 3)
    assert residual_condition(arch, np.ones(arch.n_params), PowerLaw()) == pytest.approx(1 / np.finfo(float).eps)


def test_wide_models_are_better_conditioned_than_those_that_just_fill_the_space():
    narrow, wide = (
        residual_condition(arch, arch.init(np.random.default_rng(0)), PowerLaw())
        for arch in (Hierarchical(4, 6), Hierarchical(64, 6))
    )
    assert narrow > 10 * wide


def test_a_sweep_has_a_beginning_and_an_end_for_every_model():
    found = sweep(models_by_channels([1, 2], 4), PowerLaw())
    begins, ends = conditions_of_sweep(found, seed=3)
    arch = found.models["2 channels"]
    assert begins[1] == residual_condition(arch, arch.init(np.random.default_rng(3)), PowerLaw())
    assert ends[1] == residual_condition(arch, found.fits["2 channels"].params, PowerLaw())


def test_a_model_out_of_balance_is_badly_conditioned_and_can_be_mended(rng):
    """One layer times a million, the next divided by it: the same model."""
    arch = Hierarchical(2, 4)
    found = fit(arch, PowerLaw())
    kernels = arch.kernels(found.params)
    skewed = np.concatenate([(k * f).ravel() for k, f in zip(kernels, (1e6, 1e-6, 1, 1), strict=True)])
    skewed = fit(arch, PowerLaw(), start=skewed, max_iterations=0)
    ends, balanced = conditions_in_balance(arch, [found, skewed], PowerLaw(), rng)
    assert ends[1] > 1e6 * ends[0]
    assert balanced[1] == pytest.approx(balanced[0], rel=1e-3)
