import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.optimum import fit
from capcore.processes import AR1, PowerLaw
from chapters.gaussian_prediction.study import models_by_channels
from chapters.hierarchical.channel_sweep import exact_capacities, first_within, sweep


@pytest.fixture(scope="module")
def optima():
    return sweep(models_by_channels([1, 2, [2, 3], 4], n_layers=3), PowerLaw())


def test_every_row_is_its_models(optima):
    assert optima.width.tolist() == [1, 2, 2.5, 4]
    assert optima.n_params.tolist() == [arch.n_params for arch in optima.models.values()]
    assert optima.capacity.tolist() == [arch.generic_capacity() for arch in optima.models.values()]
    losses = [optima.problem.loss(found.coefficients) for found in optima.fits.values()]
    assert optima.loss == pytest.approx(losses)
    assert (optima.n_iterations >= 0).all()


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
    assert optima.transition(optima.loss[1], factor=1.0) == 2
    assert optima.transition(optima.loss[1] / 5) == 2
    assert optima.transition(-1.0) == 8
    assert first_within([3.0, 2.0], 0.1) is None
    assert first_within([3.0, 2.0, 1.0], 0.2) == 1


def test_curves_and_both_routes_to_the_capacity(optima):
    assert [values.tolist() for values in optima.curve] == [optima.width.tolist(), optima.loss.tolist()]
    closed, eliminated = exact_capacities(optima.models)
    assert closed.tolist() == eliminated.tolist() == optima.capacity.tolist()


def test_a_model_without_hidden_layers_counts_as_one_channel_wide():
    assert sweep(models_by_channels([5], n_layers=1), PowerLaw()).width.tolist() == [1.0]
