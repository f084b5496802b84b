"""The basis of the tangent space: against a public tensor-train library where one has the step, and a listed Jacobian.

Of the public libraries that install with NumPy alone, teneva brings the cores of a tensor train into orthogonal form,
which is the first half of the work; none lists a basis of the tangent space.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.linalg import orth, svdvals

from benchmarks.measure import Row, Skipped, best_of, peer
from capcore.architectures import Hierarchical
from capcore.capacity.tangent_space import TangentSpace


def rows(quick: bool = False) -> Iterator[Row | Skipped]:
    """Random parameters, kernel size 2."""
    for channels in (4,) if quick else (4, 32):
        yield _frames(10 if quick else 20, channels)
    yield _against_jacobian(6 if quick else 11)


def _frames(n_layers: int, channels: int) -> Row | Skipped:
    """Orthonormal frames of all lower and all upper parts; ours finds their ranks and the complements as well."""
    arch = Hierarchical(channels, n_layers)
    kernels = arch.kernels(arch.init(np.random.default_rng(0)))
    work = f"orthonormal frames from below and above, {n_layers} layers, c = {channels}"
    teneva = peer("teneva")
    if teneva is None:
        return Skipped(work, "teneva")
    seconds, ours = best_of(lambda: TangentSpace.of_kernels(kernels), 5)
    last = n_layers - 1
    peer_seconds, (left, right) = best_of(
        lambda: (teneva.orthogonalize(kernels, last), teneva.orthogonalize(kernels, 0)), 5
    )
    above = [core.transpose(2, 1, 0) for core in ours.above[::-1]]
    gap = max(_distance(ours.below, left[:last]), _distance(above, [core.transpose(2, 1, 0) for core in right[:0:-1]]))
    name = "teneva.orthogonalize, once each way, frames alone"
    agreement = f"largest 1 − cosine of an angle between the frames {gap:.0e}; κ = {ours.dimension}"
    return Row(f"{work}, ranks and complements included", name, seconds, peer_seconds, agreement, gap < 1e-12)


def _distance(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> float:
    """Largest 1 − cosine of the angles between the spaces of two trains of orthonormal cores, over their lengths."""
    overlap, worst = np.ones((1, 1)), 0.0
    for a, b in zip(first, second, strict=True):
        overlap = np.einsum("pta,pq,qtb->ab", a, overlap, b, optimize=True)
        same = a.shape[2] == b.shape[2]
        worst = max(worst, 1 - float(svdvals(overlap)[-1]) if same else 1.0)
    return worst


def _against_jacobian(n_layers: int) -> Row:
    """All of T, listed, against an orthonormal basis of the listed Jacobian."""
    arch = Hierarchical(4, n_layers)
    params = arch.init(np.random.default_rng(0))
    seconds, ours = best_of(lambda: TangentSpace.of_kernels(arch.kernels(params)).basis(), 5)
    peer_seconds, theirs = best_of(lambda: orth(arch.jacobian(params)))
    gap = float(np.linalg.norm(theirs - ours @ (ours.T @ theirs), 2))
    work = f"basis of the tangent space, n = {arch.n_inputs:,}, κ = {ours.shape[1]}, c = 4"
    agreement = f"κ = {ours.shape[1]} against {theirs.shape[1]}, largest sine of an angle {gap:.0e}"
    holds = ours.shape == theirs.shape and gap < 1e-9
    return Row(work, "SciPy orth of the listed Jacobian", seconds, peer_seconds, agreement, holds)
