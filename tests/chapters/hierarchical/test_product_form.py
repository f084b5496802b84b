"""Tensors behind the models: coefficients, leverages and ranks in closed form, against linear algebra."""

from itertools import product

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.constraints import ConstraintSpace
from capcore.generic import attainable_ranks
from capcore.processes import AR1, PowerLaw
from chapters.hierarchical.product_form import (
    cut_leverage,
    digit_counts,
    digits,
    disjoint_dilations,
    impulse_response,
    printed_indices,
    product_leverage,
    products,
    unfolding_singular_values,
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


@pytest.mark.parametrize("sizes", KERNELS)
def test_the_leverage_is_that_of_the_jacobian(sizes):
    arch, params, weights = one_channel(sizes, seed=3)
    numerical = ConstraintSpace.from_columns(arch.jacobian(params)).per_input()
    assert np.allclose(product_leverage(weights), numerical, atol=1e-11)
    assert product_leverage(weights).sum() == pytest.approx(arch.generic_capacity())


def test_the_leverage_of_dominated_layers_sits_on_lags_with_at_most_one_digit():
    """With tap 1 of size e the leverage is 1 − O(e⁴), 1 − O(e²), O(e²), O(e⁴) for 0, 1, 2, 3 digits."""
    e = 1e-2
    values = product_leverage([np.array([1.0, e])] * 4)
    counts = digit_counts([2] * 4)
    assert (1 - values[counts == 0] < 20 * e**4).all()
    assert (1 - values[counts == 1] < 20 * e**2).all()
    assert (values[counts == 2] < 20 * e**2).all()
    assert (values[counts >= 3] < 20 * e**4).all()


def test_a_zero_weight_is_no_special_case():
    values = product_leverage([np.array([1.0, 0.0]), np.array([1.0, 0.0])])
    assert values.tolist() == [1.0, 1.0, 1.0, 0.0]


def test_kernel_sizes_must_be_positive():
    with pytest.raises(ValueError, match="kernel_sizes: found 0"):
        digits([2, 0])


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_channels_bound_the_rank_of_every_cut(layer):
    """A model cut between two layers is a matrix whose rank is the bond's: its channels where they can all be used."""
    arch = Hierarchical([2, 3, 2], kernel_size=[3, 2, 2, 3])
    coefficients = arch.coefficients(arch.init(np.random.default_rng(0)))
    values = unfolding_singular_values(coefficients, arch.kernel_sizes, layer)
    rank = np.count_nonzero(values > 1e-12 * values[0])
    assert rank == attainable_ranks([1, *arch.channels, 1], arch.kernel_sizes)[layer] == arch.channels[layer - 1]


def test_the_sum_of_squares_does_not_depend_on_the_cut():
    target, _ = PowerLaw().predictor(64)
    sums = [np.sum(unfolding_singular_values(target, [2] * 6, layer) ** 2) for layer in range(1, 6)]
    assert np.allclose(sums, np.sum(target**2))


def test_first_order_autoregression_has_rank_one():
    values = unfolding_singular_values(AR1().predictor(64)[0], [2] * 6)
    assert np.count_nonzero(values > 1e-13) == 1


def test_a_single_layer_has_no_cut():
    assert unfolding_singular_values([3.0, 4.0], [2]).tolist() == [5.0]


def test_the_number_of_coefficients_must_fit():
    with pytest.raises(ValueError, match="found 5, expected 8 for kernel sizes"):
        unfolding_singular_values(np.ones(5), [2, 2, 2])


def test_four_channels_and_six_layers_have_one_cut_that_matters():
    """Ranks 1, 2, 4, 4, 4, 2, 1: only the middle one, of an 8 x 8 matrix, is restricted."""
    arch = Hierarchical(4, 6)
    params = arch.init(np.random.default_rng(1))
    numerical = ConstraintSpace.from_columns(arch.jacobian(params)).per_input()
    assert np.allclose(cut_leverage(arch.coefficients(params), arch.kernel_sizes, rank=4), numerical, atol=1e-10)


def test_of_rank_one_it_is_the_leverage_of_two_layers_with_one_channel():
    weights = [np.array([1.0, 0.3, 0.1]), np.array([1.0, -0.5])]
    assert np.allclose(cut_leverage(products(weights), [3, 2], rank=1), product_leverage(weights))
