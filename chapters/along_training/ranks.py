"""The rank of a network's parameter Jacobian on data: the rank itself, quickly, and a ceiling that it can reach.

*The ceiling.* ``rank_bound`` counts parameters. On data fewer count: a pixel
that is the same in all images does what the bias does, a unit that is off on all of them does nothing, and a unit that
is on for all of them can be moved by the layer above. The *plain* ceiling counts what is left, unit by unit. A pixel
that is dark in all images but one lets every unit of the first layer move that image by itself: sixteen units, but ten
logits. The *sharp* ceiling sets such examples aside, and counts them by their outputs.

*The rank.* What ``tangent_space`` decomposes as a whole is split here. The last
layer spans Q ⊗ R^n_outputs exactly, with Q the span of what it reads; of the other layers only what is orthogonal to
that is left to decompose. The column space is the same one, and the tolerance is the package's, relative to all columns
at unit length before they were projected.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd

from capcore.architectures.columns import equilibrate, rank_tolerance
from capcore.capacity.constraints import ConstraintSpace
from chapters.shared.complexity.gradients import forward_pass, pulled_back
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
    own = np.array([_rank(network.weights[-1][~off]) for off in slopes[-1] == 0])
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


def _rank(matrix: np.ndarray) -> int:
    """Rank of rows of any scale (k, m)."""
    return ConstraintSpace.from_columns(matrix.T).dimension if matrix.size else 0


def without_common_shift(network: Network) -> Network:
    """The network with one output less: its logits but for what they have in common, in an orthonormal basis.

    A softmax does not see what is added to all logits of an example, nor does cross-entropy. The rank of this network's
    Jacobian is the part of the rank that they see.

    >>> pair = without_common_shift(Network([[[1.0, 3.0]]], [[5.0, 5.0]]))
    >>> bool(np.isclose(abs(pair([[1.0]])[0, 0]), 2 / 2**0.5))
    True
    """
    n = network.widths[-1]
    contrasts = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]
    weights, biases = (
        (*network.weights[:-1], network.weights[-1] @ contrasts),
        (*network.biases[:-1], network.biases[-1] @ contrasts),
    )
    return Network(weights, biases, network.activation)


def quick_rank(network: Network, inputs: np.ndarray) -> tuple[int, float]:
    """The rank of D (n · n_outputs, n_params) at inputs (n, d), and how clear it is: its gap.

    The gap is the smallest singular value that was counted over the largest that was not, or over the tolerance if
    that is larger, in the part that is left to decompose. Directions that are as small as the rounding of the
    projection are not counted. Networks of few smooth units can have such;
    :func:`~chapters.shared.complexity.parameter_rank.tangent_space` counts them.

    >>> from chapters.shared.complexity import random_network
    >>> rng = np.random.default_rng(0)
    >>> quick_rank(random_network([2, 3, 1], rng, bias_scale=0.5), 2 * rng.normal(size=(400, 2)))[0]
    10
    """
    top, rest, threshold = _parts(network, inputs)
    n_top = network.widths[-1] * top.shape[1]
    if not rest.size:
        return n_top, np.inf
    values = svd(rest, compute_uv=False, check_finite=False)
    counted = int(np.count_nonzero(values > threshold))
    left = max(float(values[counted]) if counted < len(values) else 0.0, threshold)
    return n_top + counted, float(values[counted - 1]) / left if counted and left > 0 else np.inf


def example_leverage(network: Network, inputs: np.ndarray) -> np.ndarray:
    """(n,) how freely the logits of each example move, 0 to n_outputs: they sum to the rank.

    What ``tangent_space(…).per_input(n_outputs)`` says, from the same pieces.
    """
    top, rest, threshold = _parts(network, inputs)
    n_outputs = network.widths[-1]
    leverage = n_outputs * np.square(top).sum(axis=1)
    if not rest.size:
        return leverage
    u, values, _ = svd(rest, full_matrices=False, check_finite=False)
    counted = int(np.count_nonzero(values > threshold))
    u = u[:, :counted].reshape(len(u) // n_outputs, n_outputs * counted)
    return leverage + np.square(_complement(top) @ u).sum(axis=1)


def participation_ratio(network: Network, inputs: np.ndarray) -> float:
    """(Σσ²)²/Σσ⁴ of the singular values σ of D at inputs (n, d): how many directions carry its motion, 1 to the rank.

    If the parameters move at random, alike in all directions, the logits move by σ along each singular vector. Unlike
    the rank it depends on the parametrisation: scaling a ReLU unit's weights in, and those out back, changes it.

    >>> participation_ratio(Network([np.eye(2)], [[0.0, 0.0]]), np.array([[1.0, 0.0]]))  # two outputs, alike
    2.0
    """
    layer_inputs, deltas = _backward(network, inputs)
    n, n_outputs = deltas[-1].shape[:2]
    kernel = np.zeros((n, n_outputs, n, n_outputs))
    for h, delta in zip(layer_inputs, deltas, strict=True):
        rows = delta.reshape(n * n_outputs, -1)
        kernel += (rows @ rows.T).reshape(kernel.shape) * (h @ h.T)[:, None, :, None]
    trace = float(np.einsum("ikik->", kernel))
    return trace**2 / float(np.vdot(kernel, kernel))


def _backward(network: Network, inputs: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What every layer reads with a column of ones, (n, fan_in + 1), and derivatives (n, n_outputs, fan_out)."""
    passed = forward_pass(network.weights, network.biases, network.phi, np.asarray(inputs, float))
    n, n_outputs = passed.logits.shape
    by_output = []
    for k in range(n_outputs):
        errors = np.zeros((n, n_outputs))
        errors[:, k] = 1.0
        by_output.append(pulled_back(network.weights, passed, errors))
    deltas = [np.stack(layer, axis=1) for layer in zip(*by_output, strict=True)]
    return [np.column_stack([h, np.ones(n)]) for h in passed.layer_inputs], deltas


def _parts(network: Network, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """A basis (n, r) of what the last layer reads; the other layers' columns, orthogonal to it, (·, p); a tolerance.

    The tolerance for singular values of these columns is relative to the length of all columns before they were
    projected, over the conditioning of what the last layer reads: where nothing is left of them but the rounding of
    the projection, it is not counted.
    """
    layer_inputs, deltas = _backward(network, inputs)
    read = ConstraintSpace.from_columns(layer_inputs[-1])
    top, across = read.basis, _complement(read.basis)
    parts = [
        np.einsum("ia,ikj->ikaj", h, delta).reshape(len(h), -1)
        for h, delta in zip(layer_inputs[:-1], deltas[:-1], strict=True)
    ]
    n_outputs = network.widths[-1]
    # Unit columns first: after the projection what is left of one may be rounding alone.
    parts = [equilibrate(part.reshape(-1, part.shape[1] // n_outputs)).reshape(part.shape) for part in parts]
    if not parts or not across.size:
        return top, np.empty((0, 0)), 0.0
    left = np.hstack([(across.T @ part).reshape(across.shape[1] * n_outputs, -1) for part in parts])
    length = float(np.sqrt(sum(np.vdot(part, part) for part in parts)))
    conditioning = float(read.singular_values[read.dimension - 1] / read.singular_values[0])
    return top, left, rank_tolerance((len(across) * n_outputs, left.shape[1]), length / conditioning)


def _complement(basis: np.ndarray) -> np.ndarray:
    """(n, n − r) orthonormal, orthogonal to the basis (n, r)."""
    return np.linalg.qr(basis, mode="complete")[0][:, basis.shape[1] :]
