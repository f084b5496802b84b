"""Why the rank of a ReLU network's parameter Jacobian misses its ceiling: changes that single upper units can make.

Looked for after the ceiling of :func:`~capcore.complexity.rank_ceiling.rank_ceiling` had been missed in 25 of 150
states. First the rank was taken again with random weights and the same units on and off: it was the same one in all 25,
so that the cause is in who is on where, and in the images. Then rows, and pairs of an image and an upper unit, were
set aside; the functions found here contain both. Four draws were needed: with two of them, two states were missed.
"""

from __future__ import annotations

import numpy as np

from capcore.complexity.network import Network
from capcore.complexity.unit_ceiling import CLEAR, decomposed, moved, passed_on
from capcore.constraints import ConstraintSpace, equilibrate

WITHIN = 1e-6
"""A function is in a space if what is outside of it is at most this part of its length."""


def crowded_functions(
    network: Network, inputs: np.ndarray, rng: np.random.Generator, n_draws: int = 4
) -> dict[tuple[int, int], np.ndarray]:
    """Functions on the examples that a single unit above the lowest hidden layer can follow, whatever the weights.

    (l, k) → (n, m) orthonormal f with f times the derivative of the logits by what unit k takes in inside the space of
    the parameter Jacobian; for the network with ``n_draws`` draws of normal weights between its hidden layers, in the
    derivatives only: what its units read, and where they are on, stays.
    """
    found: dict[tuple[int, int], np.ndarray] = {}
    for _ in range(n_draws):
        between = [rng.normal(size=w.shape) for w in network.weights[1:-1]]
        routes = passed_on(network, inputs, between)
        space = _space(network, inputs, routes)
        for layer in range(1, len(routes)):
            for unit in range(routes[layer].shape[2]):
                route = routes[layer][:, :, unit] / (np.abs(routes[layer][:, :, unit]).max() or 1.0)
                start = np.eye(len(inputs))[:, np.any(route != 0, axis=1)]
                found[layer, unit] = _inside(space, found.get((layer, unit), start), route)
    return {unit: functions for unit, functions in found.items() if functions.shape[1]}


def drawn_functions(
    aside: dict[tuple[int, int], np.ndarray], rng: np.random.Generator
) -> dict[tuple[int, int], np.ndarray]:
    """As many normal functions for each unit, on the same examples: what setting aside costs if it is not the crowd."""
    on = {unit: np.any(functions != 0, axis=1, keepdims=True) for unit, functions in aside.items()}
    return {unit: on[unit] * rng.normal(size=functions.shape) for unit, functions in aside.items()}


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
