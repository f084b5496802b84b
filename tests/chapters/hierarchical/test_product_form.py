"""One channel: coefficients and leverages in closed form, against the model object and against linear algebra."""

from itertools import product

import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.constraints import ConstraintSpace
from chapters.hierarchical.product_form import (
    digit_counts,
    digits,
    disjoint_dilations,
    impulse_response,
    printed_indices,
    product_leverage,
    products,
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
