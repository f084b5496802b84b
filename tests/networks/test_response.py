"""The dense response: by Cholesky where H is positive definite, by eigenvectors elsewhere, and both give the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh

import capcore as cc
from capcore.networks.problem import to_metric
from capcore.networks.response import CholeskyResponse, Response, respond
from tests.strategies import seeds

jnp = pytest.importorskip("jax").numpy
EQUAL = {"rel": 1e-10, "abs": 1e-10}
"""Condition numbers below 1e4 times eps, and sizes of some ten."""


def pair(seed, p=7, rows=12):
    """J, and a positive definite H ≽ JᵀJ with a condition number of at most 1e4."""
    rng = np.random.default_rng(seed)
    scaled = rng.normal(size=(rows, p)) @ np.diag(np.geomspace(1, 0.1, p))
    return rng, scaled, scaled.T @ scaled + np.diag(rng.uniform(0.01, 1, size=p))


@given(seeds)
def test_both_ways_give_the_same(seed):
    rng, scaled, hessian = pair(seed)
    root, vectors = CholeskyResponse.of(scaled, hessian), Response.of(scaled, hessian)
    columns, gradient = rng.normal(size=(12, 3)), rng.normal(size=7)
    assert root.diagonal == pytest.approx(vectors.diagonal, **EQUAL)
    assert root.apply(columns) == pytest.approx(vectors.apply(columns), **EQUAL)
    assert root.along(columns) == pytest.approx(vectors.along(columns), **EQUAL)
    assert root.blocks((4, 3)) == pytest.approx(vectors.blocks((4, 3)), **EQUAL)
    assert root.solve(columns[:7]) == pytest.approx(vectors.solve(columns[:7]), **EQUAL)
    assert root.decrease(gradient) == pytest.approx(vectors.decrease(gradient), **EQUAL)
    assert root.eigenvalues == pytest.approx(vectors.eigenvalues, **EQUAL)
    parts = [(each.transformed(scaled.reshape(4, 3, 7)), each.gains) for each in (root, vectors)]
    of_root, of_vectors = (np.einsum("nkp,p,nlp->nkl", rows, gains, rows) for rows, gains in parts)
    assert of_root == pytest.approx(of_vectors, **EQUAL)
    assert (root.n_singular, root.n_negative, root.dropped) == (vectors.n_singular, vectors.n_negative, 0)


@given(seeds)
def test_it_is_the_operator(seed):
    """S of its definition; a contraction, since H ≽ JᵀJ; its blocks and its diagonal; the trace is the total."""
    _, scaled, hessian = pair(seed)
    found = respond(scaled, hessian)
    operator = scaled @ np.linalg.solve(hessian, scaled.T)
    assert isinstance(found, CholeskyResponse)
    assert found.apply(np.eye(12)) == pytest.approx(operator, **EQUAL)
    values = np.linalg.eigvalsh(found.apply(np.eye(12)))
    assert values.min() >= -1e-12 and values.max() <= 1 + 1e-12
    assert found.diagonal.sum() == pytest.approx(values.sum(), **EQUAL)
    for i, block in enumerate(found.blocks((4, 3))):
        assert block == pytest.approx(operator[3 * i : 3 * i + 3, 3 * i : 3 * i + 3], **EQUAL)


@pytest.mark.parametrize(
    ("change", "tolerance", "time"),
    [
        (lambda h: h - 1.01 * np.linalg.eigvalsh(h)[0] * np.eye(7), None, None),  # indefinite
        (lambda h: h * np.r_[0.0, np.ones(6)] * np.r_[0.0, np.ones(6)][:, None], None, None),  # singular
        (lambda h: h, 0.5, None),  # a tolerance that drops directions
        (lambda h: h, None, 1.0),  # a stopping time
        (lambda h: h[:0, :0], None, None),  # no parameters
    ],
    ids=["indefinite", "singular", "tolerance", "stopped", "empty"],
)
def test_eigenvectors_are_taken_where_cholesky_would_not_do(change, tolerance, time):
    _, scaled, hessian = pair(1)
    hessian = change(hessian)
    found = respond(scaled[:, : len(hessian)], hessian, tolerance, time)
    assert isinstance(found, Response)
    assert found.diagonal == pytest.approx(
        Response.of(scaled[:, : len(hessian)], hessian, tolerance, time).diagonal, **EQUAL
    )


@given(seeds, st.integers(1, 14))
def test_a_root_is_only_taken_where_no_eigenvalue_is_numerically_zero(seed, decades):
    """Otherwise the total of a nearly singular matrix would depend on the way that was taken."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    hessian = turn * np.geomspace(1, 10.0**-decades, 6) @ turn.T
    found = respond(rng.normal(size=(9, 6)), (hessian + hessian.T) / 2)
    exact = Response.of(np.eye(6), (hessian + hessian.T) / 2)
    assert isinstance(found, Response) or exact.n_singular == 0


def test_eigenvalues_are_computed_when_they_are_asked_for(rng, monkeypatch):
    """And they are those of H; layers and directions do without."""
    x, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    layers = {"first": slice(0, 2), "second": slice(2, 4)}
    found = cc.allocate_network(lambda w, x: x @ w, np.ones(4), x, y, weight_decay=0.5, layers=layers)

    def of_nothing(matrix, **more):
        assert not matrix.size, "found eigenvalues"
        return eigh(matrix)

    with monkeypatch.context() as patch:
        patch.setattr("capcore.networks.response.eigh", of_nothing)
        patch.setattr("capcore.networks.response.eigvalsh", of_nothing)
        assert sum(layer.forward.total for layer in found.layers.values()) == pytest.approx(found.total)
        assert 0 < found.capacity(np.eye(20)[:, :3]) < 3
    assert found.eigenvalues == pytest.approx(np.linalg.eigvalsh(x.T @ x + 0.5 * np.eye(4)))
    assert found.n_singular == found.n_negative == 0


def test_the_metric_of_cross_entropy_is_the_root_of_its_hessian(rng):
    """RᵀJ has (RᵀJ)ᵀRᵀJ = JᵀWJ with W = diag(p) − ppᵀ, example by example."""
    p = rng.dirichlet(np.ones(4), size=5)
    jacobian = rng.normal(size=(20, 3))
    scaled = to_metric(jacobian, np.sqrt(p), p)
    blocks = jacobian.reshape(5, 4, 3)
    expected = sum(j.T @ (np.diag(q) - np.outer(q, q)) @ j for j, q in zip(blocks, p, strict=True))
    assert scaled.T @ scaled == pytest.approx(expected, abs=1e-12)
