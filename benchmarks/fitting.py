"""Fitting: damped Gauss–Newton in the dual form against the paper's L-BFGS-B and SciPy's least squares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

import numpy as np
from scipy.optimize import least_squares

from benchmarks.measure import Row, best_of
from capcore.architectures import Hierarchical
from capcore.capacity.allocation import allocate
from capcore.fitting.gauss_newton import minimise_gauss_newton
from capcore.fitting.lbfgs import minimise_lbfgs
from capcore.fitting.optimum import fit
from capcore.processes import PowerLaw
from capcore.processes.problem import Problem


def rows(quick: bool = False) -> Iterator[Row]:
    """The comparisons at the paper's setting: L = 6, kernel size 2, power law with exponent ½."""
    yield from _against_lbfgs(500 if quick else 20_000)
    yield _against_least_squares(channels=2 if quick else 4)
    yield _dual_against_primal(channels=8 if quick else 24)
    yield _all_seeds(3 if quick else 20)
    yield _attained([8, 16] if quick else [8, 16, 32, 64, 128, 256])
    yield _many_channels(16 if quick else 256)
    yield from _overlapping([1, 2] if quick else [1, 2, 4, 8], 3 if quick else 20)


def _against_lbfgs(iterations: int) -> Iterator[Row]:
    """Time until Gauss–Newton is below the loss at which L-BFGS-B stops, making the start included."""
    arch = Hierarchical(channels=4, n_layers=6)
    problem = Problem.of(arch, PowerLaw())
    start = arch.init(np.random.default_rng(0))
    peer_seconds, slow = best_of(
        lambda: minimise_lbfgs(arch, problem.target, problem.covariance, start, max_iterations=iterations)
    )
    goal = slow.history[-1]
    floor = goal / float(np.sum(np.square(problem.root @ problem.target)))
    rng = np.random.default_rng(0)
    starts = {"TT-SVD start": lambda: arch.best_start(problem.target, rng), "the same random start": lambda: start}
    for name, make in starts.items():

        def reach(make: Callable[[], np.ndarray] = make) -> float:
            return minimise_gauss_newton(
                arch, problem.target, problem.root, make(), floor=floor, rebalance=lambda w: arch.rebalance(w, rng)
            ).history[-1]

        seconds, loss = best_of(reach, 5)
        work = f"reach the loss where L-BFGS-B stops after {len(slow.history) - 1:,} iterations, c = 4, {name}"
        agreement = f"loss {loss:.1e} against {goal:.1e}"
        yield Row(work, "SciPy L-BFGS-B, analytic gradient", seconds, peer_seconds, agreement, loss <= goal)


def _trust_region(arch: Hierarchical, problem: Problem, start: np.ndarray) -> float:
    """The loss that SciPy's trust-region reflective method ends at."""
    found = least_squares(
        lambda w: problem.root @ (arch.coefficients(w) - problem.target),
        start,
        jac=lambda w: problem.root @ arch.jacobian(w),
        method="trf",
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
        max_nfev=1000,
    )
    return float(2 * found.cost)


def _against_least_squares(channels: int) -> Row:
    """To a stationary point from the same random start."""
    arch = Hierarchical(channels=channels, n_layers=6)
    problem = Problem.of(arch, PowerLaw())
    start = arch.init(np.random.default_rng(1))

    seconds, ours = best_of(lambda: fit(arch, problem, start=start).loss, 3)
    peer_seconds, theirs = best_of(lambda: _trust_region(arch, problem, start))
    work = f"fit from one random start, c = {channels}"
    name = "SciPy least_squares (trf), analytic Jacobian"
    return Row(work, name, seconds, peer_seconds, f"loss {ours:.2e} against {theirs:.2e}", ours <= theirs * (1 + 1e-6))


def _dual_against_primal(channels: int) -> Row:
    """One damped step: the n × n dual solve against the p × p normal equations."""
    arch = Hierarchical(channels=channels, n_layers=6)
    problem = Problem.of(arch, PowerLaw())
    params = arch.init(np.random.default_rng(2))
    damping = 1e-3

    def dual() -> np.ndarray:
        coefficients, pullback = arch.linearise(params)
        r = problem.root @ (coefficients - problem.target)
        h = problem.root @ arch.tangent_kernel(params) @ problem.root.T
        return -pullback(problem.root.T @ np.linalg.solve(h + damping * np.eye(r.size), r))

    def primal() -> np.ndarray:
        m = problem.root @ arch.jacobian(params)
        r = problem.root @ (arch.coefficients(params) - problem.target)
        return -np.linalg.solve(m.T @ m + damping * np.eye(arch.n_params), m.T @ r)

    seconds, ours = best_of(dual, 3)
    peer_seconds, theirs = best_of(primal)
    gap = float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
    work = f"one damped Gauss–Newton step, c = {channels} ({arch.n_params:,} parameters)"
    agreement = f"relative distance of the steps {gap:.0e}"
    return Row(work, "normal equations in parameter space", seconds, peer_seconds, agreement, gap < 1e-6)


def _all_seeds(seeds: int) -> Row:
    """Not a race: the default's loss over seeds, timed against as many random starts."""
    arch = Hierarchical(channels=4, n_layers=6)
    problem = Problem.of(arch, PowerLaw())
    seconds, ours = best_of(lambda: max(fit(arch, problem, rng=seed).loss for seed in range(seeds)))
    peer_seconds, theirs = best_of(lambda: max(fit(arch, problem, rng=s, start="random").loss for s in range(seeds)))
    work = f"default fit for {seeds} seeds, c = 4"
    agreement = f"worst loss {ours:.2e} (random starts {theirs:.2e}); wanted 3e-10 or lower"
    return Row(work, "the same from random starts", seconds, peer_seconds, agreement, ours <= 3e-10)


def _attained(channels: list[int]) -> Row:
    """For c ≥ 8 the target is attained: Gauss–Newton against L-BFGS-B to the rounding floor, at c = 8."""
    process = PowerLaw()
    problem = Problem.of(Hierarchical(channels=8, n_layers=6), process)
    worst = max(fit(Hierarchical(channels=c, n_layers=6), problem).loss for c in channels)
    arch = Hierarchical(channels=channels[-1], n_layers=6)
    seconds, _ = best_of(lambda: fit(arch, problem), 3)
    start = arch.init(np.random.default_rng(0))
    peer_seconds, slow = best_of(
        lambda: minimise_lbfgs(arch, problem.target, problem.covariance, start, max_iterations=2000, ftol=1e-12)
    )
    name = f"SciPy L-BFGS-B with ftol = 1e-12 (stops at {slow.history[-1]:.0e})"
    agreement = f"worst loss over c = {channels}: {worst:.0e}; wanted below 1e-26"
    return Row(f"attain the target, c = {channels[-1]}", name, seconds, peer_seconds, agreement, worst < 1e-26)


def _many_channels(channels: int) -> Row:
    """Fit and full analysis with layers, against the same analysis through the whole Jacobian."""
    arch, process = Hierarchical(channels=channels, n_layers=6), PowerLaw()

    def analyse() -> float:
        return allocate(arch, fit(arch, process).params, process).layers["layer 6"].independent.sum()

    params = fit(arch, process).params
    covariance = process.covariance(arch.n_inputs)

    def through_jacobian() -> np.ndarray:
        return np.linalg.svd(covariance @ arch.jacobian(params), full_matrices=False)[0]

    seconds, _ = best_of(analyse, 2)
    total = allocate(arch, params, process).total
    peer_seconds, basis = best_of(through_jacobian)
    work = f"fit and analyse, layers included, c = {channels} ({arch.n_params:,} parameters)"
    name = "NumPy SVD of the whole ΣJ, analysis of the total alone"
    holds = total == basis.shape[1] and seconds < 10
    return Row(work, name, seconds, peer_seconds, f"κ = {total} against {basis.shape[1]}", holds)


def _overlapping(block: list[int], most: int) -> Iterator[Row]:
    """Processor time to the loss that basin hopping reaches; the others go on to further starts until they are there.

    Starts are the same, and there are at most ``most`` of them.
    """
    arch = Hierarchical(2, dilations=block * 2)
    problem = Problem.of(arch, PowerLaw())
    starts = [arch.init(np.random.default_rng(seed)) for seed in range(most)]
    seconds, ours = best_of(lambda: fit(arch, problem, method="basin-hopping", start=starts[0]), clock=process_time)

    def damped(start: np.ndarray) -> float:
        end = minimise_gauss_newton(
            arch, problem.target, problem.root, start, acceleration=True, rebalance=arch.rebalance
        )
        return end.history[-1]

    def quasi_newton(start: np.ndarray) -> float:
        return minimise_lbfgs(arch, problem.target, problem.covariance, start, max_iterations=5000).history[-1]

    peers: dict[str, Callable[[np.ndarray], float]] = {
        "Gauss–Newton with bent steps": damped,
        "SciPy least_squares (trf), analytic Jacobian": partial(_trust_region, arch, problem),
        "SciPy L-BFGS-B, analytic gradient": quasi_newton,
    }
    for name, solve in peers.items():

        def restart(solve: Callable[[np.ndarray], float] = solve) -> list[float]:
            losses: list[float] = []
            while len(losses) < most and min(losses, default=np.inf) > ours.loss * (1 + 1e-3):
                losses.append(solve(starts[len(losses)]))
            return losses

        peer_seconds, losses = best_of(restart, clock=process_time)
        work = f"overlapping dilations, {arch.n_inputs} inputs, {arch.n_params} weights, basin hopping, processor time"
        agreement = f"loss {ours.loss:.1e} against {min(losses):.1e} (median {np.median(losses):.1e})"
        holds = bool(ours.converged and ours.loss <= max(np.median(losses) * (1 + 1e-3), 1e-16 * problem.variance))
        yield Row(work, f"{name}, {len(losses)} starts", seconds, peer_seconds, agreement, holds)
