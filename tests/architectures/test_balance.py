"""Layers of even scale: the same model, equal Gram matrices on both sides of every hidden layer."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from capcore import Hierarchical
from capcore.architectures.balance import balance
from tests.strategies import hierarchical_models, seeds


def rebalanced(arch, params, **options):
    return np.concatenate([kernel.ravel() for kernel in balance(arch.kernels(params), **options)])


@settings(deadline=None, max_examples=60)
@given(arch=hierarchical_models(), seed=seeds)
def test_rebalancing_keeps_the_coefficients_and_evens_the_scales(arch, seed):
    rng = np.random.default_rng(seed)
    params = arch.init(rng) * 10 ** rng.uniform(-2, 2)
    balanced = rebalanced(arch, params)
    expected = arch.coefficients(params)
    assert np.allclose(arch.coefficients(balanced), expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())
    sizes = [np.square(kernel).sum() for kernel in arch.kernels(balanced)]
    before = [np.square(kernel).sum() for kernel in arch.kernels(params)]
    assert sum(sizes) <= sum(before) * (1 + 1e-6), "the balanced form is the smallest one"


def test_neighbouring_layers_have_equal_and_diagonal_gram_matrices(rng):
    arch = Hierarchical(3, dilations=[1, 2, 1, 2, 4])
    for lower, upper in pairwise(balance(arch.kernels(arch.init(rng)), sweeps=500)):
        into = np.einsum("itk,itm->km", lower, lower)
        out = np.einsum("kto,mto->km", upper, upper)
        assert np.allclose(into, out, atol=1e-4 * into.max())


def test_a_layer_of_zeros_is_left_alone():
    arch = Hierarchical(2, dilations=[1, 1, 2])
    params = np.ones(arch.n_params)
    params[arch.layers["layer 2"]] = 0
    assert np.isfinite(rebalanced(arch, params)).all()
    assert not arch.coefficients(rebalanced(arch, params)).any()


@pytest.mark.parametrize("dilations", [None, [1, 1, 2]], ids=["disjoint", "overlapping"])
def test_a_model_rebalances_itself_whatever_its_dilations(dilations, rng):
    arch = Hierarchical(2, n_layers=3, dilations=dilations)
    params = arch.init(rng) * np.repeat([1e-3, 1.0, 1e3], [part.stop - part.start for part in arch.layers.values()])
    balanced = arch.rebalance(params)
    np.testing.assert_allclose(arch.coefficients(balanced), arch.coefficients(params), rtol=1e-9, atol=1e-12)
    sizes = [np.linalg.norm(kernel) for kernel in arch.kernels(balanced)]
    assert max(sizes) < 20 * min(sizes)
