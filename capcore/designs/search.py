"""The best stacks of every size, as the bond table foretells them: an exact dynamic programme over bond and rank.

Walls, what stacks of every size lose at least, are for stacks of n inputs whose kernels multiply to n, each dilation
the product of the kernels below it, with no skip connections. Stacks of other lengths, such as kernels 3 · 3 beside 16
inputs, are not covered.
"""

import operator
from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from capcore.architectures.hierarchical import Hierarchical
from capcore.designs.bonds import EPS, MOST_CHANNELS, TIGHT, BondTable, bonds


class Skeleton(NamedTuple):
    """A stack without weights, and its score: a sum, or the largest, of the entries of its bonds."""

    score: float
    n_params: int
    kernel_sizes: tuple[int, ...]
    channels: tuple[int, ...]


def best_stacks(
    table: BondTable, max_params: int, keep: int = 4, join: Callable[..., float] = operator.add
) -> list[Skeleton]:
    """Stacks of at most ``max_params`` parameters that at most ``keep`` − 1 others beat in both size and score.

    By number of parameters, then by score. A k-best dynamic programme: every stack whose channels are attainable ranks,
    for sums up to 8, is considered, and none that belongs here is left out.

    Parameters
    ----------
    table : BondTable
    max_params : int
    keep : int
        1 gives the front of size against score.
    join : callable
        Of two scores: their sum, a good guess of the loss, or ``max``, its lower bound.

    Examples
    --------
    >>> import numpy as np
    >>> table = BondTable(8, 1.0, {2: np.array([0.3, 0.0]), 4: np.array([0.2, 0.0])}, {}, 0)
    >>> [one.n_params for one in best_stacks(table, 99, keep=1)], best_stacks(table, 99, keep=1)[-1].kernel_sizes
    ([6, 8], (8,))
    """
    n = table.n_inputs
    most = n if join is max else MOST_CHANNELS
    sizes = [1, *table.losses, n]
    states = {(1, 1): [Skeleton(0.0, 0, (), ())]}
    for size in sizes[1:]:
        row = table.losses[size][:most] if size < n else [0.0]
        below = [(key, partial) for key, partial in states.items() if size % key[0] == 0 and key[0] < size]
        for rank, entry in enumerate(row, 1):
            stacks = []
            for (before, width), partial in below:
                taps = size // before
                if not rank / taps <= width <= rank * taps:
                    continue
                cost = width * taps * rank
                for score, params, kernels, channels in partial:
                    if params + cost <= max_params:
                        wider = channels if size == n else (*channels, rank)
                        stacks.append(Skeleton(join(score, entry), params + cost, (*kernels, taps), wider))
            states[size, rank] = undominated(stacks, keep)
    return states.get((n, 1), [])


def undominated(stacks: list[Skeleton], keep: int) -> list[Skeleton]:
    """Those that fewer than ``keep`` others are no larger than and no worse, by size.

    >>> [one.n_params for one in undominated([Skeleton(s, p, (), ()) for s, p in ((3, 1), (4, 2), (2, 3))], 1)]
    [1, 3]
    """
    lowest = [np.inf] * keep  # scores so far
    front = []
    for stack in sorted(stacks, key=lambda one: (one.n_params, one.score)):
        if stack.score < lowest[-1]:
            insort(lowest, stack.score)
            del lowest[-1]
            front.append(stack)
    return front


def wall(table: BondTable, max_params: int, proven: bool = False) -> list[tuple[int, float]]:
    """(parameters, bound): no stack that is smaller than the next pair's loses less than the fitted or proven bound.

    Empty where there are no bounds.

    >>> import numpy as np
    >>> wall(BondTable(4, 1.0, {2: np.array([0.3, 0.0])}, {}, 0), 99)
    [(4, 0.0)]
    """
    losses = table.proven if proven else table.losses
    if not losses:
        return []
    front = best_stacks(replace(table, losses=losses), min(max_params, table.n_inputs), keep=1, join=max)
    return [(one.n_params, float(one.score)) for one in front]


def mended(table: BondTable, stacks: Sequence[tuple[Hierarchical, float]]) -> int:
    """Lower entries to the losses of stacks that were fitted below them; returns how many were clearly too high.

    A stack is a matrix of the entry's rank, so that its loss is a better estimate of the least one.

    Parameters
    ----------
    table : BondTable
    stacks : list of (Hierarchical, float)
        Stacks and their losses.
    """
    before = {size: row.copy() for size, row in table.losses.items()}
    for arch, loss in stacks:
        reached = loss if loss > EPS * table.variance else 0.0
        for size, rank in bonds(arch.kernel_sizes, arch.channels):
            row = table.losses[size][rank - 1 :]
            np.minimum(row, reached, out=row)
    room = TIGHT * table.variance
    return sum(int(np.sum(before[size] > row + room)) for size, row in table.losses.items())
