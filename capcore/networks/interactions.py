"""Capacity of joint functions of several inputs: ANOVA (Sobol) spaces and Shapley values, for independent inputs.

A capacity is a variance. With q(x) = Rᵀ J(x) H^(−1/2) the total is N E‖q(x)‖², and where inputs are independent its
parts are N times the Sobol variances of q. Jansen's form gives them all: T(u) = ½ E‖q(x) − q(x with u drawn anew)‖² is
the part that depends on u at all, and T(all) − T(all but u) the part that depends on u alone. Along a random order of
the inputs the steps of T are, on average, Shapley values (Goda, 2021); each order is also taken backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from capcore.checks.arguments import finite_array, plain_seed, positive_integer
from capcore.checks.memory import arrays, fits, too_large
from capcore.networks.capacities import half_widths
from capcore.networks.problem import to_metric
from capcore.networks.results import NetworkAllocation
from capcore.results.notebook import as_table


@dataclass(frozen=True, eq=False)
class Interactions:
    """Capacity by groups of independent inputs; ``errors`` has half-widths of 95 % intervals under the same names.

    Attributes
    ----------
    constant : float
        Capacity of constants.
    varying : float
        Capacity of everything else: ``constant + varying`` is the total at inputs drawn anew.
    alone : (d,) array
        Capacity of functions of one group alone: first-order Sobol.
    involved : (d,) array
        Capacity of all ANOVA spaces that contain the group: total Sobol.
    shapley : (d,) array
        Each space shared equally among its groups; sums to ``varying``.
    closed : (len(sets),) array
        Capacity of all functions of the groups in each set, without constants.
    errors : dict
        Name of an array above → its half-widths, by Student's law with ``samples`` − 1 degrees of freedom.
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    constant: float
    varying: float
    alone: np.ndarray
    involved: np.ndarray
    shapley: np.ndarray
    closed: np.ndarray
    errors: dict[str, np.ndarray] = field(repr=False)

    _repr_html_ = as_table


def interactions(
    allocation: NetworkAllocation,
    *,
    values: object = None,
    groups: object = None,
    transform: Callable[[np.ndarray], object] | None = None,
    sets: Sequence[Sequence[int]] = (),
    samples: int = 256,
    rng: np.random.Generator | int | None = None,
) -> Interactions:
    """Capacity of single inputs, of everything that involves them, and the share of each in the whole.

    For inputs that depend on each other, ask for a chain of subspaces instead (``how="chain"`` of
    :func:`~capcore.networks.subspaces.inputs`), or give independent ``values`` and the ``transform`` to inputs, such as
    whitened ones of Gaussian inputs.

    Parameters
    ----------
    allocation : NetworkAllocation
        A dense allocation.
    values : (M, …) array_like, optional
        Independent inputs: each group is drawn separately from the rows. By default the training inputs.
    groups : (…) array_like of int, optional
        Group 0, 1, … of each input; by default each is a group of its own.
    transform : callable, optional
        Values (n, …) → inputs of the network.
    sets : list of tuples of int, optional
        Sets of groups whose joint functions are reported as ``closed``.
    samples : int, default 256
        Pairs of points; each costs the Jacobian of one example 4 d times.
    rng : numpy.random.Generator or int, default 0

    Returns
    -------
    Interactions

    Examples
    --------
    >>> from capcore.networks.allocation import allocate_network
    >>> x = np.random.default_rng(0).choice([-1.0, 1.0], size=(60, 2))
    >>> product = lambda w, x: w[0] * x[:, 0] * x[:, 1]
    >>> found = allocate_network(product, np.ones(1), x, x[:, 0] * x[:, 1], subspaces={})
    >>> found = interactions(found, samples=10_000)
    >>> found.alone.round(1) + 0, found.shapley.round(1)
    (array([0., 0.]), array([0.5, 0.5]))
    """
    plain_seed(rng)
    allocation.dense("interactions")
    positive_integer(samples, "samples", 2)
    rng = np.random.default_rng(0 if rng is None else rng)
    data = (
        allocation.problem.derivatives.inputs if values is None else finite_array(values, "values", tuple(range(1, 9)))
    )
    labels = np.arange(data[0].size) if groups is None else np.asarray(groups).ravel()
    if labels.size != data[0].size:
        raise ValueError(f"groups: found {labels.size}, expected one for each of the {data[0].size} inputs.")
    if labels.dtype.kind not in "iu" or labels.min() < 0:
        raise ValueError(f"groups: found {labels.dtype} down to {labels.min()}, expected whole numbers from 0.")
    d = int(labels.max()) + 1
    if not {member for members in sets for member in members} <= set(range(d)):
        raise ValueError(f"sets: found {list(sets)}, expected groups from 0 to {d - 1}.")
    n_bytes = arrays(samples * allocation.problem.targets.shape[1], allocation.problem.derivatives.n_params, copies=5)
    if not fits(n_bytes):
        raise too_large(f"samples: found {samples:,}", n_bytes, "Use fewer samples, several times, with different rng.")
    flat = data.reshape(len(data), -1)

    def drawn() -> np.ndarray:
        rows = rng.integers(0, len(flat), (samples, d))
        return flat[rows[:, labels], np.arange(flat.shape[1])]

    def q(points: np.ndarray) -> np.ndarray:
        shaped = points.reshape(samples, *data.shape[1:])
        return _square_roots(allocation, np.asarray(shaped if transform is None else transform(shaped)))

    ends = drawn(), drawn()
    first, last = map(q, ends)
    gains = len(allocation.per_example) * allocation._response.gains

    def changed(chosen: np.ndarray) -> np.ndarray:
        """(samples,) estimates of T(u), u (samples, d) of bool or (d,)."""
        mixed = q(np.where(np.broadcast_to(chosen, (samples, d))[:, labels], ends[1], ends[0]))
        return np.square(first - mixed).sum(axis=1) @ gains / 2

    whole = np.square(first - last).sum(axis=1) @ gains / 2
    each = np.eye(d, dtype=bool)
    chosen = [np.isin(np.arange(d), members) for members in sets]
    found = {
        "alone": np.array([whole - changed(~one) for one in each]),
        "involved": np.array([changed(one) for one in each]),
        "shapley": _along_orders(changed, whole, np.argsort(rng.random((samples, d)), axis=1)),
        "closed": np.array([whole - changed(~those) for those in chosen]).reshape(len(sets), samples),
    }
    constant = float(((first * last).sum(axis=1) @ gains).mean())
    errors = {name: half_widths(each) for name, each in found.items()}
    return Interactions(constant, float(whole.mean()), **{k: v.mean(axis=1) for k, v in found.items()}, errors=errors)


def _along_orders(changed: Callable[[np.ndarray], np.ndarray], whole: np.ndarray, order: np.ndarray) -> np.ndarray:
    """(d, samples) steps of T along an order for each sample, and along its reverse."""
    samples, d = order.shape
    steps, rows = np.zeros((d, samples)), np.arange(samples)
    for way in (order, order[:, ::-1]):
        before, taken = np.zeros(samples), np.zeros((samples, d), dtype=bool)
        for j in range(d):
            taken[rows, way[:, j]] = True
            after = whole if j == d - 1 else changed(taken)
            steps[way[:, j], rows] += (after - before) / 2
            before = after
    return steps


def _square_roots(allocation: NetworkAllocation, points: np.ndarray) -> np.ndarray:
    """(n, K, p) Rᵀ J(x) V, or Rᵀ J(x) C⁻ᵀ: with the gains as weights, the square root q."""
    derivatives, problem = allocation.problem.derivatives, allocation.problem
    outputs = derivatives.outputs(derivatives.params, points)
    scaled = to_metric(derivatives.jacobian(derivatives.params, points), *problem.metric(outputs))
    return allocation._response.transformed(scaled).reshape(*outputs.shape, -1)
