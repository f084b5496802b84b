"""Capacity at audio length: against the dense path where that runs, and against arithmetic that no method avoids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.linalg.blas import dsyrk, dtrsm

from benchmarks.measure import Row, best_of
from capcore.architectures import Hierarchical
from capcore.capacity.allocation import allocate
from capcore.large.allocation import LargeAllocation, allocate_large
from capcore.large.leverage import default_threads, in_threads
from capcore.large.sketch import estimate_capacity
from capcore.processes import PowerLaw

PROCESS = PowerLaw()
TILE = 2048  # rows of a block, as in the package


def rows(quick: bool = False) -> Iterator[Row]:
    """Four channels, kernel size 2, power law with exponent ½; threads as many as BLAS has."""
    yield against_dense(8 if quick else 12)
    yield _streamed_against_sketch(10 if quick else 16)
    yield from _unavoidable([10, 12] if quick else [12, 14, 16, 18, 20])


def _model(n_layers: int) -> tuple[Hierarchical, np.ndarray]:
    arch = Hierarchical(channels=4, n_layers=n_layers)
    lags = 1.0 + np.arange(arch.n_inputs)
    return arch, arch.best_start(lags**-1.25, np.random.default_rng(0))  # decays about as predictors do


def against_dense(n_layers: int, peer_repeats: int = 1) -> Row:
    """The default path against :func:`~capcore.capacity.allocation.allocate`, which checks Σ as well."""
    arch, params = _model(n_layers)
    seconds, ours = best_of(lambda: allocate_large(arch, params, PROCESS), 3)
    peer_seconds, theirs = best_of(lambda: allocate(arch, params, PROCESS).per_input, peer_repeats)
    error = float(np.abs(ours.per_input - theirs).max())
    work = f"capacity of every input, n = {arch.n_inputs:,}, κ = {ours.total}"
    name = "dense path: Σ listed and checked, SVD of ΣJ"
    return Row(work, name, seconds, peer_seconds, f"largest difference {error:.0e}", error < 1e-9)


def _streamed_against_sketch(n_layers: int) -> Row:
    arch, params = _model(n_layers)
    seconds, ours = best_of(lambda: allocate_large(arch, params, PROCESS), 3)
    peer_seconds, theirs = best_of(lambda: estimate_capacity(arch, params, PROCESS))
    error = float(np.abs(ours.per_input - theirs.per_input).max())
    work = f"the same, n = {arch.n_inputs:,}, κ = {ours.total}, streamed"
    name = "the same by products with J and Σ, a basis in memory"
    return Row(work, name, seconds, peer_seconds, f"largest difference {error:.0e}", error < 1e-9)


def _unavoidable(sizes: list[int]) -> Iterator[Row]:
    """What share is the one product of n κ² for the Gram matrix, and the one solve for the rows of Q."""
    first = None
    for n_layers in sizes:
        row, n, work = _sized(n_layers, 3 if n_layers < 17 else 1)
        growth = ""
        if first is None:
            first = (row.seconds, n, work)
        else:
            exponent = np.log(row.seconds / work / (first[0] / first[2])) / np.log(n / first[1])
            growth = f"; time/κ² grows as n^{exponent:.2f} since n = {first[1]:,}"
        yield replace(row, agreement=row.agreement + growth)


def _sized(n_layers: int, repeats: int) -> tuple[Row, int, float]:
    """The row at this size, n, and κ²."""
    arch, params = _model(n_layers)
    seconds, ours = best_of(lambda: allocate_large(arch, params, PROCESS), repeats)
    peer_seconds, _ = best_of(lambda: _gram_and_solve(arch.n_inputs, ours.total), repeats)
    work = f"capacity of every input, n = {arch.n_inputs:,}, κ = {ours.total}"
    name = "the part no method avoids: BLAS dsyrk and dtrsm on as many numbers"
    holds = abs(ours.per_input.sum() - ours.total) < 1e-8 and ours.departure < 1e-9
    row = Row(work, name, seconds, peer_seconds, _quality(ours), holds)
    return row, arch.n_inputs, float(ours.total**2)


def _quality(found: LargeAllocation) -> str:
    return f"sum − κ = {found.per_input.sum() - found.total:.0e}, ‖QᵀQ − 1‖ ≤ {found.departure:.0e}"


def _gram_and_solve(n: int, k: int) -> None:
    tile = np.random.default_rng(0).normal(size=(k, min(n, TILE)))
    root = np.asfortranarray(np.eye(k) + np.triu(np.full((k, k), 1e-3), 1))

    def work(_: int) -> None:
        dsyrk(1.0, tile.T, trans=1)
        dtrsm(1.0, root, tile.T, side=1)

    for _ in in_threads(work, range(max(1, n // TILE)), default_threads()):
        pass
