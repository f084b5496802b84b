"""Sums of two branches: coefficients, exact capacity, and fits in which a linear branch is eliminated."""

import numpy as np
import pytest

import capcore as cc
from capcore.fitting.projection import without
from chapters.dilated_blocks.experiment import reachable_share

TASK = cc.PowerLaw()
STACK = cc.Hierarchical(channels=2, n_layers=4)
TAPS = cc.AutoRegressiveTaps(3)
PAIRS = {
    "taps and a stack": cc.Sum(TAPS, STACK),
    "a stack and taps": cc.Sum(STACK, TAPS),
    "longer taps": cc.Sum(cc.LogTaps(24, 5), STACK),
    "two stacks": cc.Sum(STACK, cc.Hierarchical(1, 3)),
    "a stack with overlap": cc.Sum(TAPS, cc.Hierarchical(channels=2, kernel_size=3, dilations=[1, 2, 4])),
    "poles": cc.Sum(cc.Recurrent(16, 2), TAPS),
    "a sum of sums": cc.Sum(cc.Sum(TAPS, STACK), cc.Recurrent(16, 1)),
    "a fixed basis": cc.Sum(cc.Linear(np.eye(16)[:, ::5]), STACK),
}


@pytest.mark.parametrize("arch", PAIRS.values(), ids=PAIRS)
def test_branches_are_added(arch, rng):
    params = arch.init(rng)
    one, other = arch.split(params)
    total = np.zeros(arch.n_inputs)
    for branch, part in ((arch.one, one), (arch.other, other)):
        total[: branch.n_inputs] += branch.coefficients(part)
    np.testing.assert_array_equal(arch.coefficients(params), total)
    h = 1e-6
    jacobian = arch.jacobian(params)
    moved = [(arch.coefficients(params + s * h * np.eye(arch.n_params)[1]) / (2 * h)) for s in (1, -1)]
    np.testing.assert_allclose(jacobian[:, 1], moved[0] - moved[1], atol=1e-8)  # h² and rounding / h
    covered = np.concatenate([np.arange(arch.n_params)[part] for part in arch.layers.values()])
    assert covered.tolist() == [*range(arch.n_params)]


@pytest.mark.parametrize("arch", PAIRS.values(), ids=PAIRS)
def test_capacity_is_the_rank_of_both_jacobians(arch, rng):
    """Moderate sizes, at which double precision tells the rank."""
    assert arch.generic_capacity() == np.linalg.matrix_rank(arch.jacobian(arch.init(rng)), tol=1e-9)


def test_known_totals():
    """The stack is the 4 × 4 matrices of rank 2. Taps in one column add the two directions that it lacks."""
    assert STACK.generic_capacity() == 12
    assert cc.Sum(TAPS, STACK).generic_capacity() == 14
    assert cc.Sum(TAPS, cc.AutoRegressiveTaps(2)).generic_capacity() == 3
    square = cc.Sum(cc.Function(lambda w: w**2, 2), cc.AutoRegressiveTaps(1))
    assert square.generic_capacity() == 2
    sine = cc.Sum(cc.Function(np.sin, 2, derivative="complex-step"), cc.AutoRegressiveTaps(1))
    assert sine.generic_capacity() == 2


@pytest.mark.parametrize("name", ["taps and a stack", "a stack and taps", "longer taps", "poles", "a fixed basis"])
def test_a_linear_branch_is_eliminated(name):
    arch = PAIRS[name]
    fit = cc.fit(arch, TASK)
    alone = max((arch.one, arch.other), key=lambda branch: branch.n_inputs)
    assert fit.method == "projection" and fit.loss <= cc.fit(alone, TASK).loss + 1e-14
    problem = cc.Problem.of(arch, TASK)
    assert fit.loss < 1e-14 or reachable_share(arch, problem.target, problem.root, fit.params) < 1e-3


def test_what_is_left_is_the_schur_complement():
    n, taps = 16, np.eye(16)[:, :3]
    problem = cc.Problem.of(cc.AutoRegressiveTaps(n), TASK)
    left = without(problem, taps, n)
    sigma = problem.covariance
    schur = sigma - sigma @ taps @ np.linalg.inv(taps.T @ sigma @ taps) @ taps.T @ sigma
    np.testing.assert_allclose(left.covariance, schur, atol=1e-14)


def test_a_shorter_branch_is_fitted_on_its_own_inputs():
    long = cc.Sum(cc.AutoRegressiveTaps(16), cc.Hierarchical(1, 2))
    assert cc.fit(long, TASK).loss < 1e-24
    short = cc.Sum(cc.LogTaps(32, 4), cc.Hierarchical(2, 3))
    fit = cc.fit(short, TASK)
    joint = cc.fit(short, TASK, method="gauss-newton", start=fit.params)
    assert fit.loss == pytest.approx(joint.loss, rel=1e-3) and fit.loss < cc.fit(short.one, TASK).loss


def test_two_linear_branches_need_no_descent():
    arch = cc.Sum(cc.AutoRegressiveTaps(4, n_inputs=16), cc.LogTaps(16, 5))
    fit = cc.fit(arch, TASK)
    assert fit.relative_offset < 1e-6 and fit.loss <= cc.fit(arch.one, TASK).loss


@pytest.mark.parametrize("exponent", [-300, 300])
def test_capacity_does_not_depend_on_the_scale_of_a_layer(exponent, rng):
    arch = cc.Sum(TAPS, STACK)
    params = arch.init(rng)
    moved = params.copy()
    moved[arch.layers["other: layer 2"]] *= 2.0**exponent
    moved[arch.layers["one: layer 1"]] *= 2.0**-exponent
    before, after = (cc.allocate(arch, each, TASK) for each in (params, moved))
    np.testing.assert_allclose(after.per_input, before.per_input, atol=1e-10)


def test_refusals():
    with pytest.raises(ValueError, match="input_dim: found 1 and 2"):
        cc.Sum(TAPS, cc.Linear(np.eye(4), input_dim=2))
    with pytest.raises(TypeError, match="other: found int, expected an architecture"):
        cc.Sum(TAPS, 3)
