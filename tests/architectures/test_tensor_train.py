"""Tensor trains: exact at full ranks, quasi-optimal when cut, balanced, and widened into general position."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from capcore.architectures import Hierarchical
from capcore.architectures.tensor_train import attainable_ranks, contract, tt_svd, widen
from capcore.processes import AR1
from tests.strategies import hierarchical_models, seeds


@st.composite
def shapes(draw, max_layers=5):
    """input_dim and n_1 … n_L."""
    return draw(st.integers(1, 3)), draw(st.lists(st.integers(1, 4), min_size=1, max_size=max_layers))


def unfoldings(coefficients, input_dim, sizes):
    """At each inner bond, the matrix (lags above, lags below and components)."""
    return [np.asarray(coefficients).reshape(-1, prod(sizes[:l]) * input_dim) for l in range(1, len(sizes))]


def full_ranks(input_dim, sizes):
    inner = [min(u.shape) for u in unfoldings(np.zeros(prod(sizes) * input_dim), input_dim, sizes)]
    return [input_dim, *inner, 1]


@given(shapes(), seeds)
def test_exact_at_full_ranks(shape, seed):
    input_dim, sizes = shape
    coefficients = np.random.default_rng(seed).normal(size=prod(sizes) * input_dim)
    cores = tt_svd(coefficients, input_dim, sizes, full_ranks(*shape))
    ranks = [input_dim, *(core.shape[2] for core in cores)]
    assert [core.shape for core in cores] == list(zip(ranks[:-1], sizes, ranks[1:], strict=True))
    assert ranks == full_ranks(*shape)
    assert_allclose(contract(cores), coefficients, atol=1e-13 * np.linalg.norm(coefficients))


@given(shapes(), st.integers(1, 3), seeds)
def test_cutting_is_quasi_optimal(shape, max_rank, seed):
    # Oseledets (2011), Theorem 2.2: each unfolding's tail from below, their sum from above.
    input_dim, sizes = shape
    coefficients = np.random.default_rng(seed).normal(size=prod(sizes) * input_dim)
    ranks = [input_dim, *[max_rank] * (len(sizes) - 1), 1]
    cores = tt_svd(coefficients, input_dim, sizes, ranks)
    assert all(core.shape[2] <= rank for core, rank in zip(cores, ranks[1:], strict=True))
    error = np.sum((contract(cores) - coefficients) ** 2)
    singular = [np.linalg.svd(u, compute_uv=False) for u in unfoldings(coefficients, input_dim, sizes)]
    tails = [np.sum(s[max_rank:] ** 2) for s in singular]
    rounding = 1e-14 * coefficients @ coefficients
    assert max(tails, default=0) - rounding <= error <= sum(tails) + rounding


@given(shapes(), seeds)
def test_balanced_bonds(shape, seed):
    # Below and above a bond stand orthogonal columns and rows of squared length s_i, its singular values.
    input_dim, sizes = shape
    coefficients = np.random.default_rng(seed).normal(size=prod(sizes) * input_dim)
    cores = tt_svd(coefficients, input_dim, sizes, full_ranks(*shape))
    for l, unfolding in enumerate(unfoldings(coefficients, input_dim, sizes), 1):
        below, above = cores[0], cores[l]
        for core in cores[1:l]:
            below = np.tensordot(below, core, 1)
        for core in cores[l + 1 :]:
            above = np.tensordot(above, core, 1)
        below, above = below.reshape(-1, below.shape[-1]), above.reshape(above.shape[0], -1)
        s = np.diag(np.linalg.svd(unfolding, compute_uv=False))
        assert_allclose(below.T @ below, s, atol=1e-8 * s.max())
        assert_allclose(above @ above.T, s, atol=1e-8 * s.max())


def test_ranks_follow_the_target():
    # Exponential decay factorises over the digits: every bond has rank one, whatever is allowed.
    cores = tt_svd(0.7 ** np.arange(64), 1, [2] * 6, [1, 2, 4, 8, 4, 2, 1])
    assert [core.shape[2] for core in cores] == [1] * 6
    # A cosine has rank two (sum of angles).
    cores = tt_svd(np.cos(0.3 * np.arange(64)), 1, [2] * 6, [1, 2, 4, 8, 4, 2, 1])
    assert [core.shape[2] for core in cores] == [2, 2, 2, 2, 2, 1]
    assert_allclose(contract(cores), np.cos(0.3 * np.arange(64)), atol=1e-13)


def test_small_parts_of_a_target_are_kept():
    # A second decay, 1e-11 of the first: above rounding, so part of the target.
    lags = np.arange(64)
    target = 0.7**lags + 1e-11 * (-0.9) ** lags
    cores = tt_svd(target, 1, [2] * 6, [1, 2, 4, 8, 4, 2, 1])
    assert [core.shape[2] for core in cores] == [2, 2, 2, 2, 2, 1]
    # Each of five SVDs is exact to a few eps, say ten, of the whole: far below the second decay.
    rounding = 5 * 10 * np.finfo(float).eps * np.linalg.norm(target)
    assert_allclose(contract(cores), target, rtol=0, atol=rounding)
    assert rounding < 1e-2 * 1e-11


def test_a_target_of_zeros_stays_finite():
    cores = tt_svd(np.zeros(8), 1, [2, 2, 2], [1, 2, 2, 1])
    assert contract(cores).tolist() == [0] * 8
    assert all(np.isfinite(core).all() for core in cores)


@given(hierarchical_models(max_layers=5, max_channels=7, disjoint=True), seeds)
def test_widening_keeps_the_coefficients_and_fills_the_channels(arch, seed):
    rng = np.random.default_rng(seed)
    target = rng.normal(size=arch.n_inputs * arch.input_dim)
    channels = [arch.input_dim, *arch.channels, 1]
    cores = tt_svd(target, arch.input_dim, arch.kernel_sizes, attainable_ranks(channels, arch.kernel_sizes))
    kernels = widen(cores, channels, rng)
    assert [kernel.shape for kernel in kernels] == arch.kernel_shapes
    before = contract(cores)
    after = arch.coefficients(np.concatenate([kernel.reshape(-1) for kernel in kernels]))
    assert_allclose(after, before, atol=1e-12 * np.linalg.norm(target))


@given(hierarchical_models(max_layers=5, max_channels=7, disjoint=True), seeds)
def test_a_widened_model_is_in_general_position(arch, seed):
    # Every layer's own Jacobian, and the whole, has the rank it has at random parameters.
    rng = np.random.default_rng(seed)
    target = rng.normal(size=arch.n_inputs * arch.input_dim)
    jacobians = [arch.jacobian(params) for params in (arch.init(rng), arch.best_start(target, rng))]
    for part in [*arch.layers.values(), slice(None)]:
        ranks = [np.linalg.matrix_rank(jacobian[:, part], rtol=1e-10) for jacobian in jacobians]
        assert ranks[0] == ranks[1]


def test_the_filling_is_of_the_kernels_own_size():
    rng = np.random.default_rng(0)
    arch = Hierarchical(8, 6)
    params = arch.best_start(rng.normal(size=64), rng)
    sizes = [np.sqrt(np.mean(params[part] ** 2)) for part in arch.layers.values()]
    assert max(sizes) < 10 * min(sizes)


@pytest.mark.parametrize("channels", [1, 3, 8])
def test_low_rank_targets_start_at_the_answer(channels):
    target, _ = AR1(0.9).predictor(64)
    arch = Hierarchical(channels, 6)
    params = arch.best_start(target, np.random.default_rng(0))
    assert_allclose(arch.coefficients(params), target, atol=1e-14)
