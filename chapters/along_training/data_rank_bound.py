"""A ceiling for the rank of the parameter Jacobian that knows the data: what every unit can still add on them.

:func:`~capcore.complexity.parameter_rank.rank_bound` counts parameters. On data fewer count: a pixel that is the
same in all images does what the bias does, a unit that is off on all of them does nothing, and a unit that is on for
all of them can be moved by the layer above. What is left is counted unit by unit, from the data and from where units
are on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.complexity.network import Network, as_network
from capcore.complexity.parameter_rank import rank_bound
from capcore.constraints import ConstraintSpace


@dataclass(frozen=True, eq=False)
class DataRankBound:
    """A ceiling for the rank of the parameter Jacobian on data, and what it is made of.

    Attributes
    ----------
    total : the rank is at most this.
    output : of it, from the weights and biases of the last layer.
    per_unit : for every hidden layer (m,) what the weights and the bias into each unit can add to that.
    free : the same without the outer limits, of parameters and of outputs on different examples.
    """

    total: int
    output: int
    per_unit: tuple[np.ndarray, ...]

    @property
    def free(self) -> int:
        """``output`` and ``per_unit`` together, at least ``total``."""
        return self.output + int(sum(units.sum() for units in self.per_unit))


def rank_bound_on_data(network: object, inputs: object) -> DataRankBound:
    """A ceiling for :func:`~capcore.complexity.parameter_rank.parameter_rank` of a network at inputs (n, d).

    With H_l (n, fan_in + 1) what layer l reads and a column of ones, s_j (n,) the slope of unit j, and rows only where
    the logits depend on the unit's output, it is

        rank H_L · n_outputs + Σ_j (rank [s_j∘H_l, H_{l+1}] − rank H_{l+1}),

    and never more than :func:`~capcore.complexity.parameter_rank.rank_bound`.

    Proof: let d_j (n, n_outputs) be the derivative of the logits by the output of unit j in layer l. The weights into j
    move the logits by v∘d_j with v in the span V of s_j∘H_l. The weights from j on are those of layer l + 1, whose
    columns hold v∘d_j for all v in the span W of H_{l+1}: give each unit k there the change v·w_jk. So beside the
    columns above, unit j adds at most dim(V + W) − dim W, where v∘d_j sees v at rows with d_j ≠ 0 and no others. The
    last layer has H_L ⊗ I. The first sum is over all its outputs, the second over units from the top down. In the
    highest hidden layer d_j is constant, the weights out of j, so that units of equal slopes on all examples count only
    as far as those weights are independent: the first of them in order.

    Ranks are by the package's tolerance (:func:`~capcore.constraints.rank_tolerance`), as is the rank itself.

    It knows, of a ReLU unit, that it is rescaled for nothing (its own output is in both spans), dead (s_j = 0), never
    off (then its bias, and what other such units read, are in both), or on for few examples. It is not always reached:
    it takes units of a layer as independent of one another.

    Parameters
    ----------
    network : as :func:`~capcore.complexity.network.as_network` takes it.

    >>> three = Network([np.ones((1, 3)), np.ones((3, 1))], [[0.0, 9.0, -9.0], [0.0]])  # at 0, never off, dead
    >>> found = rank_bound_on_data(three, [[-2.0], [-1.0], [1.0], [2.0], [3.0]])
    >>> found.output, found.per_unit[0].tolist(), found.total
    (3, [1, 0, 0], 4)
    """
    net = as_network(network)
    points = np.unique(net.check_inputs(inputs), axis=0)
    levels = net.pre_activations(points)[:-1]
    reads = [points, *(net.phi.value(z) for z in levels)]
    reads = [np.column_stack([h, np.ones(len(h))]) for h in reads]
    by_output = np.repeat(net.weights[-1].T[None], len(points), axis=0)  # (n, n_outputs, m)
    per_unit: list[np.ndarray] = []
    for layer in range(len(levels) - 1, -1, -1):
        slopes = net.phi.derivative(levels[layer])
        seen = np.any(by_output != 0, axis=1)
        per_unit.insert(0, np.zeros(slopes.shape[1], int))
        for j in range(slopes.shape[1]):
            per_unit[0][j] = _added(slopes[:, j], seen[:, j], reads[layer], reads[layer + 1])
        if layer == len(levels) - 1:
            per_unit[0] *= _first_of_their_kind(slopes, net.weights[-1])
        by_output = (by_output * slopes[:, None, :]) @ net.weights[layer].T
    output = net.widths[-1] * ConstraintSpace.from_columns(reads[-1]).dimension
    found = DataRankBound(0, output, tuple(per_unit))
    return DataRankBound(min(found.free, rank_bound(net, points)), output, tuple(per_unit))


def _added(slope: np.ndarray, seen: np.ndarray, below: np.ndarray, above: np.ndarray) -> int:
    """dim(V + W) − dim W for the spans V of slope∘below and W of above, at the rows that are seen."""
    if not np.any(slope[seen]):
        return 0
    known = ConstraintSpace.from_columns(above[seen])
    both = ConstraintSpace.from_columns(np.hstack([above[seen], slope[seen, None] * below[seen]]))
    return max(both.dimension - known.dimension, 0)


def _first_of_their_kind(slopes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(m,) whether the weights (m, n_outputs) out of a unit are independent of those of earlier units of its slopes."""
    kinds = np.unique(slopes, axis=1, return_inverse=True)[1].reshape(-1)
    counts = np.zeros(len(weights), bool)
    for j, kind in enumerate(kinds):
        alike = [*(i for i in range(j) if kinds[i] == kind and counts[i]), j]
        counts[j] = ConstraintSpace.from_columns(weights[alike].T).dimension == len(alike)
    return counts


def without_common_shift(network: object) -> Network:
    """The network with one output less: its logits but for what they have in common, in an orthonormal basis.

    A softmax does not see what is added to all logits of an example, nor does cross-entropy. The rank of this network's
    Jacobian is the part of the rank that they see.

    Raises ``ValueError`` for a network with one output.

    >>> pair = without_common_shift([([[1.0, 3.0]], [5.0, 5.0])])
    >>> bool(np.isclose(abs(pair([[1.0]])[0, 0]), 2 / 2**0.5))
    True
    """
    net = as_network(network)
    n = net.widths[-1]
    if n < 2:
        raise ValueError("network: found one output, expected at least two: one output is all common shift.")
    contrasts = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]
    weights, biases = (*net.weights[:-1], net.weights[-1] @ contrasts), (*net.biases[:-1], net.biases[-1] @ contrasts)
    return Network(weights, biases, net.activation, net.slope)
