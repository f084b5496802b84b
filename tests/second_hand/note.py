"""The note: networks that see sets and networks that see lists, and what either can express."""

import numpy as np
from scipy.linalg import orth

Array = np.ndarray


def sets(count: int, seed: int) -> Array:
    """Sets of four items in R³, standard normal."""
    return np.random.default_rng(seed).standard_normal((count, 4, 3))


def exchanged(items: Array) -> Array:
    """The same with items 1 and 2 exchanged."""
    return items[:, [1, 0, 2, 3]]


def order_labels(items: Array) -> Array:
    """Whether item 1 is above item 2 exactly if item 3 is above item 4, in the first coordinate."""
    return (items[:, 0, 0] > items[:, 1, 0]) == (items[:, 2, 0] > items[:, 3, 0])


def in_order(items: Array) -> Array:
    """The items of each set sorted by their first coordinate, so that their order in the list no longer matters."""
    return np.take_along_axis(items, items[..., :1].argsort(1), 1)


def pooled_features(items: Array, width: int, seed: int) -> Array:
    """Random tanh units of the sum of random tanh units of the items, which are sorted before they are summed."""
    rng = np.random.default_rng(seed)
    pooled = np.tanh(in_order(items) @ rng.standard_normal((3, 60)) + rng.standard_normal(60)).sum(1)
    return np.tanh(pooled @ rng.standard_normal((60, width)) / 4 + rng.standard_normal(width))


def invariant_memorises() -> float:
    """The note's high capacity: share of 256 random labels that 320 features of sets reproduce after least squares."""
    features = pooled_features(sets(256, 0), 320, 1)
    labels = np.random.default_rng(2).choice([-1.0, 1.0], 256)
    weights = np.linalg.lstsq(features, labels, rcond=None)[0]
    return float((np.sign(features @ weights) == labels).mean())


def invariant_orbits() -> float:
    """The note's low expressivity: distance from one half of such a fit's accuracy on the order.

    Every set stands beside the one with items exchanged.
    """
    items = np.concatenate([sets(500, 3), exchanged(sets(500, 3))])
    labels, features = order_labels(items), pooled_features(items, 320, 4)
    weights = np.linalg.lstsq(features[:400], 2.0 * labels[:400] - 1, rcond=None)[0]
    return abs(float(((features @ weights > 0) == labels).mean()) - 0.5)


def network(weights: Array, items: Array) -> Array:
    """Two hidden tanh layers of 16 and 14 units on the concatenated items: 461 weights."""
    first, second, last = np.split(weights, [13 * 16, 13 * 16 + 17 * 14])
    h = np.tanh(items.reshape(-1, 12) @ first[16:].reshape(12, 16) / 3 + first[:16])
    h = np.tanh(h @ second[14:].reshape(16, 14) / 4 + second[:14])
    return h @ last[1:] + last[0]


def exchange_share(sees_order: bool) -> float:
    """Paper 1, Definition 1, on data: share of capacity on functions that change sign when items 1 and 2 are exchanged.

    Columns of the Jacobian on 300 pairs of examples, by central differences; those functions are differences in pairs.
    A network that does not see the order is given its items sorted.
    """
    items = np.concatenate([sets(300, 6), exchanged(sets(300, 6))])
    items = items if sees_order else in_order(items)
    weights, steps = np.random.default_rng(5).standard_normal(461), 1e-5 * np.eye(461)
    columns = [(network(weights + step, items) - network(weights - step, items)) / 2e-5 for step in steps]
    basis = orth(np.stack(columns, 1), rcond=1e-7)
    odd = (basis[:300] - basis[300:]) / np.sqrt(2)
    return float((odd**2).sum() / basis.shape[1])
