"""Products with J, Jᵀ and Σ against the matrices themselves."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings

import capcore as cc
from capcore.architectures import Linear
from capcore.large.fft import covariance_product
from capcore.large.jacobian_products import jacobian_products
from tests.strategies import hierarchical_models, seeds


def check(arch: cc.Architecture, params: np.ndarray, jacobian: np.ndarray, rng: np.random.Generator) -> None:
    forward, backward = jacobian_products(arch, params)
    v, u = rng.normal(size=(jacobian.shape[1], 3)), rng.normal(size=(jacobian.shape[0], 3))
    scale = max(1.0, float(np.abs(jacobian).max()))
    np.testing.assert_allclose(forward(v), jacobian @ v, atol=1e-12 * scale)
    np.testing.assert_allclose(backward(u), jacobian.T @ u, atol=1e-12 * scale)


@settings(max_examples=60)
@given(hierarchical_models(), seeds)
def test_stacks_of_any_dilations(arch: cc.Hierarchical, seed: int) -> None:
    rng = np.random.default_rng(seed)
    params = arch.init(rng)
    check(arch, params, arch.jacobian(params), rng)


@pytest.mark.parametrize("arch", [cc.Recurrent(12, 3), Linear(np.arange(12.0).reshape(4, 3))], ids=repr)
def test_architectures_with_a_dense_jacobian(arch: cc.Architecture, rng: np.random.Generator) -> None:
    params = arch.init(rng)
    check(arch, params, arch.jacobian(params), rng)


def test_a_function_differentiated_by_jax_never_lists_its_jacobian(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    jax = pytest.importorskip("jax")
    arch = cc.Function(lambda w: jax.numpy.tanh(w[:4]) * w[4:] ** 2, 8, derivative="jax", input_dim=2)
    params = arch.init(rng)
    jacobian = arch.jacobian(params)
    monkeypatch.setattr(arch, "_jacobian", None)
    check(arch, params, jacobian, rng)


PROCESSES = [
    cc.PowerLaw(0.5),
    cc.AR1(0.9).with_nugget(0.1),
    cc.Independent([cc.AR1(0.5), cc.PowerLaw(1.0), cc.AR1(-0.3)]),
    cc.FeatureProcess(cc.AR1(0.5), cc.Monomials(3)),
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
    ("process", "components", "error", "message"),
    [("white", 1, TypeError, "expected a Process"), (PROCESSES[2], 2, ValueError, "found 3 component")],
)
def test_bad_input_is_refused(process: object, components: int, error: type, message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        covariance_product(process, 3, components)  # type: ignore[arg-type]
