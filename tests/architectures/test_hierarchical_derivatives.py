"""Derivatives of hierarchical models: exact differences, the span of each layer; products of every architecture."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import capcore as cc
from capcore.architectures import Hierarchical
from tests.strategies import coefficients_by_paths, hierarchical_models, projector, random_params, seeds, small_integers


@given(hierarchical_models(max_layers=3, max_channels=3), seeds)
def test_jacobian_is_the_exact_difference(arch, seed):
    # The model is linear in every single weight, so a step of one is exact, and exact in integers.
    params = small_integers(arch, seed)
    jacobian = arch.jacobian(params)
    assert jacobian.shape == (arch.n_inputs * arch.input_dim, arch.n_params)
    base = coefficients_by_paths(arch, params)
    for j in range(arch.n_params):
        step = params.copy()
        step[j] += 1
        assert np.array_equal(jacobian[:, j], coefficients_by_paths(arch, step) - base)


RECURRENT = st.builds(cc.Recurrent, st.integers(1, 9), st.integers(1, 6))
TAPS = st.builds(cc.AutoRegressiveTaps, st.integers(1, 9)) | st.builds(cc.LogTaps, st.just(9), st.integers(1, 5))
PART = hierarchical_models(max_layers=3, max_input_dim=1) | RECURRENT | TAPS
FUNCTION = st.builds(
    lambda arch: cc.Function(lambda w: coefficients_by_paths(arch, w), arch.n_params, derivative="complex-step"),
    hierarchical_models(max_layers=3, max_channels=3, max_input_dim=1),
)
FROZEN = st.builds(lambda arch: cc.Frozen(arch, random_params(arch), np.arange(0, arch.n_params, 2)), PART)


@given(hierarchical_models() | RECURRENT | FUNCTION | FROZEN | PART, seeds)
def test_products_with_the_jacobian(arch, seed):
    params = random_params(arch, seed)
    jacobian = arch.jacobian(params)
    vector = np.random.default_rng(seed).normal(size=jacobian.shape[0])
    scale = 1e-13 * max(1.0, np.abs(jacobian).max() ** 2) * jacobian.size
    assert_allclose(arch.vjp(params, vector), jacobian.T @ vector, atol=scale)
    assert_allclose(arch.tangent_kernel(params), jacobian @ jacobian.T, atol=scale)
    coefficients, pullback = arch.linearise(params)
    assert np.array_equal(coefficients, arch.coefficients(params))
    assert_allclose(pullback(vector), jacobian.T @ vector, atol=scale)
    assert_allclose(pullback(np.repeat(vector, 2)[::2]), jacobian.T @ vector, atol=scale)  # strided memory


@given(hierarchical_models(), seeds)
def test_tangents_span_each_layers_columns(arch, seed):
    params = random_params(arch, seed)
    jacobian = arch.jacobian(params)
    tangents = arch.tangents(params)
    assert list(tangents) == list(arch.layers)
    for name, part in arch.layers.items():
        assert tangents[name].shape[0] == jacobian.shape[0]
        assert_allclose(projector(tangents[name], 1e-9), projector(jacobian[:, part], 1e-9), atol=1e-5)


def test_tangents_stay_small_and_survive_extreme_scales():
    arch = Hierarchical(channels=40, n_layers=5)
    params = random_params(arch)
    for name, part in arch.layers.items():
        assert arch.tangents(params)[name].shape[1] <= min(arch.n_inputs * 2, part.stop - part.start)
    small = Hierarchical(channels=3, n_layers=4)
    params = random_params(small)
    scaled = params.copy()
    for exponent, part in zip([60, -60, 40, -40], small.layers.values(), strict=True):
        scaled[part] *= 10.0**exponent
    # The same model with channels of very different scales, undone in the layer above.
    kernels = small.kernels(params)
    for l in range(3):
        scales = np.array([1e-30, 1.0, 1e30])
        kernels[l], kernels[l + 1] = kernels[l] * scales, kernels[l + 1] / scales[:, None, None]
    for other in (scaled, np.concatenate([kernel.ravel() for kernel in kernels])):
        for before, after in zip(small.tangents(params).values(), small.tangents(other).values(), strict=True):
            assert_allclose(projector(after), projector(before), atol=1e-9)
