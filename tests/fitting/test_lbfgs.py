"""The paper's optimiser: its gradient, its descent, and honest flags."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from capcore.architectures import Hierarchical
from capcore.fitting import lbfgs
from capcore.fitting.lbfgs import minimise_lbfgs
from capcore.fitting.optimum import fit
from capcore.processes import DampedCosine, PowerLaw
from capcore.processes.problem import Problem


@pytest.mark.parametrize("arch", [Hierarchical(2, 4), Hierarchical(3, dilations=[1, 2, 1])], ids=repr)
def test_scipy_gets_the_loss_and_its_gradient(arch, monkeypatch):
    handed = {}

    def spy(function, start, **options):
        handed.update(function=function, options=options)
        return original(function, start, **options)

    original = lbfgs.minimize
    monkeypatch.setattr(lbfgs, "minimize", spy)
    problem = Problem.of(arch, DampedCosine())
    params = arch.init(np.random.default_rng(0))
    minimise_lbfgs(arch, problem.target, problem.covariance, params, max_iterations=2)
    loss, gradient = handed["function"](params)
    error = arch.coefficients(params) - problem.target
    assert loss == pytest.approx(error @ problem.covariance @ error, rel=1e-13)
    assert loss == pytest.approx(problem.loss(arch.coefficients(params)), rel=1e-12)
    assert_allclose(gradient, 2 * arch.jacobian(params).T @ problem.covariance @ error, atol=1e-13)
    numerical = approx_fprime(params, lambda w: handed["function"](w)[0], 1e-7)
    assert_allclose(gradient, numerical, atol=1e-5)  # one-sided differences: curvature times the step
    assert handed["options"]["jac"] is True and handed["options"]["method"] == "L-BFGS-B"


def test_it_descends_and_stops_where_told():
    result = fit(Hierarchical(4, 6), PowerLaw(), method="l-bfgs-b", max_iterations=200, rng=0)
    assert len(result.history) == 201 and result.n_iterations == 200
    assert np.all(np.diff(result.history) <= 1e-16)
    assert not result.converged and "L-BFGS-B" in result.message and "ITERATIONS" in result.message
    assert result.loss == pytest.approx(result.history[-1], rel=1e-6)


def test_it_finds_what_gauss_newton_finds_where_it_can():
    arch = Hierarchical(1, 6)
    best = fit(arch, PowerLaw())
    result = fit(arch, PowerLaw(), method="l-bfgs-b", n_starts=5)  # one start in eight or so gets stuck on the way
    assert result.loss == pytest.approx(best.loss, rel=1e-9)
    assert_allclose(result.coefficients, best.coefficients, atol=1e-6)


def test_its_stopping_tolerance_is_passed_on():
    arch = Hierarchical(1, 6)
    tight, loose = (fit(arch, PowerLaw(), method="l-bfgs-b", rng=2, ftol=ftol) for ftol in (0.0, 1e-6))
    assert tight.n_iterations > loose.n_iterations and tight.loss < loose.loss
    assert tight.gradient_norm < 1e-6 < loose.gradient_norm


def test_stopping_short_of_an_optimum_is_not_convergence():
    # SciPy calls it success when the loss decreases by less than ftol, however far from stationary that is.
    result = fit(Hierarchical(1, 6), PowerLaw(), method="l-bfgs-b", ftol=0.5, rng=2)
    assert not result.converged and result.relative_offset > 1e-2
    assert (
        "CONVERGENCE" in result.message and "not stationary" in result.message and "relative offset" in result.message
    )


def test_running_out_of_iterations_is_not_convergence_even_near_an_optimum():
    model = Hierarchical(1, 6)
    best = fit(model, PowerLaw()).params
    nearby = best * (1 + 1e-5 * np.random.default_rng(0).normal(size=best.size))
    result = fit(model, PowerLaw(), method="l-bfgs-b", start=nearby, max_iterations=6)
    assert not result.converged and "ITERATIONS" in result.message and "yet" not in result.message
    assert result.relative_offset < 1e-3


def test_an_attained_target_is_convergence_whatever_the_offset():
    # With the error at rounding level its direction means nothing.
    model = Hierarchical([], kernel_size=4)
    exact = PowerLaw().predictor(4)[0]
    result = fit(model, PowerLaw(), method="l-bfgs-b", start=exact + 1e-17, ftol=1e-3)
    assert result.converged
