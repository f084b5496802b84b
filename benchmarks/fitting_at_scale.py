"""Fitting at scale: Newton on the tensor-train manifold against L-BFGS-B with the same fast gradient, and its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import matmul_toeplitz as toeplitz_product
from scipy.sparse.linalg import LinearOperator

from benchmarks import designs
from benchmarks.measure import Row, best_of
from capcore.architectures import Hierarchical
from capcore.capacity.allocation import allocate
from capcore.capacity.tangent_space import TangentSpace
from capcore.fitting.gauss_newton import Minimum
from capcore.fitting.lbfgs import minimise_lbfgs
from capcore.fitting.optimum import fit
from capcore.large.fit import fit_large
from capcore.large.newton import Point
from capcore.large.quadratic import ToeplitzProblem, tangent_hessian
from capcore.processes import FractionalGaussianNoise, PowerLaw, Process, RationalQuadratic
from capcore.processes.problem import Problem

PROCESSES: list[Process] = [PowerLaw(0.5), FractionalGaussianNoise(0.8), RationalQuadratic(1.0, 0.3)]


def rows(quick: bool = False) -> Iterator[Row]:
    """The comparisons for kernel size 2, where n = 2^L."""
    for start in ("tensor-train", "random"):
        yield _against_lbfgs(6 if quick else 10, start, 200 if quick else 20_000)
    yield _against_dense(6 if quick else 10)
    for n_layers, iterations in ((8, 50),) if quick else ((12, 1000), (16, 100)):
        for process in PROCESSES[: 1 if quick else None]:
            for channels in (4,) if quick else (4, 8):
                yield _at_scale(n_layers, channels, process, iterations)
    yield _hessian(8 if quick else 16)
    yield from designs.rows(quick)


def _lbfgs(arch: Hierarchical, problem: ToeplitzProblem, start: np.ndarray, iterations: int) -> Minimum:
    """The paper's optimiser, with Σ applied by FFT."""
    n = problem.n_inputs
    covariance: Any = LinearOperator((n, n), matvec=problem.apply)
    return minimise_lbfgs(arch, problem.target, covariance, start, max_iterations=iterations)


def _stationarity(arch: Hierarchical, problem: ToeplitzProblem, params: np.ndarray) -> float:
    return Point(problem, arch.kernels(params)).stationarity


def _start(arch: Hierarchical, problem: ToeplitzProblem, start: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    return arch.best_start(problem.target, rng) if start == "tensor-train" else arch.init(rng)


def _far_share(arch: Hierarchical, params: np.ndarray, process: Process) -> float:
    """Capacity of the far half of the lags, as a share of the whole."""
    per_input = allocate(arch, params, process).per_input
    return float(per_input[arch.n_inputs // 2 :].sum() / per_input.sum())


def _against_lbfgs(n_layers: int, start: str, iterations: int) -> Row:
    """To the end of either optimiser, from the same start, and the capacity each would report."""
    arch, process = Hierarchical(channels=4, n_layers=n_layers), PowerLaw(0.5)
    problem = ToeplitzProblem.of(process, arch.n_inputs)
    begin = _start(arch, problem, start)
    seconds, ours = best_of(lambda: fit_large(arch, process, start=begin), 3)
    peer_seconds, slow = best_of(lambda: _lbfgs(arch, problem, begin, iterations))
    shares = [_far_share(arch, params, process) for params in (ours.params, slow.params)]
    theirs = _stationarity(arch, problem, slow.params)
    return Row(
        f"n = {arch.n_inputs:,}, c = 4, from the same {start} start to a stationary point",
        f"SciPy L-BFGS-B, FFT gradient, stopped after {len(slow.history) - 1:,} iterations",
        seconds,
        peer_seconds,
        f"loss {ours.loss:.2e} against {slow.history[-1]:.2e}; stationarity {ours.stationarity:.0e} against "
        f"{theirs:.0e}; capacity of the far half {shares[0]:.3f} against {shares[1]:.3f}",
        ours.converged and ours.loss <= slow.history[-1],
    )


def _against_dense(n_layers: int) -> Row:
    """The same optimum as the dense path, which factors an n × n matrix in every step."""
    arch, process = Hierarchical(channels=4, n_layers=n_layers), PowerLaw(0.5)
    seconds, ours = best_of(lambda: fit_large(arch, process), 3)
    peer_seconds, dense = best_of(lambda: fit(arch, Problem.of(arch, process), max_iterations=20))
    name = f"damped Gauss–Newton with n × n solves, {dense.n_iterations} iterations"
    agreement = f"loss {ours.loss:.6e} against {dense.loss:.6e}"
    holds = ours.converged and ours.loss <= dense.loss * (1 + 1e-9)
    return Row(f"n = {arch.n_inputs:,}, c = 4, power law", name, seconds, peer_seconds, agreement, holds)


def _at_scale(n_layers: int, channels: int, process: Process, iterations: int) -> Row:
    """From the process alone to the optimum; the peer gets the problem and the start, and a bounded time."""
    arch = Hierarchical(channels=channels, n_layers=n_layers)
    seconds, ours = best_of(lambda: fit_large(arch, process))
    problem = ToeplitzProblem.of(process, arch.n_inputs)
    begin = _start(arch, problem, "tensor-train")
    peer_seconds, slow = best_of(lambda: _lbfgs(arch, problem, begin, iterations))
    theirs = _stationarity(arch, problem, slow.params)
    return Row(
        f"n = {arch.n_inputs:,}, c = {channels}, {process!r}, predictor included",
        f"SciPy L-BFGS-B, FFT gradient, {len(slow.history) - 1:,} iterations from the tensor-train start",
        seconds,
        peer_seconds,
        f"loss {ours.loss:.2e} against {slow.history[-1]:.2e}; stationarity {ours.stationarity:.0e} "
        f"(rounding {ours.resolution:.0e}) against {theirs:.0e}",
        ours.converged,
    )


def _hessian(n_layers: int) -> Row:
    """TᵀΣT by levels against one full transform per column of T."""
    arch = Hierarchical(channels=4, n_layers=n_layers)
    space = TangentSpace.of_kernels(arch.kernels(arch.init(np.random.default_rng(0))))
    autocovariance = PowerLaw(0.5).autocovariance(arch.n_inputs)
    flat, bonds = np.zeros(arch.n_inputs), [np.eye(rank) for rank in space.ranks_above[:-1]]
    seconds, ours = best_of(lambda: tangent_hessian(space, autocovariance, flat, bonds), 3)
    peer_seconds, theirs = best_of(lambda: space.project(toeplitz_product(autocovariance, space.basis())))
    gap = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    work = f"TᵀΣT, n = {arch.n_inputs:,}, κ = {space.dimension}, by levels"
    name = "the listed basis, one FFT product per column"
    return Row(work, name, seconds, peer_seconds, f"relative distance {gap:.0e}", gap < 1e-13)
