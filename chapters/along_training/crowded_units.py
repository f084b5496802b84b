"""Where the rank of a ReLU network's parameter Jacobian misses its ceiling: changes that single upper units can make.

Looked for after the ceiling of ``rank_ceiling`` had been missed in some states.
First the rank was taken again with random weights and the same units on and off: it was the same one in all of them,
so that the cause is in who is on where, and in the images. Then rows, and pairs of an image and an upper unit, were
set aside; the functions found here contain both. The search, the number of draws included, was tuned on these states.
"""

from __future__ import annotations

import numpy as np

from capcore.complexity.network import Network, as_network
from capcore.complexity.unit_ceiling import CLEAR, decomposed, moved, passed_on
from capcore.constraints import ConstraintSpace, equilibrate
from capcore.validation import positive_integer
from chapters.along_training.rank_ceiling import rank_ceiling

WITHIN = 1e-6
"""A function is in a space if what is outside of it is at most this part of its length."""


def crowded_functions(
    network: object, inputs: object, rng: np.random.Generator, n_draws: int = 4
) -> dict[tuple[int, int], np.ndarray]:
    """Functions on the examples that a single unit above the lowest hidden layer can follow, for all of the draws.

    (l, k) → (n, m) orthonormal f with f times the derivative of the logits by what unit k takes in inside the space of
    the parameter Jacobian; for the network with ``n_draws`` draws of normal weights between its hidden layers, in the
    derivatives only: what its units read, and where they are on, stays.

    Parameters
    ----------
    network : as :func:`~capcore.complexity.network.as_network` takes it.

    >>> from capcore.complexity import parameter_rank, random_network
    >>> from capcore.complexity.unit_ceiling import unit_ceiling
    >>> net = random_network([2, 4, 2, 1], np.random.default_rng(0), 1.5, 0.5)
    >>> x = np.random.default_rng(1).normal(size=(50, 2))
    >>> aside = crowded_functions(net, x, np.random.default_rng(2))
    >>> {unit: functions.shape for unit, functions in aside.items()}
    {(1, 0): (50, 3), (1, 1): (50, 14)}
    >>> parameter_rank(net, x).rank <= unit_ceiling(net, x, aside).total
    True
    """
    net = as_network(network)
    points = net.check_inputs(inputs)
    found: dict[tuple[int, int], np.ndarray] = {}
    for _ in range(positive_integer(n_draws, "n_draws")):
        between = [rng.normal(size=w.shape) for w in net.weights[1:-1]]
        routes = passed_on(net, points, between)
        space = _space(net, points, routes)
        for layer in range(1, len(routes)):
            for unit in range(routes[layer].shape[2]):
                route = routes[layer][:, :, unit] / (np.abs(routes[layer][:, :, unit]).max() or 1.0)
                start = np.eye(len(points))[:, np.any(route != 0, axis=1)]
                found[layer, unit] = _inside(space, found.get((layer, unit), start), route)
    return {unit: functions for unit, functions in found.items() if functions.shape[1]}


def image_functions(network: object, inputs: object) -> dict[tuple[int, int], np.ndarray]:
    """For each unit of the highest hidden layer the images it is not flat at, among those that are crowded themselves.

    (l, k) → (n, m), a one for the image, of those that ``rank_ceiling`` sets
    aside.
    """
    net = as_network(network)
    points = net.check_inputs(inputs)
    alone = rank_ceiling(net, points).aside
    if not len(alone):
        return {}
    at = np.column_stack([np.all(points == image, axis=1) for image in alone]).astype(float)
    moves = net.phi.derivative(net.pre_activations(points)[-2]) != 0
    found = {k: at[:, np.any(at * moves[:, k, None], axis=0)] for k in range(moves.shape[1])}
    return {(len(net.widths) - 3, k): functions for k, functions in found.items() if functions.shape[1]}


def _space(network: Network, inputs: np.ndarray, routes: list[np.ndarray]) -> np.ndarray:
    """(n · n_outputs, r) orthonormal basis of the Jacobian's columns, with these derivatives: the last layer first."""
    levels = network.pre_activations(inputs)[:-1]
    reads = [np.column_stack([h, np.ones(len(inputs))]) for h in (inputs, *map(network.phi.value, levels))]
    n, n_outputs = len(inputs), network.widths[-1]
    top = ConstraintSpace.from_columns(reads[-1]).basis
    known, across = np.kron(top, np.eye(n_outputs)), np.linalg.qr(top, mode="complete")[0][:, top.shape[1] :]
    if not across.size:
        return known
    columns = [
        equilibrate(moved(h, route[:, :, j]))
        for h, route in zip(reads[:-1], routes, strict=True)
        for j in range(route.shape[2])
    ]
    rest = (across.T @ np.hstack(columns).reshape(n, -1)).reshape(across.shape[1] * n_outputs, -1)
    u, values, _ = decomposed(rest)
    u = u[:, values > CLEAR * values[0]]
    lower = (across @ u.reshape(across.shape[1], -1)).reshape(n * n_outputs, -1)
    return np.hstack([known, lower])


def _inside(space: np.ndarray, functions: np.ndarray, route: np.ndarray) -> np.ndarray:
    """(n, m) orthonormal, of functions (n, p) those that the route (n, n_outputs) takes into the space (N, r)."""
    if not functions.shape[1]:
        return functions
    columns = moved(functions, route)
    outside = columns - space @ (space.T @ columns)
    outside[np.abs(outside) < np.finfo(float).eps] = 0.0
    _, values, rows = decomposed(outside)
    largest = np.linalg.norm(columns, axis=0).max()
    return functions @ rows[values <= WITHIN * largest].T
