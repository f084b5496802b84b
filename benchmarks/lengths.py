"""Capacity of every input against the dense path, at the lengths where that runs: how either grows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, best_of
from capcore.allocation import allocate
from capcore.architectures import Hierarchical
from capcore.processes import PowerLaw
from capcore.scale.allocation import allocate_large

PROCESS = PowerLaw(0.5)


def rows(quick: bool = False) -> Iterator[Row]:
    """Four channels, kernel size 2, power law with exponent ½, up to 2,048 inputs; the suite scale has 4,096."""
    for n_layers in (6, 7) if quick else (8, 9, 10, 11):
        yield _against_dense(n_layers)


def _against_dense(n_layers: int) -> Row:
    arch = Hierarchical(channels=4, n_layers=n_layers)
    params = arch.best_start((1.0 + np.arange(arch.n_inputs)) ** -1.25, np.random.default_rng(0))
    seconds, ours = best_of(lambda: allocate_large(arch, params, PROCESS), 3)
    peer_seconds, theirs = best_of(lambda: allocate(arch, params, PROCESS).per_input, 2)
    error = float(np.abs(ours.per_input - theirs).max())
    return Row(
        f"capacity of every input, n = {arch.n_inputs:,}, κ = {ours.total}",
        "dense path: Σ listed and checked, SVD of ΣJ",
        seconds,
        peer_seconds,
        f"largest difference {error:.0e}",
        error < 1e-9,
    )
