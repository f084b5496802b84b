"""Capacity by octaves without a list of inputs: against the routes that list them, then where no other route runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, best_of
from capcore.architectures import Hierarchical
from capcore.large.allocation import allocate_large
from capcore.large.exponentials import exponential_sequence
from capcore.large.fit import fit_large
from capcore.large.octaves.capacity import octave_capacities
from capcore.large.octaves.fit import fit_octaves
from capcore.processes import PowerLaw

PROCESS = PowerLaw(0.5)
CHANNELS = 4


def rows(quick: bool = False) -> Iterator[Row]:
    """Optima of four channels, kernel size 2, power law with exponent ½."""
    yield _fit_against_listed(8 if quick else 16)
    for n_layers in [8] if quick else [12, 16, 20]:
        yield _against_listed(n_layers)
    for n_layers in [24] if quick else [25, 30, 35, 40]:
        yield _alone(n_layers)


def _optimum(n_layers: int) -> list[np.ndarray]:
    sequence = exponential_sequence(PROCESS, 2**n_layers)
    return fit_octaves([CHANNELS] * (n_layers - 1), [2] * n_layers, sequence).kernels


def _fit_against_listed(n_layers: int) -> Row:
    """The optimum at which the two allocations are compared, found either way."""
    arch = Hierarchical(CHANNELS, n_layers)

    def by_digits() -> float:
        sequence = exponential_sequence(PROCESS, arch.n_inputs)
        return fit_octaves(arch.channels, arch.kernel_sizes, sequence).loss

    seconds, ours = best_of(by_digits)
    peer_seconds, theirs = best_of(lambda: fit_large(arch, PROCESS).loss)
    gap = abs(ours / theirs - 1)
    work = f"fit by digits of the lag, n = {arch.n_inputs:,}, c = {CHANNELS}"
    name = "fit_large, Newton's method with the inputs listed"
    return Row(work, name, seconds, peer_seconds, f"relative difference of the losses {gap:.0e}", gap < 1e-7)


def _against_listed(n_layers: int) -> Row:
    kernels = _optimum(n_layers)
    arch = Hierarchical([kernel.shape[2] for kernel in kernels[:-1]], kernel_size=[2] * n_layers)
    params = np.concatenate([kernel.ravel() for kernel in kernels])
    sequence = exponential_sequence(PROCESS, arch.n_inputs)
    seconds, ours = best_of(lambda: octave_capacities(kernels, sequence), 3)
    peer_seconds, theirs = best_of(lambda: allocate_large(arch, params, PROCESS))
    error = float(np.abs(ours.per_octave - theirs.per_octave).max())
    work = f"capacity of every octave, n = {arch.n_inputs:,}, κ = {ours.total}"
    name = "allocate_large, every input, streamed"
    return Row(work, name, seconds, peer_seconds, f"largest difference of an octave {error:.0e}", error < 1e-9)


def _alone(n_layers: int) -> Row:
    kernels = _optimum(n_layers)
    sequence = exponential_sequence(PROCESS, 2**n_layers)
    seconds, found = best_of(lambda: octave_capacities(kernels, sequence), 3)
    departure = abs(float(found.per_octave.sum()) - found.total)
    work = f"capacity of every octave, n = {2**n_layers:,}, κ = {found.total}"
    agreement = f"sum − κ = {departure:.0e}, condition {found.condition:.0e}"
    return Row(work, "none: no other route runs at this length", seconds, None, agreement, departure < 1e-9)
