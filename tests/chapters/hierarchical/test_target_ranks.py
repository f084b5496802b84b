import numpy as np
import pytest

from capcore.architectures import Hierarchical
from capcore.constraints import ConstraintSpace
from capcore.generic import attainable_ranks
from capcore.processes import AR1, PowerLaw
from chapters.hierarchical.product_form import product_leverage, products
from chapters.hierarchical.target_ranks import cut_leverage, unfolding_singular_values


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
