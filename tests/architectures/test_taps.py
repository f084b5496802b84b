"""Taps and pools: what they read, exact capacity, and optima that are projections."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore as cc
from capcore.architectures import generic
from capcore.architectures.taps import geometric
from tests.strategies import refused

TASK = cc.PowerLaw()
FAMILIES = {
    "taps": lambda n, k: cc.AutoRegressiveTaps(k, n_inputs=n),
    "logarithmic taps": lambda n, k: cc.LogTaps(n, k),
    "pools": lambda n, k: cc.NearAndPools(1, k - 1, n_inputs=n),
}


@given(st.integers(1, 30), st.data())
def test_edges_ascend_and_are_the_nearest_to_even_ratios(first, data):
    last = data.draw(st.integers(first + 1, 10**6))
    steps = data.draw(st.integers(1, min(last - first, 60)))
    edges = geometric(first, last, steps)
    assert len(edges) == steps + 1 and (edges[0], edges[-1]) == (first, last) and np.all(np.diff(edges) > 0)
    even = np.geomspace(first, last, steps + 1)
    assert np.diff(even).min() < 2 or np.abs(edges - even).max() < 0.5 + 1e-9 * last


@pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("n", [4, 9, 32])
def test_each_parameter_is_a_unit_of_capacity(make, n, rng):
    for k in range(2, n + 1):
        arch = make(n, k)
        assert (arch.n_inputs, arch.n_params, arch.generic_capacity()) == (n, k, k)
        assert generic.exact_rank(arch) == k == np.linalg.matrix_rank(arch.basis)
        assert np.count_nonzero(arch.basis, axis=1).max() == 1
        np.testing.assert_allclose(arch.basis.sum(axis=0), 1)


@pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES)
def test_the_optimum_is_the_projection(make):
    """Against the normal equations, whose condition is that of BᵀΣB, here below 1e3."""
    arch = make(32, 7)
    fit, problem = cc.fit(arch, TASK), cc.Problem.of(arch, TASK)
    gram = arch.basis.T @ problem.covariance @ arch.basis
    np.testing.assert_allclose(
        fit.params, np.linalg.solve(gram, arch.basis.T @ problem.covariance @ problem.target), rtol=1e-10
    )
    assert (fit.method, fit.converged) == ("projection", True)
    assert fit.loss == pytest.approx(cc.fit(arch, TASK, method="gauss-newton").loss, rel=1e-10)
    assert cc.allocate(arch, fit, TASK).total == 7


def test_shorter_autoregressions_are_those_of_levinson_and_durbin():
    """The excess of AR(q) over the best predictor of all n inputs is the difference of their variances."""
    least = TASK.predictor(32)[1]
    for q in (1, 5, 20):
        target, variance = TASK.predictor(q)
        fit = cc.fit(cc.AutoRegressiveTaps(q, n_inputs=32), TASK)
        np.testing.assert_allclose(fit.params, target, rtol=1e-10)
        assert fit.loss == pytest.approx(variance - least, abs=1e-14)  # variances of order 1, 32 inputs


test_refusals = refused(
    lambda make: make(),
    (lambda: cc.NearAndPools(3, 2, n_inputs=4), "near \\+ pools: found 5, expected at most 4"),
    (lambda: cc.LogTaps(4, 5), "taps: found 5, expected at most 4"),
    (lambda: cc.AutoRegressiveTaps(5, n_inputs=4), "taps: found 5, expected at most 4"),
    (lambda: cc.NearAndPools(1, 60), "pools: found 60 that double, expected at most 40"),
    (lambda: cc.NearAndPools(1, 40), "Use fewer"),
    (lambda: cc.fit(cc.Hierarchical(1, 2), TASK, method="projection"), "expected a linear model"),
)
