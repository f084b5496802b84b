"""A ceiling for the rank of the parameter Jacobian that sets aside what single units of the upper layers can do.

``rank_ceiling`` sets aside examples that are crowded: more units below can move
one than it has outputs. A crowd can be smaller than an example, and larger. A ReLU unit that is on for five examples
and whose inputs for these are independent moves the logits of each of the five along its own weights out: what the
units below do through it adds nothing there. And an input that is zero for all but two examples lets them be moved in
one direction per upper unit, however many units below read it. Both are *functions on the examples, times a unit of an
upper layer*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index

import numpy as np
from scipy.linalg import LinAlgError, svd

from capcore.complexity.network import Network, as_network
from capcore.constraints import ConstraintSpace, equilibrate
from capcore.validation import finite_array

CLEAR = 1e-8
"""What is left of a direction of unit length counts if it is longer than this.

On the book's networks nothing lies between 5e-9 and 1e-3. Examples that differ by less than a millionth, or weights of
very unequal size, can leave less: then the ceiling may fall below the rank.
"""


@dataclass(frozen=True, eq=False)
class UnitCeiling:
    """A ceiling for the rank of the parameter Jacobian on data.

    Attributes
    ----------
    total : the rank is at most this, up to :data:`CLEAR`.
    base : of it, from the last layer and from what was set aside.
    per_unit : for every hidden layer (m,) what the weights and the bias into each unit can add to the base and to all
        layers above.
    counted : of what was left of directions of unit length, the shortest that counts; infinite if none does.
    dropped : the longest that does not, above 0 by rounding. Far apart, they say that the count is not a matter of
        :data:`CLEAR`.
    """

    total: int
    base: int
    per_unit: tuple[np.ndarray, ...]
    counted: float
    dropped: float


def unit_ceiling(
    network: object, inputs: object, aside: Mapping[tuple[int, int], np.ndarray] | None = None
) -> UnitCeiling:
    """A ceiling for :func:`~capcore.complexity.parameter_rank.parameter_rank` at inputs (n, d), with changes set aside.

    Proof: let T be the span of the last layer's columns and of what is set aside. For any spaces V_j, dim(T + V₁ + … +
    V_k) ≤ dim T + Σ dim((T + V_j)/T). Apply it to the V_j of the highest hidden layer's units, V_j the span of the
    columns of the weights and the bias into unit j; then with T + ΣV_j in place of T one layer below, and so on. The
    Jacobian's columns lie in the last sum. That holds for every choice of what is set aside, also for one that was
    found by looking at the Jacobian.

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
    lengths: list[np.ndarray] = []
    for (layer, unit), functions in _checked(aside, net.widths[1:-1], len(points)):
        known = np.hstack([known, beyond(known, moved(functions, routes[layer][:, :, unit]), lengths)])
    base = known.shape[1]
    per_unit: list[np.ndarray] = []
    for layer in range(len(levels) - 1, -1, -1):
        units = range(levels[layer].shape[1])
        added = [beyond(known, moved(reads[layer], routes[layer][:, :, j]), lengths) for j in units]
        per_unit.insert(0, np.array([each.shape[1] for each in added]))
        if layer:
            known = np.hstack([known, beyond(known, np.hstack(added), lengths)])
    left = np.concatenate([np.zeros(0), *lengths])
    counted, dropped = left[left > CLEAR].min(initial=np.inf), left[left <= CLEAR].max(initial=0.0)
    total = base + int(sum(units.sum() for units in per_unit))
    return UnitCeiling(total, base, tuple(per_unit), float(counted), float(dropped))


def _checked(aside: object, widths: Sequence[int], n: int) -> list[tuple[tuple[int, int], np.ndarray]]:
    """What is set aside, as arrays (n, m), of units that are there."""
    if aside is None:
        return []
    if not isinstance(aside, Mapping):
        kind = type(aside).__name__
        raise ValueError(f"aside: found a {kind}, expected a mapping from (layer, unit) to an array (n, m) each.")
    found = []
    for key, functions in aside.items():
        place = _place(key, widths)
        name = f"aside[{place[0]}, {place[1]}]"
        none = isinstance(functions, np.ndarray) and functions.ndim == 2 and not functions.shape[1]
        values = functions if none else finite_array(functions, name, 2)
        if len(values) != n:
            raise ValueError(f"{name}: found {len(values)} rows, expected {n}, one per example.")
        if not none:
            found.append((place, values))
    return found


def _place(key: object, widths: Sequence[int]) -> tuple[int, int]:
    """Layer and unit, if there are such."""
    if not widths:
        raise ValueError(f"aside: found {key!r}, expected nothing to be set aside: the network has no hidden layer.")
    layers = f"with layer from 0 to {len(widths) - 1}"
    try:
        layer, unit = map(index, key)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise ValueError(f"aside: found {key!r}, expected (layer, unit), two whole numbers, {layers}.") from None
    if 0 <= layer < len(widths) and 0 <= unit < widths[layer]:
        return layer, unit
    units = f", unit from 0 to {widths[layer] - 1} in layer {layer}" if 0 <= layer < len(widths) else ""
    raise ValueError(
        f"aside: found {(layer, unit)}, expected (layer, unit) {layers}{units}. Layers and units are counted from 0."
    )


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


def beyond(known: np.ndarray, columns: np.ndarray, lengths: list[np.ndarray] | None = None) -> np.ndarray:
    """An orthonormal basis of what columns (N, m) add to the span of the orthonormal ``known`` (N, r).

    Parameters
    ----------
    lengths : what is left of directions of unit length is appended here, counted or not.
    """
    if not np.any(columns):
        return columns[:, :0]
    rest = ConstraintSpace.from_columns(equilibrate(columns)).basis
    for _ in range(2):
        rest = rest - known @ (known.T @ rest)
    rest[np.abs(rest) < np.finfo(float).eps] = 0.0
    u, values, _ = decomposed(rest)
    if lengths is not None:
        lengths.append(values)
    return u[:, values > CLEAR]


def decomposed(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The thin singular value decomposition; by the slower way where the quick one does not converge."""
    try:
        u, values, rows = svd(matrix, full_matrices=False, check_finite=False)
    except LinAlgError:
        u, values, rows = svd(matrix, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return u, values, rows
