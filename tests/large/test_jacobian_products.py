"""Products with J, Jᵀ and Σ against the matrices themselves."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings

import capcore as cc
from capcore.architectures import Linear
from capcore.large.fft import covariance_product
from capcore.large.jacobian_products import JacobianProducts
from tests.strategies import hierarchical_models, seeds


def check(products: JacobianProducts, jacobian: np.ndarray, rng: np.random.Generator) -> None:
    v, u = rng.normal(size=(jacobian.shape[1], 3)), rng.normal(size=(jacobian.shape[0], 3))
    scale = max(1.0, float(np.abs(jacobian).max()))
    np.testing.assert_allclose(products.forward(v), jacobian @ v, atol=1e-12 * scale)
    np.testing.assert_allclose(products.backward(u), jacobian.T @ u, atol=1e-12 * scale)


@settings(max_examples=60)
@given(hierarchical_models(), seeds)
def test_stacks_of_any_dilations(arch: cc.Hierarchical, seed: int) -> None:
    rng = np.random.default_rng(seed)
    params = arch.init(rng)
    check(JacobianProducts.of(arch, params), arch.jacobian(params), rng)


@pytest.mark.parametrize(
    "arch",
    [
        cc.Recurrent(12, 3),
        Linear(np.arange(12.0).reshape(4, 3)),
        cc.Function(lambda w: np.convolve(w[:3], w[3:]), 6, derivative="complex-step"),
        cc.Frozen(cc.Hierarchical(2, dilations=[1, 2, 1]), np.linspace(-1, 1, 16), [0, 3, 4, 9, 15]),
    ],
    ids=repr,
)
def test_every_architecture(arch: cc.Architecture, rng: np.random.Generator) -> None:
    params = arch.init(rng)
    found = JacobianProducts.of(arch, params)
    check(found, arch.jacobian(params), rng)
    assert found.generic_total == arch.generic_capacity()


def test_a_function_differentiated_by_jax_never_lists_its_jacobian(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    jax = pytest.importorskip("jax")
    arch = cc.Function(lambda w: jax.numpy.tanh(w[:4]) * w[4:] ** 2, 8, derivative="jax", input_dim=2)
    params = arch.init(rng)
    jacobian = arch.jacobian(params)
    monkeypatch.setattr(arch, "_jacobian", None)
    found = JacobianProducts.of(arch, params)
    check(found, jacobian, rng)
    assert (found.n_inputs, found.input_dim, found.generic_total) == (2, 2, None)


def test_a_long_jacobian_is_neither_listed_nor_ranked(rng: np.random.Generator) -> None:
    arch = cc.Hierarchical(2, dilations=[2**k for k in range(14)] * 2)
    found = JacobianProducts.of(arch, arch.init(rng))
    assert found.generic_total is None
    v, u = rng.normal(size=(found.n_params, 1)), rng.normal(size=(found.n_rows, 1))
    there, back = found.forward(v), found.backward(u)
    assert abs(np.vdot(there, u) - np.vdot(v, back)) < 1e-10 * np.linalg.norm(there) * np.linalg.norm(u)


PROCESSES = [
    cc.PowerLaw(0.5),
    cc.AR1(0.9).with_nugget(0.1),
    cc.Independent([cc.AR1(0.5), cc.PowerLaw(1.0), cc.AR1(-0.3)]),
    cc.Mixed([cc.AR1(0.5), cc.PowerLaw(0.5)], [[1.0, 0.5], [0.2, 1.0]]),
]


@pytest.mark.parametrize("process", PROCESSES, ids=repr)
@pytest.mark.parametrize("n", [1, 2, 13])
def test_the_covariance_by_fft(process: cc.Process, n: int, rng: np.random.Generator) -> None:
    covariance = process.covariance(n)
    x = rng.normal(size=(len(covariance), 4))
    found = covariance_product(process, n, process.input_dim)(x)
    np.testing.assert_allclose(found, covariance @ x, atol=1e-13 * np.abs(covariance).sum(axis=1).max() * 10)


def test_the_covariance_of_a_problem(rng: np.random.Generator) -> None:
    problem = cc.Problem.of(cc.Recurrent(9, 1), cc.AR1(0.5))
    x = rng.normal(size=(9, 2))
    np.testing.assert_array_equal(covariance_product(problem, 9)(x), problem.covariance @ x)
    with pytest.raises(ValueError, match=re.escape("(9, 9), expected (8, 8)")):
        covariance_product(problem, 8)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: JacobianProducts.of(3, [1.0]), TypeError, "found int, expected an architecture"),
        (lambda: JacobianProducts.of(cc.Recurrent(4, 1), [1.0]), ValueError, "found 1 values, expected 3"),
        (lambda: JacobianProducts.of(cc.Recurrent(4, 1), [1.0, np.nan, 1.0]), ValueError, "NaN"),
        (lambda: JacobianProducts.of(JacobianProducts.dense(np.eye(2)), [1.0]), ValueError, "expected None"),
        (lambda: JacobianProducts.dense(np.eye(3), input_dim=2), ValueError, "multiple of input_dim 2"),
        (lambda: JacobianProducts(np.eye(2), lambda u: u, 2, 2), TypeError, "forward: found ndarray"),  # type: ignore[arg-type]
        (lambda: JacobianProducts(lambda v: v, lambda u: u, 0, 2), ValueError, "n_inputs: found 0"),
        (lambda: covariance_product("white", 3), TypeError, "expected a Process"),  # type: ignore[arg-type]
        (lambda: covariance_product(PROCESSES[2], 3, 2), ValueError, "found 3 component"),
        (lambda: covariance_product(cc.FromAutocovariance([1.0, 0.9, 0.0]), 3), ValueError, "not positive definite"),
    ],
)
def test_bad_input_is_refused(call, error, message) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call()
