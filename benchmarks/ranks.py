"""Exact ranks: elimination modulo a prime by python-flint against the same elimination written with NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, best_of
from capcore.finite_field import PRIME, rank_modulo_prime
from capcore.redundancy import exact_jacobian
from capcore.studies.dilated_blocks import dilated_models


def rows(quick: bool = False) -> Iterator[Row]:
    """Three blocks of dilations 1 … 128 with four channels (766 × 720), tiled and repeated; smaller when quick."""
    for order, arch in dilated_models(2 if quick else 4, 3 if quick else 8, 3).items():
        if order != "reversed":
            yield _rank(exact_jacobian(arch), order)


def _rank(jacobian: np.ndarray, order: str) -> Row:
    seconds, ours = best_of(lambda: rank_modulo_prime(jacobian), 3)
    peer_seconds, theirs = best_of(lambda: _numpy_rank(jacobian))
    return Row(
        f"rank of a {jacobian.shape[0]} × {jacobian.shape[1]} Jacobian modulo a prime, {order} blocks",
        "NumPy elimination modulo the same prime, row operations vectorised",
        seconds,
        peer_seconds,
        f"rank {ours} against {theirs}",
        ours == theirs,
    )


def _numpy_rank(matrix: np.ndarray, prime: int = PRIME) -> int:
    """Rank by Gaussian elimination; products of two residues below 2³¹ fit into 64 bits."""
    a = matrix % prime
    rank = 0
    for column in range(a.shape[1]):
        pivots = np.flatnonzero(a[rank:, column])
        if not pivots.size:
            continue
        pivot = rank + int(pivots[0])
        a[[rank, pivot]] = a[[pivot, rank]]
        a[rank, column:] = a[rank, column:] * pow(int(a[rank, column]), -1, prime) % prime
        below = rank + 1 + np.flatnonzero(a[rank + 1 :, column])
        a[below, column:] = (a[below, column:] - a[below, column, None] * a[rank, column:] % prime) % prime
        rank += 1
        if rank == a.shape[0]:
            break
    return rank
