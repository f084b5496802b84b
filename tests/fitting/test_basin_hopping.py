"""Basin hopping: never above a plain descent, true optima, early ends, and options."""

from itertools import cycle

import numpy as np
import pytest

import capcore as cc
from capcore.fitting.basin_hopping import PATIENCE, disturbed, minimise_by_hopping, start_near_identity
from capcore.fitting.gauss_newton import Minimum, minimise_gauss_newton
from capcore.processes.problem import Problem
from tests.strategies import refused

TASK = cc.PowerLaw(0.5)
TILED = cc.Hierarchical(2, dilations=[1, 2, 4, 8] * 2)
PROBLEM = Problem.of(TILED, TASK)


def descents(arch, problem, start, seed, **options):
    return minimise_by_hopping(arch, problem, start, np.random.default_rng(seed), **options)


def test_it_ends_far_below_what_plain_descents_end_at():
    """Of sixty random starts, half end above 1e-6, and one in ten below 4e-8."""
    for seed in range(2):
        start = TILED.init(np.random.default_rng(seed))
        plain = minimise_gauss_newton(
            TILED, PROBLEM.target, PROBLEM.root, start, acceleration=True, rebalance=TILED.rebalance
        )
        found = cc.fit(TILED, TASK, start=start, rng=seed, method="basin-hopping")
        assert found.converged and found.loss < min(2e-7, plain.history[-1])
        assert found.loss == pytest.approx(PROBLEM.loss(found.coefficients), rel=1e-9)


def test_what_converged_is_a_minimum_of_second_order():
    """No curvature is negative: by differences of the gradient, as precise as a step of 1e-4 makes them."""
    found = cc.fit(TILED, TASK, n_hops=4)
    params = TILED.rebalance(found.params)

    def gradient(w):
        coefficients, pullback = TILED.linearise(w)
        return 2 * pullback(PROBLEM.covariance @ (coefficients - PROBLEM.target))

    hessian = np.array([(gradient(params + h) - gradient(params - h)) / 2e-4 for h in 1e-4 * np.eye(params.size)])
    values = np.linalg.eigvalsh((hessian + hessian.T) / 2)
    assert found.converged and found.relative_offset < 1e-5
    assert values[0] > -1e-8 * values[-1]


def test_a_stopped_search_says_so():
    found = cc.fit(TILED, TASK, n_hops=1, max_iterations=5)
    assert not found.converged and found.message == "stopped after 5 iterations" and found.n_iterations == 15
    assert np.all(np.diff(found.history[:-1]) <= 0)


def test_without_hops_it_is_a_descent_in_two_parts():
    hopped = descents(TILED, PROBLEM, TILED.init(np.random.default_rng(0)), 0, n_hops=0, rebalance=False)
    again = minimise_gauss_newton(TILED, PROBLEM.target, PROBLEM.root, hopped.params, acceleration=True)
    assert hopped.converged and again.history[-1] == pytest.approx(hopped.history[-1], rel=1e-6)


def test_it_ends_early_where_there_is_one_optimum_or_no_loss():
    calls = []
    one = cc.Hierarchical(1, dilations=[1, 1])

    class Counted(cc.Hierarchical):
        def kernels(self, params):
            calls.append(1)
            return super().kernels(params)

    spent = []
    for n_hops in (PATIENCE, 50):
        calls.clear()
        arch = Counted(1, dilations=[1, 1])
        descents(arch, Problem.of(one, TASK), np.array([1.0, 0.4, 1.0, 0.6]), 0, n_hops=n_hops)
        spent.append(len(calls))
    assert spent[0] == spent[1]
    wide = cc.Hierarchical(4, dilations=[1, 2, 1, 2])
    attained = cc.fit(wide, TASK, n_hops=1000, max_iterations=200)
    assert attained.converged and "attained" in attained.message and attained.n_iterations < 400


def test_it_ends_after_six_returns_in_a_row_and_not_in_all(monkeypatch):
    """Descents end where they are told: at the best optimum each time, or at another every third time."""
    for ends, hops in (([1.0], PATIENCE), ([1.0, 1.0, 2.0], 20)):
        told, start = cycle(ends), TILED.init(np.random.default_rng(0))
        calls = []

        def descent(arch, target, root, params, *options, told=told, calls=calls, **others):
            calls.append(params)
            return Minimum(params, [next(told)], True, "told")

        monkeypatch.setattr("capcore.fitting.basin_hopping.minimise_gauss_newton", descent)
        descents(TILED, PROBLEM, start, 0, n_hops=20)
        assert len(calls) == 1 + hops + 1


def test_disturbances_are_of_the_size_of_their_layer():
    arch = cc.Hierarchical(30, dilations=[1, 2, 1])
    params = np.concatenate([np.full(p.stop - p.start, 10.0**l) for l, p in enumerate(arch.layers.values())])
    moved = disturbed(arch, params, np.random.default_rng(0)) - params
    for l, part in enumerate(arch.layers.values()):
        assert np.std(moved[part]) == pytest.approx(10.0**l, rel=0.3)


def test_the_first_start_passes_the_input_on():
    arch = cc.Hierarchical(8, dilations=[1, 2, 1, 2, 1])
    kernels = arch.kernels(start_near_identity(arch, np.random.default_rng(0)))
    for kernel in kernels:
        noise = kernel - np.stack([np.eye(len(kernel), kernel.shape[2]), np.zeros((len(kernel), kernel.shape[2]))], 1)
        assert np.abs(noise).max() < 1.5 and np.sqrt(np.mean(np.square(noise))) == pytest.approx(0.3, rel=0.5)


def test_auto_leaves_given_parameters_and_other_options_to_gauss_newton():
    start = TILED.init(np.random.default_rng(0))
    assert cc.fit(TILED, TASK, start=start, max_iterations=2).method == "gauss-newton"
    assert cc.fit(TILED, TASK, acceleration=False, max_iterations=2).method == "gauss-newton"
    several = cc.fit(TILED, TASK, n_starts=2, n_hops=1, max_iterations=3)
    assert several.method == "basin-hopping" and len(several.losses) == 2 and several.loss == min(several.losses)


test_bad_options_are_refused = refused(
    lambda options: cc.fit(TILED, TASK, method="basin-hopping", **options),
    ({"n_hops": -1}, "n_hops: found -1"),
    ({"tolerance": 1e-9}, "option of basin-hopping"),
    ({"acceleration": 1}, "acceleration"),
    ({"start": "tensor-train"}, "tensor-train"),
)
