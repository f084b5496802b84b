"""The rank of a network's parameter Jacobian on data, and a ceiling that it can reach.

``rank_bound`` counts parameters. On data fewer count: a pixel
that is the same in all images does what the bias does, a unit that is off on all of them does nothing, and a unit that
is on for all of them can be moved by the layer above. The *plain* ceiling counts what is left, unit by unit. A pixel
that is dark in all images but one lets every unit of the first layer move that image by itself: sixteen units, but ten
logits. The *sharp* ceiling sets such examples aside, and counts them by their outputs.
"""

import numpy as np
from scipy.linalg import svd

from capcore.architectures.columns import equilibrate, rank_tolerance
from capcore.capacity.constraints import ConstraintSpace
from chapters.shared.complexity.network import Network
from chapters.shared.complexity.parameter_rank import rank_bound

ALONE = 1e-9
"""An example of a leverage within this of one has a direction of its own."""


def rank_ceilings(network: Network, inputs: np.ndarray) -> tuple[int, int]:
    """Two ceilings for the rank of a network's parameter Jacobian at inputs (n, d): the plain one and a sharper one.

    *Plain.* With H_l (n, fan_in + 1) what layer l reads and a column of ones, s_j (n,) the slope of unit j, and rows
    only where the logits depend on the unit's output, it is

        rank H_L · n_outputs + Σ_j (rank [s_j∘H_l, H_{l+1}] − rank H_{l+1}),

    and never more than :func:`~chapters.shared.complexity.parameter_rank.rank_bound`.

    Proof: let d_j (n, n_outputs) be the derivative of the logits by the output of unit j in layer l. The weights into j
    move the logits by v∘d_j with v in the span V of s_j∘H_l. The weights from j on are those of layer l + 1, whose
    columns hold v∘d_j for all v in the span W of H_{l+1}: give each unit k there the change v·w_jk. So beside the
    columns above, unit j adds at most dim(V + W) − dim W, where v∘d_j sees v at rows with d_j ≠ 0 and no others. The
    last layer has H_L ⊗ I. The first sum is over all its outputs, the second over units from the top down. In the
    highest hidden layer d_j is constant, the weights out of j, so that units of equal slopes on all examples count only
    as far as those weights are independent: the first of them in order.

    Ranks are by the package's tolerance (:func:`~capcore.architectures.columns.rank_tolerance`), as is the rank itself.

    It knows, of a ReLU unit, that it is rescaled for nothing (its own output is in both spans), dead (s_j = 0), never
    off (then its bias, and what other such units read, are in both), or on for few examples. It is not always reached:
    it takes units of a layer as independent of one another.

    *Sharp.* Proof: let S be any set of examples. The weights below the last layer move the logits of example i within
    the span of the weights out of the highest hidden units that are not flat there, of dimension a_i ≤ n_outputs. Give
    all of that for i in S, Σ a_i. Then those rows no longer count for what a unit adds, in the proof above: in the
    highest hidden layer the rows at which the unit is not flat, below it all. What is left is the count on the other
    rows.

    S are the examples that, left out, lower that count by more than a_i, looked for until there are none. The least of
    the ceilings met on the way is returned: each is valid.

    >>> three = Network([np.ones((1, 3)), np.ones((3, 1))], [[0.0, 9.0, -9.0], [0.0]])  # at 0, never off, dead
    >>> rank_ceilings(three, np.array([[-2.0], [-1.0], [1.0], [2.0], [3.0]]))[0]  # three of the output, one of a unit
    4
    >>> from chapters.shared.complexity import random_network
    >>> net = random_network([2, 5, 1], np.random.default_rng(0), 1.0, 0.5, "tanh")
    >>> x = np.column_stack([np.linspace(-2, 2, 99), np.zeros(99)])
    >>> x[0, 1] = 1.0  # an input that one example has alone: five weights, one output
    >>> rank_ceilings(net, x)
    (21, 17)
    """
    points = np.unique(inputs, axis=0)
    aside, most = np.zeros(len(points), bool), [np.full(m, len(points)) for m in network.widths[1:-1]]
    levels = network.pre_activations(points)[:-1]
    reads = [np.column_stack([h, np.ones(len(h))]) for h in (points, *(network.phi.value(z) for z in levels))]
    output = network.widths[-1] * ConstraintSpace.from_columns(reads[-1]).dimension
    if not levels:
        return (min(output, rank_bound(network, points)),) * 2
    slopes = [network.phi.derivative(z) for z in levels]
    most[-1] *= _first_of_their_kind(slopes[-1], network.weights[-1])
    per_unit, _ = _count(network, reads, slopes, aside, most)
    plain = best = min(output + _total(per_unit), rank_bound(network, points))
    rows = [network.weights[-1][~off] for off in slopes[-1] == 0]
    own = np.array([ConstraintSpace.from_columns(row.T).dimension if row.size else 0 for row in rows])
    while True:
        left, lost = _count(network, reads, slopes, aside, per_unit)
        best = min(best, output + int(own[aside].sum()) + _total(left))
        crowded = (lost > own) & ~aside
        if not crowded.any():
            return plain, best
        aside |= crowded


def _total(per_unit: list[np.ndarray]) -> int:
    return sum(int(units.sum()) for units in per_unit)


def _count(
    network: Network, reads: list[np.ndarray], slopes: list[np.ndarray], aside: np.ndarray, at_most: list[np.ndarray]
) -> tuple[list[np.ndarray], np.ndarray]:
    """What each unit adds without the rows set aside, and by how much the sum falls without each other row (n,).

    A rank falls by one without a row of leverage one, and otherwise stays.
    """
    by_output = np.repeat(network.weights[-1].T[None], len(aside), axis=0)  # (n, n_outputs, m)
    lost, per_unit = np.zeros(len(aside), int), [units.copy() for units in at_most]
    for layer in range(len(slopes) - 1, -1, -1):
        seen, highest = np.any(by_output != 0, axis=1), layer == len(slopes) - 1
        for j in np.flatnonzero(at_most[layer]):
            slope = slopes[layer][:, j]
            rows = np.flatnonzero(seen[:, j] & ~(aside & (slope != 0 if highest else True)))
            moved = slope[rows, None] * reads[layer][rows]
            if not np.any(moved):
                per_unit[layer][j] = 0
                continue
            above = ConstraintSpace.from_columns(reads[layer + 1][rows]).basis
            both = ConstraintSpace.from_columns(np.hstack([reads[layer + 1][rows], moved])).basis
            per_unit[layer][j] = np.clip(both.shape[1] - above.shape[1], 0, at_most[layer][j])
            before, after = np.square(above).sum(axis=1), np.square(both).sum(axis=1)
            gone = (after > 1 - ALONE).astype(int) - (before > 1 - ALONE)
            if highest:
                gone[slope[rows] == 0] = 0
            lost[rows] += gone
        by_output = (by_output * slopes[layer][:, None, :]) @ network.weights[layer].T
    return per_unit, lost


def _first_of_their_kind(slopes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(m,) whether the weights (m, n_outputs) out of a unit are independent of those of earlier units of its slopes."""
    kinds = np.unique(slopes, axis=1, return_inverse=True)[1].reshape(-1)
    counts = np.zeros(len(weights), bool)
    for j, kind in enumerate(kinds):
        alike = [*(i for i in range(j) if kinds[i] == kind and counts[i]), j]
        counts[j] = ConstraintSpace.from_columns(weights[alike].T).dimension == len(alike)
    return counts


def jacobian_rank(jacobian: np.ndarray) -> int:
    """The dimension of the column space of D (n · n_outputs, n_params), as ``tangent_space`` has it, without a basis.

    >>> from chapters.shared.complexity import parameter_jacobian, random_network
    >>> rng = np.random.default_rng(0)
    >>> network = random_network([2, 3, 1], rng, bias_scale=0.5)
    >>> jacobian_rank(parameter_jacobian(network, 2 * rng.normal(size=(400, 2))))
    10
    """
    values = svd(equilibrate(jacobian), compute_uv=False, check_finite=False)
    return int(np.count_nonzero(values > rank_tolerance(jacobian.shape, values[0])))


def participation_ratio(jacobian: np.ndarray) -> float:
    """(Σσ²)²/Σσ⁴ of the singular values σ of D: how many directions carry its motion, 1 to the rank.

    If the parameters move at random, alike in all directions, the logits move by σ along each singular vector. Unlike
    the rank it depends on the parametrisation: scaling a ReLU unit's weights in, and those out back, changes it.

    >>> participation_ratio(np.diag([2.0, 2.0, 0.0]))
    2.0
    """
    gram = jacobian.T @ jacobian
    return float(np.trace(gram) ** 2 / np.vdot(gram, gram))
