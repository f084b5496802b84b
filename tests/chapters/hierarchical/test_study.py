"""Dilated stacks: coefficients, indices and shares in closed form against linear algebra, and sweeps over widths."""

from itertools import product

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.capacity.constraints import ConstraintSpace
from capcore.fitting.optimum import fit
from capcore.processes import AR1, PowerLaw
from chapters.gaussian_prediction.study import models_by_channels
from chapters.hierarchical.study import (
    cut_shares,
    digits,
    disjoint_dilations,
    doublings_beyond,
    exact_capacities,
    first_within,
    impulse_response,
    multiply_adds,
    printed_indices,
    products,
    sweep,
)

KERNELS = [(2,) * 6, (3, 2, 4), (5,), (1, 3, 2)]


def one_channel(sizes, seed=0):
    arch = Hierarchical(1, kernel_size=sizes)
    params = arch.init(np.random.default_rng(seed))
    return arch, params, [kernel.ravel() for kernel in arch.kernels(params)]


@pytest.mark.parametrize("sizes", KERNELS)
def test_three_routes_to_the_coefficients_agree(sizes):
    arch, params, weights = one_channel(sizes)
    coefficients = arch.coefficients(params)
    assert np.allclose(products(weights), coefficients, rtol=1e-12)
    assert np.allclose(impulse_response(weights, arch.dilations), coefficients, rtol=1e-12)


@pytest.mark.parametrize("sizes", KERNELS)
def test_digits_write_the_lag(sizes):
    """τ = Σ t_l d_l, every digit in its range, every combination once."""
    written = digits(sizes)
    assert (written @ disjoint_dilations(sizes) == np.arange(np.prod(sizes))).all()
    assert {tuple(row) for row in written.tolist()} == set(product(*map(range, sizes)))


def test_the_printed_index_is_right_in_the_first_layer_only():
    sizes = (2, 2, 2)
    right = printed_indices(sizes) == digits(sizes)
    assert right[:, 0].all()
    assert not right[:, 1].all()
    assert printed_indices(sizes).max() >= 2


def test_kernel_sizes_must_be_positive():
    with pytest.raises(ValueError, match="kernel_sizes: found 0"):
        digits([2, 0])


def test_four_channels_and_six_layers_have_one_cut_that_matters():
    """Ranks 1, 2, 4, 4, 4, 2, 1: only the middle one, of an 8 x 8 matrix, is restricted."""
    arch = Hierarchical(4, 6)
    params = arch.init(np.random.default_rng(1))
    older, recent = cut_shares(arch.coefficients(params), arch.kernel_sizes, rank=4)
    numerical = ConstraintSpace.from_columns(arch.jacobian(params)).per_input()
    assert np.allclose(1 - np.outer(1 - older, 1 - recent).ravel(), numerical, atol=1e-10)
    assert older.sum() == pytest.approx(4)
    assert recent.sum() == pytest.approx(4)


def test_a_cut_above_another_layer_has_rows_and_columns_of_its_own():
    older, recent = cut_shares(np.arange(1.0, 13.0), [3, 2, 2], rank=1, layer=2)
    assert (older.size, recent.size) == (2, 6)


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
    assert doublings_beyond(1, optima.width, optima.loss, optima.loss[1], factor=1.0) == 1
    assert doublings_beyond(1, optima.width, optima.loss, optima.loss[1] / 5) == 1
    assert doublings_beyond(1, optima.width, optima.loss, -1.0) == 0, "no transition is none beyond"
    assert first_within([3.0, 2.0], 0.1) is None
    assert first_within([3.0, 2.0, 1.0], 0.2) == 1


def test_work_is_counted_by_evaluations(monkeypatch):
    """Each evaluation of three layers of two taps and two channels: 4 · 1 + 8 · 2 + 4 · 4 uses, in three passes."""
    arch, calls = Hierarchical(2, 3), []
    original = Hierarchical.linearise
    monkeypatch.setattr(Hierarchical, "linearise", lambda self, params: calls.append(1) or original(self, params))
    found = multiply_adds(arch, PowerLaw(), method="l-bfgs-b", max_iterations=5)
    assert found == 3 * 36 * len(calls)
    assert 5 <= len(calls) <= 20


def test_curves_and_both_routes_to_the_capacity(optima):
    assert [values.tolist() for values in optima.curve] == [optima.width.tolist(), optima.loss.tolist()]
    closed, eliminated = exact_capacities(optima.models)
    assert closed.tolist() == eliminated.tolist() == optima.capacity.tolist()


def test_a_model_without_hidden_layers_counts_as_one_channel_wide():
    assert sweep(models_by_channels([5], n_layers=1), PowerLaw()).width.tolist() == [1.0]
