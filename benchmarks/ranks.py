"""Exact ranks: elimination modulo a prime by blocks, against row by row, sympy with FLINT, and floating point."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, Skipped, best_of, peer
from capcore.architectures import Hierarchical
from capcore.architectures.finite_field import PRIME, rank_modulo_prime
from chapters.dilated_blocks.experiment import dilated_models
from chapters.layer_redundancy.redundancy import exact_jacobian

SCALE = 2.0**-60  # of the first layer: the model stays the same, and so does the exact rank


def rows(quick: bool = False) -> Iterator[Row | Skipped]:
    """Three blocks of dilations 1 … 128, four channels (766 × 720); sympy on blocks of 1 … 16; smaller when quick."""
    channels = 2 if quick else 4
    large = dilated_models(channels, 3 if quick else 8, 3)
    for order in ("tiled", "repeated"):
        yield _rank(exact_jacobian(large[order]), order)
    yield _against_sympy(dilated_models(channels, 3 if quick else 5, 3)["tiled"])
    yield _against_rounding(large["tiled"], 1.0)
    yield _against_rounding(large["tiled"], SCALE)


def _rank(jacobian: np.ndarray, order: str) -> Row:
    seconds, ours = best_of(lambda: rank_modulo_prime(jacobian), 3)
    peer_seconds, theirs = best_of(lambda: numpy_rank(jacobian))
    work = f"rank of a {_shape(jacobian)} Jacobian modulo a prime, {order} blocks"
    name = "NumPy elimination modulo the same prime, row operations vectorised"
    return Row(work, name, seconds, peer_seconds, f"rank {ours} against {theirs}", ours == theirs)


def _against_sympy(arch: Hierarchical) -> Row | Skipped:
    """A matrix of whole numbers (parameters ±1): the same numbers for sympy, for NumPy's rounding and for us.

    sympy is given its fastest way, a DomainMatrix over the same field, made beforehand; over the integers it takes ten
    times as long. With python-flint installed, its arithmetic is that of FLINT, one number at a time.
    """
    jacobian = np.rint(arch.jacobian(np.random.default_rng(0).choice([-1.0, 1.0], arch.n_params))).astype(np.int64)
    work = f"rank of a {_shape(jacobian)} matrix of whole numbers"
    sympy = peer("sympy")
    if sympy is None:
        return Skipped(work, "sympy")
    field = sympy.GF(PRIME, symmetric=False)
    entries = [[field(value) for value in row] for row in jacobian.tolist()]
    matrix = peer("sympy.polys.matrices").DomainMatrix(entries, jacobian.shape, field, fmt="sparse")
    numbers = peer("sympy.external.gmpy").GROUND_TYPES
    seconds, ours = best_of(lambda: rank_modulo_prime(jacobian), 5)
    peer_seconds, theirs = best_of(matrix.rank)
    rounded = int(np.linalg.matrix_rank(jacobian.astype(float)))
    name = f"sympy DomainMatrix over the same field, {numbers} numbers"
    agreement = f"rank {ours} against {theirs}; NumPy elimination {numpy_rank(jacobian)}, NumPy matrix_rank {rounded}"
    return Row(work, name, seconds, peer_seconds, agreement, ours == theirs == numpy_rank(jacobian))


def _against_rounding(arch: Hierarchical, scale: float) -> Row:
    """One model at the same parameters; the exact rank is that of its exact Jacobian there."""
    params = arch.init(np.random.default_rng(0))
    params[arch.layers["layer 1"]] *= scale
    exact, rounded = exact_jacobian(arch, params), arch.jacobian(params)
    seconds, ours = best_of(lambda: rank_modulo_prime(exact), 3)
    peer_seconds, theirs = best_of(lambda: np.linalg.matrix_rank(rounded), 3)
    generic = rank_modulo_prime(exact_jacobian(arch))
    name = "at random parameters" if scale == 1 else f"the same with layer 1 scaled by {scale:.0e}"
    work = f"rank of a {_shape(exact)} Jacobian, {name}"
    agreement = f"rank {ours} against {int(theirs)}; at almost all parameters {generic}"
    holds = ours == generic and (scale != 1 or ours == theirs)
    return Row(work, "NumPy matrix_rank (floating point, SVD)", seconds, peer_seconds, agreement, holds)


def _shape(matrix: np.ndarray) -> str:
    return f"{matrix.shape[0]} × {matrix.shape[1]}"


def numpy_rank(matrix: np.ndarray, prime: int = PRIME) -> int:
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
