"""The ceiling of the rank on data, with what single examples can hold: no example has more directions than outputs.

:func:`~capcore.complexity.data_rank_bound.rank_bound_on_data` counts what every unit can add. A pixel that is dark in
all images but one lets every unit of the first layer move that image by itself: sixteen units, but ten logits. Such
examples are set aside here, and counted by their outputs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.complexity.data_rank_bound import DataRankBound, rank_bound_on_data
from capcore.complexity.network import Network, as_network
from capcore.constraints import ConstraintSpace

ALONE = 1e-9
"""An example of a leverage within this of one has a direction of its own."""


@dataclass(frozen=True, eq=False)
class RankCeiling:
    """A ceiling for the rank of the parameter Jacobian on data.

    Attributes
    ----------
    total : the rank is at most this.
    aside : (k, d) the examples that were set aside, different ones.
    per_unit : for every hidden layer (m,) what the weights and the bias into each unit can add on the others.
    plain : the ceiling without setting any aside, :func:`~capcore.complexity.data_rank_bound.rank_bound_on_data`.
    """

    total: int
    aside: np.ndarray
    per_unit: tuple[np.ndarray, ...]
    plain: DataRankBound


def rank_ceiling(network: object, inputs: object) -> RankCeiling:
    """A ceiling for :func:`~capcore.complexity.parameter_rank.parameter_rank` at inputs (n, d), the sharpest here.

    Proof: let S be any set of examples. The weights below the last layer move the logits of example i within the span
    of the weights out of the highest hidden units that are not flat there, of dimension a_i ≤ n_outputs. Give all of
    that for i in S, Σ a_i. Then those rows no longer count for what a unit adds, in the proof of
    :func:`~capcore.complexity.data_rank_bound.rank_bound_on_data`: in the highest hidden layer the rows at which the
    unit is not flat, below it all. What is left is the count on the other rows.

    S are the examples that, left out, lower that count by more than a_i, looked for until there are none. The least of
    the ceilings met on the way is returned: each is valid.

    Parameters
    ----------
    network : as :func:`~capcore.complexity.network.as_network` takes it.

    >>> from capcore.complexity import random_network
    >>> net = random_network([2, 5, 1], np.random.default_rng(0), 1.0, 0.5, "tanh")
    >>> x = np.column_stack([np.linspace(-2, 2, 99), np.zeros(99)])
    >>> x[0, 1] = 1.0  # an input that one example has alone: five weights, one output
    >>> rank_bound_on_data(net, x).total, rank_ceiling(net, x).total
    (21, 17)
    """
    net = as_network(network)
    points = np.unique(net.check_inputs(inputs), axis=0)
    plain = rank_bound_on_data(net, points)
    best = RankCeiling(plain.total, points[:0], plain.per_unit, plain)
    if not plain.per_unit:
        return best
    flat = net.phi.derivative(net.pre_activations(points)[-2]) == 0
    own = np.array([_rank(net.weights[-1][~off]) for off in flat])
    aside = np.zeros(len(points), bool)
    while True:
        per_unit, lost = _count(net, points, aside, plain.per_unit)
        total = plain.output + int(own[aside].sum()) + sum(int(units.sum()) for units in per_unit)
        if total < best.total:
            best = RankCeiling(total, points[aside], per_unit, plain)
        crowded = (lost > own) & ~aside
        if not crowded.any():
            return best
        aside |= crowded


def _count(
    net: Network, points: np.ndarray, aside: np.ndarray, at_most: tuple[np.ndarray, ...]
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """What each unit adds without the rows set aside, and by how much the sum falls without each other row (n,).

    A rank falls by one without a row of leverage one, and otherwise stays.
    """
    levels = net.pre_activations(points)[:-1]
    reads = [np.column_stack([h, np.ones(len(h))]) for h in (points, *(net.phi.value(z) for z in levels))]
    by_output = np.repeat(net.weights[-1].T[None], len(points), axis=0)
    lost, per_unit = np.zeros(len(points), int), [units.copy() for units in at_most]
    for layer in range(len(levels) - 1, -1, -1):
        slopes = net.phi.derivative(levels[layer])
        seen = np.any(by_output != 0, axis=1)
        highest = layer == len(levels) - 1
        for j in np.flatnonzero(at_most[layer]):
            rows = np.flatnonzero(seen[:, j] & ~(aside & (slopes[:, j] != 0 if highest else True)))
            moved = slopes[rows, j, None] * reads[layer][rows]
            if not np.any(moved):
                per_unit[layer][j] = 0
                continue
            above = ConstraintSpace.from_columns(reads[layer + 1][rows]).basis
            both = ConstraintSpace.from_columns(np.hstack([reads[layer + 1][rows], moved])).basis
            per_unit[layer][j] = np.clip(both.shape[1] - above.shape[1], 0, at_most[layer][j])
            before, after = np.square(above).sum(axis=1), np.square(both).sum(axis=1)
            gone = (after > 1 - ALONE).astype(int) - (before > 1 - ALONE)
            if highest:
                gone[slopes[rows, j] == 0] = 0
            lost[rows] += gone
        by_output = (by_output * slopes[:, None, :]) @ net.weights[layer].T
    return tuple(per_unit), lost


def _rank(matrix: np.ndarray) -> int:
    """Rank of rows of any scale (k, m)."""
    return ConstraintSpace.from_columns(matrix.T).dimension if matrix.size else 0
