"""Problems without n × n matrices: products, predictors and refusals against the dense and the recursive routes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import capcore as cc
from capcore.large.quadratic import ToeplitzProblem

PROCESSES = [
    cc.PowerLaw(0.5),
    cc.PowerLaw(0.1),
    cc.FractionalGaussianNoise(0.8),
    cc.FractionalGaussianNoise(0.2),
    cc.RationalQuadratic(1.0, 1.0),
    cc.AR1(0.99),
    cc.AR1(-0.9),
    cc.DampedCosine(),
]


@pytest.mark.parametrize("process", PROCESSES, ids=repr)
@pytest.mark.parametrize("n", [1, 2, 7, 64, 1000])
def test_the_predictor_is_that_of_the_levinson_recursion(process: cc.Process, n: int) -> None:
    problem = ToeplitzProblem.of(process, n)
    target, variance = process.predictor(n)
    # Both solve a system of condition number up to 1e5 in double precision.
    np.testing.assert_allclose(problem.target, target, rtol=0, atol=1e-11)
    assert problem.variance == pytest.approx(variance, rel=1e-11)
    assert problem.accuracy < 1e-10
    assert np.linalg.norm(problem.target - target) <= 10 * problem.accuracy * np.linalg.norm(target)


@given(st.integers(1, 40), st.integers(0, 99))
def test_products_are_those_of_the_matrix(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = ToeplitzProblem.of(cc.PowerLaw(0.4), n)
    v = rng.normal(size=(n, 3))
    expected = cc.PowerLaw(0.4).covariance(n) @ v
    for column, product in zip(v.T, expected.T, strict=True):
        np.testing.assert_allclose(problem.apply(column), product, atol=1e-13)


@pytest.mark.parametrize("process", [cc.RationalQuadratic(20.0), cc.RationalQuadratic(100.0)], ids=repr)
def test_a_numerically_singular_process_is_refused_as_by_the_recursion(process: cc.Process) -> None:
    with pytest.raises(ValueError, match="numerically singular"):
        process.predictor(1024)
    with pytest.raises(ValueError, match="nugget"):
        ToeplitzProblem.of(process, 1024)


def test_several_components_and_other_objects_are_refused() -> None:
    with pytest.raises(ValueError, match=r"2 component\(s\)"):
        ToeplitzProblem.of(cc.Independent([cc.PowerLaw(), cc.AR1()]), 8)
    with pytest.raises(TypeError, match="expected a Process"):
        ToeplitzProblem.of("PowerLaw", 8)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n: found 0"):
        ToeplitzProblem.of(cc.PowerLaw(), 0)
