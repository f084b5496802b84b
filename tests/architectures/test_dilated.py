"""The faster Jacobian against the general one, and rebalancing: same model, even scales."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from capcore import Hierarchical
from capcore.architectures import Dilated
from tests.strategies import hierarchical_models, seeds


def same(arch):
    return Dilated(arch.channels, arch.n_layers, arch.kernel_sizes, arch.dilations, arch.input_dim)


@settings(deadline=None, max_examples=60)
@given(arch=hierarchical_models(), seed=seeds)
def test_the_jacobian_is_that_of_the_general_model(arch, seed):
    params = arch.init(np.random.default_rng(seed))
    assert np.allclose(same(arch).jacobian(params), arch.jacobian(params), rtol=1e-12, atol=1e-14)


@settings(deadline=None, max_examples=60)
@given(arch=hierarchical_models(), seed=seeds)
def test_rebalancing_keeps_the_coefficients_and_evens_the_scales(arch, seed):
    rng = np.random.default_rng(seed)
    params = arch.init(rng) * 10 ** rng.uniform(-2, 2)
    model = same(arch)
    balanced = model.rebalance(params)
    expected = arch.coefficients(params)
    assert np.allclose(model.coefficients(balanced), expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())
    sizes = [np.square(kernel).sum() for kernel in model.kernels(balanced)]
    before = [np.square(kernel).sum() for kernel in model.kernels(params)]
    assert sum(sizes) <= sum(before) * (1 + 1e-6), "the balanced form is the smallest one"


def test_neighbouring_layers_have_equal_and_diagonal_gram_matrices(rng):
    model = Dilated(3, dilations=[1, 2, 1, 2, 4])
    kernels = model.kernels(model.rebalance(model.init(rng), sweeps=500))
    for lower, upper in pairwise(kernels):
        into = np.einsum("itk,itm->km", lower, lower)
        out = np.einsum("kto,mto->km", upper, upper)
        assert np.allclose(into, out, atol=1e-4 * into.max())


def test_a_layer_of_zeros_is_left_alone():
    model = Dilated(2, dilations=[1, 1, 2])
    params = np.ones(model.n_params)
    params[model.layers["layer 2"]] = 0
    assert np.isfinite(model.rebalance(params)).all()
    assert not model.coefficients(model.rebalance(params)).any()


def test_it_refuses_what_the_general_model_refuses():
    with pytest.raises(ValueError, match="dilations"):
        Dilated(2, dilations=[1, 0])
    with pytest.raises(ValueError, match="params: found 3 values"):
        Dilated(2, dilations=[1, 1]).jacobian(np.ones(3))
    assert Dilated(2, dilations=[1, 1]).n_params == Hierarchical(2, dilations=[1, 1]).n_params
