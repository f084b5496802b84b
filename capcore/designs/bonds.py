"""The bond table: the least loss of two-layer stacks, which no deeper stack with the same cut can go below.

A cut of a stack at a bond of rank r, above its first m inputs, leaves two layers: coefficients that form an n/m × m
matrix of rank at most r. So the stack loses at least T[m][r], the least loss of all such matrices, for each of its
bonds, and at least the largest of these. The sum of them is a good guess of what it does lose.

All this is for stacks of n inputs whose kernels multiply to n, each dilation the product of the kernels below it, with
no skip connections. It says nothing of stacks with overlap, or of other lengths.

T is computed by fits of two layers (:mod:`capcore.designs.alternating`), from the truncated singular value
decomposition of A* and from random starts. They are global where Σ is a Kronecker product across the cut and where r is
the full rank. Elsewhere least squares under a rank constraint can have several local optima, and T is then an estimate
from above of the bound.

A proven lower bound needs no fit: it is low-rank approximation in a metric that lies below Σ. If Σ were a Kronecker
product Q ⊗ P, the least loss would be the sum of the squared singular values of Q^½ A* P^½ beyond the first r (Eckart &
Young 1936; Mirsky 1960). For any P, Q and the largest c with Σ ⪰ c Q ⊗ P, the loss is at least c times that sum,
whatever the architecture and the optimiser.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, eigvalsh, svdvals

from capcore.architectures import tensor_train
from capcore.architectures.hierarchical import Hierarchical
from capcore.designs.alternating import alternating_loss
from capcore.large.fft import covariance_product
from capcore.processes import Process
from capcore.processes.problem import Problem
from capcore.results.notebook import Record

MOST_CHANNELS = 8
LONGEST = 1024
"""Inputs up to which it is computed: it takes the least eigenvalue of an n × n matrix for each place of a cut."""
EPS = float(np.finfo(float).eps)
STARTS = 2  # random ones, of each fit of two layers
SEED = 1
TIGHT = 1e-9  # of v*: stationary fits agree to here


@dataclass(frozen=True, eq=False, repr=False)
class BondTable(Record):
    """Fitted and proven bounds of the loss of stacks without overlap whose kernels multiply to n.

    Attributes
    ----------
    n_inputs : int
        n.
    variance : float
        v*, the least possible prediction variance.
    losses : dict
        m → (min(m, n/m),) losses of two layers cut above m inputs, by rank; 0 at the full rank, and beyond rank 8.
    proven : dict
        m → (min(m, n/m),) proven lower bounds of them; empty beyond 1,024 inputs.
    n_fits : int
        Entries that took a fit, of several starts each.
    """

    n_inputs: int
    variance: float
    losses: Mapping[int, np.ndarray]
    proven: Mapping[int, np.ndarray]
    n_fits: int

    def bound(self, arch: Hierarchical, proven: bool = False) -> float:
        """The largest entry over the bonds of a stack: its fitted bound, or its proven one."""
        table = self.proven if proven else self.losses
        entries = [float(table[size][rank - 1]) for size, rank in bonds(arch.kernel_sizes, arch.channels)]
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


def bond_table(process: Process, n_inputs: int, problem: Problem | None = None) -> BondTable:
    """The bond table of a process of one component: a fit for each place of a cut and each rank below the full one.

    Ranks beyond 8 are not fitted, and the proven bounds are computed up to 1,024 inputs.

    Parameters
    ----------
    process : Process
    n_inputs : int
        n; cuts are at its divisors.
    problem : Problem, optional
        What is forecast, if it is not the next value.

    Examples
    --------
    >>> from capcore.processes import PowerLaw
    >>> table = bond_table(PowerLaw(), 16)
    >>> table.n_fits, [len(row) for row in table.losses.values()]
    (5, [2, 4, 2])
    """
    target, variance = (problem.target, problem.variance) if problem else process.predictor(n_inputs)
    losses, certain, n_fits = {}, {}, 0
    product, rng = covariance_product(process, n_inputs), np.random.default_rng(SEED)
    covariance = process.covariance(n_inputs) if n_inputs <= LONGEST else None
    for size in divisors(n_inputs):
        row = np.zeros(min(size, n_inputs // size))
        loss = np.inf if target.any() else 0.0
        for rank in range(1, min(len(row), MOST_CHANNELS + 1)):
            if loss <= EPS * variance:  # nothing that shows in v* + loss
                break
            begins = [None, *rng.normal(size=(STARTS, size, rank))]
            fits = [alternating_loss(product, target, size, rank, EPS * variance, begin) for begin in begins]
            loss = min(loss, *fits)
            row[rank - 1] = loss if loss > EPS * variance else 0.0
            n_fits += 1
        losses[size] = row
        if covariance is not None:
            bounds = proven_losses(covariance, target, size)[1:]
            certain[size] = np.where(bounds > EPS * variance, bounds, 0.0)
    return BondTable(n_inputs, variance, losses, certain, n_fits)


def proven_losses(covariance: np.ndarray, target: np.ndarray, size: int) -> np.ndarray:
    """(min(m, n/m) + 1,) lower bounds of the loss of coefficients with rank 0, 1, … at the cut of ``size`` = m inputs.

    P is the covariance of m neighbouring inputs, and Q that of blocks, averaged in the metric of P.

    Parameters
    ----------
    covariance : (n, n) array
        Σ, positive definite.
    target : (n,) array
        A*.
    size : int
        m, a divisor of n.

    Examples
    --------
    >>> q, p, a = np.diag([4.0, 1.0]), np.eye(2), np.array([[3.0, 0.0], [0.0, 1.0]])
    >>> proven_losses(np.kron(q, p), a.ravel(), 2).round(9).tolist()
    [37.0, 1.0, 0.0]
    """
    blocks, within = len(target) // size, covariance[:size, :size]
    solved = cho_solve(cho_factor(within), np.eye(size))
    across = np.einsum("jakb,ab->jk", covariance.reshape(blocks, size, blocks, size), solved) / size
    root_across, root_within = cholesky(across), cholesky(within)
    share = float(eigvalsh(covariance, np.kron(across, within), subset_by_index=(0, 0))[0])
    values = svdvals(root_across @ np.reshape(target, (blocks, size)) @ root_within.T)
    tails = np.append(np.cumsum(np.square(values)[::-1])[::-1], 0.0)
    return max(share, 0.0) * tails
