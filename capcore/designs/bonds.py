"""The bond table: the least loss of two-layer stacks, which no deeper stack with the same cut can go below.

A cut of a stack at a bond of rank r, above its first m inputs, leaves two layers: coefficients that form an n/m × m
matrix of rank at most r. So the stack loses at least T[m][r], the least loss of all such matrices, for each of its
bonds, and at least the largest of these. The sum of them is a good guess of what it does lose.

All this is for stacks of n inputs whose kernels multiply to n, each dilation the product of the kernels below it, with
no skip connections. It says nothing of stacks with overlap, or of other lengths.

T is computed by fits of two layers (:mod:`capcore.designs.alternating`), from the truncated singular value
decomposition of A* and from random starts. They are global where Σ is a Kronecker product across the cut and where r is
the full rank. Elsewhere least squares under a rank constraint can have several local optima, and T is then an estimate
from above of the bound. :mod:`capcore.designs.proven` gives one that does not depend on any fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from capcore.architectures import tensor_train
from capcore.architectures.hierarchical import Hierarchical
from capcore.designs.alternating import alternating_loss
from capcore.designs.proven import LONGEST, proven_losses
from capcore.large.fft import covariance_product
from capcore.processes import Process

MOST_CHANNELS = 8
EPS = float(np.finfo(float).eps)
STARTS = 2  # random ones, of each fit of two layers
SEED = 1
TIGHT = 1e-9  # of v*: stationary fits agree to here


@dataclass(frozen=True, eq=False)
class BondTable:
    """Fitted and proven bounds of the loss of stacks without overlap whose kernels multiply to n.

    Attributes
    ----------
    n_inputs : int
        n.
    variance : float
        v*, the least possible prediction variance.
    losses : dict
        m → (k,) losses of two layers cut above m inputs, with ranks 1 … k; 0 at the full rank, and beyond k.
    proven : dict
        m → (min(m, n/m),) proven lower bounds of them; empty beyond 1,024 inputs.
    n_fits : int
        Entries that took a fit, of several starts each.
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    n_inputs: int
    variance: float
    losses: Mapping[int, np.ndarray] = field(repr=False)
    proven: Mapping[int, np.ndarray] = field(repr=False)
    n_fits: int

    def at(self, size: int, rank: int) -> float:
        """T[m][r], and 0 for ranks that the table does not hold."""
        return float(self.losses[size][rank - 1]) if rank <= len(self.losses[size]) else 0.0

    def bound(self, arch: Hierarchical, proven: bool = False) -> float:
        """The largest entry over the bonds of a stack: its fitted bound, or its proven one."""
        table = self.proven if proven else self.losses
        ranks = bonds(arch.kernel_sizes, arch.channels)
        entries = [float(table[size][rank - 1]) for size, rank in ranks if rank <= len(table.get(size, ()))]
        return max(entries, default=0.0)


def bonds(kernel_sizes: Sequence[int], channels: Sequence[int]) -> list[tuple[int, int]]:
    """(inputs below, attainable rank) of every bond of a stack.

    >>> bonds([2, 4, 2], [3, 3])
    [(2, 2), (8, 2)]
    """
    sizes = np.cumprod(kernel_sizes)[:-1].tolist()
    ranks = tensor_train.attainable_ranks([1, *channels, 1], kernel_sizes)[1:-1]
    return list(zip(sizes, ranks, strict=True))


def divisors(n: int) -> list[int]:
    """Places of a cut: divisors of n but 1 and n.

    >>> divisors(12)
    [2, 3, 4, 6]
    """
    return [d for d in range(2, n // 2 + 1) if n % d == 0]


def bond_table(process: Process, n_inputs: int, proven: bool = True, starts: int = STARTS) -> BondTable:
    """The bond table of a process of one component: a fit for each place of a cut and each rank below the full one.

    Ranks beyond 8 are not fitted.

    Parameters
    ----------
    process : Process
    n_inputs : int
        n; cuts are at its divisors.
    proven : bool
        Compute the proven bounds as well, up to 1,024 inputs.
    starts : int
        Random starts of each fit, beside the singular value decomposition.

    Examples
    --------
    >>> from capcore.processes import PowerLaw
    >>> table = bond_table(PowerLaw(), 16)
    >>> table.n_fits, [len(row) for row in table.losses.values()]
    (5, [2, 4, 2])
    """
    target, variance = process.predictor(n_inputs)
    losses, certain, n_fits = {}, {}, 0
    product, rng = covariance_product(process, n_inputs), np.random.default_rng(SEED)
    covariance = process.covariance(n_inputs) if proven and n_inputs <= LONGEST else None
    for size in divisors(n_inputs):
        full = min(size, n_inputs // size)
        row = np.zeros(min(full, MOST_CHANNELS))
        for rank in range(1, len(row) + (full > MOST_CHANNELS)):
            previous = row[rank - 2] if rank > 1 else np.inf
            if previous == 0 or not target.any():
                break
            begins = [None, *rng.normal(size=(starts, size, rank))]
            loss = min(alternating_loss(product, target, size, rank, EPS * variance, begin) for begin in begins)
            loss = min(loss, previous)
            row[rank - 1] = loss if loss > EPS * variance else 0.0  # nothing that shows in v* + loss
            n_fits += 1
        losses[size] = row
        if covariance is not None:
            certain[size] = proven_losses(covariance, target, size)[1:]
    return BondTable(n_inputs, variance, losses, certain, n_fits)
