"""The bounds: no stack goes below either, the proven one lies below the other, and both are sharp where they should."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import capcore as cc
from capcore.checks.arguments import quiet
from capcore.designs.bonds import EPS, bond_table, bonds, divisors, proven_losses
from capcore.processes import FromAutocovariance

LAGS = np.arange(300.0)
SEASON = 0.45 * np.cos(2 * np.pi * LAGS / 48) * np.exp(-LAGS / 2000) + 0.2 * (1 + LAGS) ** -0.5
SEASON += 0.25 * np.cos(2 * np.pi * LAGS / 7) * np.exp(-LAGS / 300) + 0.1 * (LAGS == 0)
PROCESSES = {
    "power law": cc.PowerLaw(),
    "fractional noise": cc.FractionalGaussianNoise(0.9),
    "damped cosine": cc.DampedCosine(),
    "rational quadratic": cc.RationalQuadratic(),
    "seasons": FromAutocovariance(SEASON),
}
TOLERANCE = 1e-9
"""Of v*. A fit stops where a step would gain less than 1e-8 of its residual's norm; losses here are below v*."""


@cache
def table_of(name, n):
    return bond_table(PROCESSES[name], n)


def random_stack(n, rng, most=8, budget=None):
    """A random chain of divisors of n, with random channels; within a budget, of which it uses most."""
    if budget is not None:
        while True:
            arch = random_stack(n, rng, int(rng.integers(2, most + 1)))
            if 0.8 * budget <= arch.n_params <= budget:
                return arch
    cuts = [m for m in divisors(n) if rng.random() < rng.choice([0.3, 0.5, 0.8])] or [divisors(n)[0]]
    chain = [1]
    for cut in [*cuts, n]:
        if cut % chain[-1] == 0:
            chain.append(cut)
    if chain[-1] != n:
        chain.append(n)
    kernels = [b // a for a, b in pairwise(chain)]
    return cc.Hierarchical(rng.integers(1, most + 1, len(kernels) - 1).tolist(), kernel_size=kernels)


def fell_below(sizes, count, seed):
    """(stacks tried, those that went below the table's bound, those below the proven one)."""
    rng, below, refuted, tried = np.random.default_rng(seed), [], [], 0
    for name, process in PROCESSES.items():
        for n in sizes:
            table = table_of(name, n)
            for _ in range(count):
                arch = random_stack(n, rng)
                loss = cc.fit(arch, process, method="riemannian-newton", max_iterations=60).loss
                room = TOLERANCE * table.variance
                tried += 1
                if loss < table.bound(arch) - room:
                    below.append((name, n, repr(arch), loss, table.bound(arch)))
                if loss < table.bound(arch, proven=True) - 1e-12 * table.variance:  # rounding of n² terms
                    refuted.append((name, n, repr(arch), loss))
    return tried, below, refuted


def test_no_stack_is_below_the_bounds():
    tried, below, refuted = fell_below([32, 36], count=6, seed=1)
    assert (tried, below, refuted) == (60, [], [])


@pytest.mark.slow
def test_none_of_a_thousand_stacks_is_below_the_bounds():
    tried, below, refuted = fell_below([32, 36, 64, 128], count=50, seed=2)
    assert (tried, below, refuted) == (1000, [], [])


@pytest.mark.parametrize("process", [cc.AR1(0.9), cc.DampedCosine()], ids=repr)
def test_what_has_no_loss_has_no_bound(process):
    """Below the rounding of v* there is neither."""
    with quiet():
        found = cc.design(process, max_params=30, n_inputs=32, families=["stacks"])
    without = [one for one in found.candidates if one.loss == 0]
    assert without and all(one.proven == one.bound == 0 for one in without) and found.proven_wall[-1][1] == 0


@pytest.mark.parametrize("name", PROCESSES)
def test_the_proven_bound_lies_below_every_fit_of_two_layers(name):
    table = table_of(name, 32)
    for size, row in table.losses.items():
        known = table.proven[size][: len(row)]
        assert np.all(known <= row + 1e-12 * table.variance) and np.all(np.diff(row) <= 0)
        assert np.all(np.diff(known) <= 0)


@pytest.mark.parametrize("name", PROCESSES)
@pytest.mark.parametrize("size", [2, 8, 16])
def test_alternating_least_squares_end_where_newton_does(name, size):
    """The loss is flat at an optimum: a relative decrease of 1e-9 in the last sweep, at rates up to 0.99."""
    table, process = table_of(name, 32), PROCESSES[name]
    for rank, loss in enumerate(table.losses[size], 1):
        arch = cc.Hierarchical([rank], kernel_size=[size, 32 // size])
        newton = cc.fit(arch, process, method="riemannian-newton").loss
        assert loss == pytest.approx(newton, rel=1e-7, abs=EPS * table.variance) or loss < newton


def test_both_are_sharp_under_a_product(rng):
    """Eckart & Young: where Σ = Q ⊗ P the truncated singular value decomposition is the optimum."""
    p, q = (each @ each.T + np.eye(len(each)) for each in (rng.normal(size=(4, 4)), rng.normal(size=(5, 5))))
    target = rng.normal(size=20)
    bound = proven_losses(np.kron(q, p), target, 4)
    problem = cc.Problem(target, np.kron(q, p), np.linalg.cholesky(np.kron(q, p)).T, 1.0)
    assert bound[0] == pytest.approx(problem.loss(np.zeros(20)))
    for rank in (1, 2, 3):
        arch = cc.Hierarchical([rank], kernel_size=[4, 5])
        assert cc.fit(arch, problem, n_starts=3).loss == pytest.approx(bound[rank], rel=1e-9)
    assert bound[4] == 0


def test_bonds_and_cuts():
    assert divisors(7) == [] and divisors(36) == [2, 3, 4, 6, 9, 12, 18]
    assert bonds([2, 2, 2], [5, 5]) == [(2, 2), (4, 2)]
    assert bond_table(cc.PowerLaw(), 7).bound(cc.Hierarchical([], kernel_size=[7])) == 0
