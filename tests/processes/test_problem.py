"""The problem that a process poses: target, covariance and loss; and problems that do not fit together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from capcore.architectures import Hierarchical
from capcore.fitting.optimum import fit
from capcore.processes import DampedCosine, FractionalGaussianNoise, PowerLaw, RationalQuadratic
from capcore.processes.problem import Problem
from tests.strategies import all_of, refused

FAMILIES = [PowerLaw(), FractionalGaussianNoise(), RationalQuadratic(), DampedCosine()]


def arch(channels):
    return Hierarchical(channels, 6)


@pytest.mark.parametrize("process", FAMILIES, ids=repr)
def test_the_problem_is_the_process_seen_from_the_inputs(process):
    problem = Problem.of(arch(1), process)
    target, variance = process.predictor(64)
    assert np.array_equal(problem.target, target) and problem.variance == variance
    assert_allclose(problem.root.T @ problem.root, process.covariance(64), atol=1e-14)
    assert np.array_equal(problem.root, np.triu(problem.root))
    # App. B.2: the loss is the variance of the prediction error beyond v*, here from the process itself.
    model = np.random.default_rng(0).normal(size=64)
    c = process.autocovariance(65)
    error = c[0] - 2 * model @ c[1:] + model @ process.covariance(64) @ model
    assert problem.loss(model) == pytest.approx(error - variance, rel=1e-10)
    assert problem.loss(target) == 0


def test_a_problem_can_be_posed_once():
    model = arch(2)
    assert np.array_equal(fit(model, Problem.of(model, PowerLaw())).params, fit(model, PowerLaw()).params)


def test_processes_and_problems_of_another_kind_are_refused():
    with pytest.raises(TypeError, match=all_of(["process", "found str", "PowerLaw(0.5)"])):
        fit(arch(1), "PowerLaw")
    with pytest.raises(ValueError, match=all_of(["1 component(s)", "expected 3", "Hierarchical("])):
        fit(Hierarchical(1, 3, input_dim=3), PowerLaw())
    with pytest.raises(ValueError, match=all_of(["problem with 8 coefficients", "expected 64"])):
        fit(arch(1), Problem.of(Hierarchical(1, 3), PowerLaw()))
    with pytest.raises(ValueError, match="numerically singular"):
        fit(arch(1), RationalQuadratic(scale=30))
    with pytest.raises(ValueError, match=all_of(["start", "overlapping dilations", "start='random'"])):
        fit(Hierarchical(1, dilations=[1, 1]), PowerLaw(), start="tensor-train")


PARTS = {"target": np.ones(4), "covariance": np.eye(4), "root": np.eye(4), "variance": 1.0}
test_a_problem_made_by_hand_must_fit_together = refused(
    lambda change: Problem(**{**PARTS, **change}),
    ({"target": np.ones(3)}, ["covariance", "(4, 4)", "(3, 3)"]),
    ({"root": np.eye(3)}, ["root", "(3, 3)", "(4, 4)"]),
    ({"root": 2 * np.eye(4)}, ["root", "upper", "cholesky"]),
    ({"root": np.linalg.cholesky(np.eye(4) + 1.0), "covariance": np.eye(4) + 1.0}, ["root", "upper"]),
)
