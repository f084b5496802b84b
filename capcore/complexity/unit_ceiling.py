"""A ceiling for the rank of the parameter Jacobian that sets aside what single units of the upper layers can do.

:func:`~capcore.complexity.rank_ceiling.rank_ceiling` sets aside examples that are crowded: more units below can move
one than it has outputs. A crowd can be smaller than an example, and larger. A ReLU unit that is on for five examples,
with six or more weights in, moves the logits of each of the five along its own weights out: the units below add nothing
there. And what two examples alone have is one direction, not two. Both are *functions on the examples, times a unit of
an upper layer*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, svd

from capcore.complexity.network import Network, as_network
from capcore.constraints import ConstraintSpace, equilibrate
from capcore.validation import finite_array

CLEAR = 1e-8
"""What is left of a direction of unit length counts if it is longer than this."""


@dataclass(frozen=True, eq=False)
class UnitCeiling:
    """A ceiling for the rank of the parameter Jacobian on data.

    Attributes
    ----------
    total : the rank is at most this.
    base : of it, from the last layer and from what was set aside.
    per_unit : for every hidden layer (m,) what the weights and the bias into each unit can add to that.
    """

    total: int
    base: int
    per_unit: tuple[np.ndarray, ...]


def unit_ceiling(
    network: object, inputs: object, aside: Mapping[tuple[int, int], np.ndarray] | None = None
) -> UnitCeiling:
    """A ceiling for :func:`~capcore.complexity.parameter_rank.parameter_rank` at inputs (n, d), with changes set aside.

    Proof: let T be the space of the last layer's parameters and of any other changes of the logits. The rank is at
    most dim T and, for every hidden unit, what its weights and bias add to T and to all layers above it: the dimension
    of a sum of spaces is at most that of one of them with those of the others modulo it. That holds for every choice
    of what is set aside, also for one that was found by looking at the Jacobian.

    Parameters
    ----------
    network : as :func:`~capcore.complexity.network.as_network` takes it.
    aside : (l, k) → (n, m) functions on the examples, of unit k of hidden layer l (the lowest is 0): changes of what
        that unit takes in, set aside in the logits as its slope and all above pass them on. By default none.

    Raises ``ValueError`` for functions of a unit that is not there, or on another number of examples.

    >>> from capcore.complexity import parameter_rank, random_network
    >>> net = random_network([2, 9, 1, 1], np.random.default_rng(0), 1.5, 0.5)
    >>> x = np.random.default_rng(1).normal(size=(60, 2))
    >>> parameter_rank(net, x).rank <= unit_ceiling(net, x).total
    True
    """
    net = as_network(network)
    points = net.check_inputs(inputs)
    levels = net.pre_activations(points)[:-1]
    reads = [np.column_stack([h, np.ones(len(points))]) for h in (points, *(net.phi.value(z) for z in levels))]
    routes = passed_on(net, points)
    known = np.kron(ConstraintSpace.from_columns(reads[-1]).basis, np.eye(net.widths[-1]))
    for (layer, unit), functions in (aside or {}).items():
        if not (0 <= layer < len(levels) and 0 <= unit < levels[layer].shape[1]):
            raise ValueError(f"aside: found unit {unit} of hidden layer {layer}, expected one of {net.widths[1:-1]}.")
        values = finite_array(functions, "aside", 2)
        if len(values) != len(points):
            raise ValueError(f"aside: found {len(values)} rows, expected {len(points)}, one per example.")
        known = np.hstack([known, beyond(known, moved(values, routes[layer][:, :, unit]))])
    base = known.shape[1]
    per_unit: list[np.ndarray] = []
    for layer in range(len(levels) - 1, -1, -1):
        units = range(levels[layer].shape[1])
        added = [beyond(known, moved(reads[layer], routes[layer][:, :, j])) for j in units]
        per_unit.insert(0, np.array([each.shape[1] for each in added]))
        if layer:
            known = np.hstack([known, beyond(known, np.hstack(added))])
    return UnitCeiling(base + int(sum(units.sum() for units in per_unit)), base, tuple(per_unit))


def passed_on(network: Network, points: np.ndarray, between: list[np.ndarray] | None = None) -> list[np.ndarray]:
    """For every hidden layer (n, n_outputs, m) derivatives of the logits by what its units take in.

    Parameters
    ----------
    between : weights in place of those between the hidden layers, lowest first; slopes stay as they are.
    """
    weights = network.weights[1:] if between is None else (*between, network.weights[-1])
    found: list[np.ndarray] = []
    above = np.broadcast_to(np.eye(network.widths[-1]), (len(points), network.widths[-1], network.widths[-1]))
    for w, z in zip(weights[::-1], network.pre_activations(points)[-2::-1], strict=True):
        above = (above @ w.T) * network.phi.derivative(z)[:, None, :]
        found.insert(0, above)
    return found


def moved(functions: np.ndarray, route: np.ndarray) -> np.ndarray:
    """(n · n_outputs, m) changes of the logits by functions (n, m), passed on by the derivatives (n, n_outputs)."""
    return (functions[:, None, :] * route[:, :, None]).reshape(-1, functions.shape[1])


def beyond(known: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what columns (N, m) add to the span of the orthonormal ``known`` (N, r)."""
    if not np.any(columns):
        return columns[:, :0]
    rest = ConstraintSpace.from_columns(equilibrate(columns)).basis
    for _ in range(2):
        rest = rest - known @ (known.T @ rest)
    rest[np.abs(rest) < np.finfo(float).eps] = 0.0
    u, values, _ = decomposed(rest)
    return u[:, values > CLEAR]


def decomposed(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The thin singular value decomposition; by the slower way where the quick one does not converge."""
    try:
        u, values, rows = svd(matrix, full_matrices=False, check_finite=False)
    except LinAlgError:
        u, values, rows = svd(matrix, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return u, values, rows
