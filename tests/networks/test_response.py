"""The dense response: by Cholesky where H is positive definite, by eigenvectors elsewhere, and both give the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.networks.losses import from_metric, to_metric
from capcore.networks.response import Inverse, Response
from tests.strategies import seeds

pytest.importorskip("jax")
EQUAL = {"rel": 1e-10, "abs": 1e-10}
"""Condition numbers below 1e4 times eps, and sizes of some ten."""


def pair(seed, p=7, rows=12):
    """J, and a positive definite H ≽ JᵀJ with a condition number of at most 1e4."""
    rng = np.random.default_rng(seed)
    scaled = rng.normal(size=(rows, p)) @ np.diag(np.geomspace(1, 0.1, p))
    return rng, scaled, scaled.T @ scaled + np.diag(rng.uniform(0.01, 1, size=p))


def is_the_operator(response, scaled, inverse, rng):
    """Everything that a response gives is that of RᵀJ times an inverse (p, p) times its transpose."""
    operator, columns = scaled @ inverse @ scaled.T, rng.normal(size=(12, 3))
    gradients = rng.normal(size=(len(inverse), 2))
    assert response.factor @ (response.signed.T @ columns) == pytest.approx(operator @ columns, **EQUAL)
    assert response.along(columns) == pytest.approx(np.diag(columns.T @ operator @ columns), **EQUAL)
    assert response.diagonal == pytest.approx(np.diag(operator), **EQUAL)
    assert response.solve(gradients) == pytest.approx(inverse @ gradients, **EQUAL)
    for i, block in enumerate(response.blocks((4, 3))):
        assert block == pytest.approx(operator[3 * i : 3 * i + 3, 3 * i : 3 * i + 3], **EQUAL)


@given(seeds, st.sampled_from([None, 1e12]))
def test_both_ways_give_the_operator(seed, time):
    """A long time is an inverse, by eigenvectors. S is a contraction, since H ≽ JᵀJ."""
    rng, scaled, hessian = pair(seed)
    response = Response.of(scaled, hessian, time=time)
    assert (response.inverse.lower is None) == (time is not None)
    is_the_operator(response, scaled, np.linalg.inv(hessian), rng)
    values = np.linalg.eigvalsh(response.factor @ response.signed.T)
    assert values.min() >= -1e-12 and values.max() <= 1 + 1e-12
    half = response.inverse.half(np.eye(7))
    assert half.T @ half == pytest.approx(np.linalg.inv(hessian), **EQUAL)
    assert (response.inverse.n_negative, response.inverse.null.shape, response.dropped) == (0, (7, 0), 0)


@pytest.mark.parametrize("case", ["indefinite", "singular", "tolerance", "stopped"])
def test_eigenvectors_are_taken_where_cholesky_would_not_do(case):
    rng, scaled, hessian = pair(1)
    tolerance, time = {"tolerance": 0.5}.get(case), {"stopped": 1.0}.get(case)
    if case == "indefinite":
        hessian = hessian - 1.01 * np.linalg.eigvalsh(hessian)[0] * np.eye(7)
    if case == "singular":
        hessian[0] = hessian[:, 0] = 0.0
    values, vectors = np.linalg.eigh(hessian)
    large = np.abs(values) > (tolerance or 1e-12) * values.max()
    gains = np.where(large, (1 - np.exp(-values) if time else 1.0) / np.where(large, values, 1.0), 0.0)
    response = Response.of(scaled, hessian, tolerance, time)
    assert response.inverse.lower is None
    is_the_operator(response, scaled, vectors * gains @ vectors.T, rng)
    assert response.inverse.n_negative == (values < 0).sum() and response.inverse.null.shape[1] == (~large).sum()
    lost = np.square(scaled @ vectors[:, ~large]).sum() / np.square(scaled).sum()
    assert response.dropped == pytest.approx(lost, abs=1e-12) and (lost > 1e-6) == (case in ("singular", "tolerance"))


def test_no_parameters_respond_to_nothing():
    assert not Response.of(np.empty((12, 0)), np.empty((0, 0))).diagonal.any()


@given(seeds, st.integers(1, 14))
def test_a_root_is_only_taken_where_no_eigenvalue_is_numerically_zero(seed, decades):
    """Otherwise the total of a nearly singular matrix would depend on the way that was taken."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    hessian = turn * np.geomspace(1, 10.0**-decades, 6) @ turn.T
    hessian = (hessian + hessian.T) / 2
    assert Inverse.of(hessian).lower is None or not Inverse.of(hessian, time=1.0).null.size


def test_the_metric_of_cross_entropy_is_the_root_of_its_hessian(rng):
    """RᵀJ has (RᵀJ)ᵀRᵀJ = JᵀWJ with W = diag(p) − ppᵀ; and back by the transpose."""
    p = rng.dirichlet(np.ones(4), size=5)
    jacobian, columns = rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    scaled = to_metric(jacobian, np.sqrt(p), p)
    expected = sum(j.T @ (np.diag(q) - np.outer(q, q)) @ j for j, q in zip(jacobian.reshape(5, 4, 3), p, strict=True))
    assert scaled.T @ scaled == pytest.approx(expected, abs=1e-12)
    assert (scaled * columns).sum() == pytest.approx((jacobian * from_metric(columns, np.sqrt(p), p)).sum(), abs=1e-12)
