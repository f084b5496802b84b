"""What stacks of every size lose at least, also where the bond table holds too few ranks, and entries that are mended.

The walls cover stacks of n inputs whose kernels multiply to n, each dilation the product of the kernels below it, with
no skip connections. Stacks of other lengths, such as kernels 3 · 3 beside 16 inputs, are not covered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from capcore.architectures.hierarchical import Hierarchical
from capcore.designs.bonds import EPS, TIGHT, BondTable, bonds
from capcore.designs.search import wall

Wall = list[tuple[int, float]]
"""Parameters, and the bound from there to the next entry."""


def fitted_wall(table: BondTable, max_params: int) -> Wall:
    """The wall of all stacks that are covered; ranks that the table does not hold count as no loss.

    Parameters
    ----------
    table : BondTable
    max_params : int

    Examples
    --------
    >>> table = BondTable(64, 1.0, {8: np.array([0.3, 0.2])}, {}, 0)
    >>> fitted_wall(table, 64), wall(table, 64)
    ([(16, 0.3), (32, 0.2), (48, 0.0)], [(16, 0.3), (32, 0.2), (64, 0.0)])
    """
    full = {size: np.zeros(min(size, table.n_inputs // size)) for size in table.losses}
    for size, row in table.losses.items():
        full[size][: len(row)] = row
    return wall(replace(table, losses=full), min(max_params, table.n_inputs))


def proven_wall(table: BondTable, max_params: int) -> Wall:
    """The same from the proven bounds, which hold every rank; empty where they were not computed."""
    return wall(replace(table, losses=table.proven), min(max_params, table.n_inputs)) if table.proven else []


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
