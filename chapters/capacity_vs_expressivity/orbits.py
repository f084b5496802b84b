"""Labels on sets and their reorderings, and the accuracy that no permutation-invariant model can exceed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from capcore.complexity.sets import orbit_indices
from capcore.validation import finite_array


def orbit_ceiling(inputs: object, labels: object) -> float:
    """The largest share of ``labels`` (n,) that any permutation-invariant model gets right on inputs (n, items, d).

    Such a model gives one answer per orbit, so that the commonest label of the orbit is the best it can do; and a model
    that gives that answer everywhere exists. Where every orbit holds two labels equally often the ceiling is one half,
    and with two labels in all *every* invariant model is at exactly one half: of each pair it gets one right.

    Raises ``ValueError`` for another number of labels than of inputs.

    >>> orbit_ceiling([[[2.0], [1.0]], [[1.0], [2.0]]], [1, -1])
    0.5
    """
    orbits = orbit_indices(inputs)
    values = labels_of(labels, len(orbits))
    kinds = np.unique(values, return_inverse=True)[1].reshape(-1)
    counts = np.zeros((orbits.max() + 1, kinds.max() + 1), dtype=int)
    np.add.at(counts, (orbits, kinds), 1)
    return float(counts.max(axis=1).sum() / len(orbits))


def closed_under_exchange(
    inputs: object, labels: object, places: Sequence[int] = (0, 1)
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (2n, items, d) and labels (2n,): the given ones, then each with two items exchanged and the label negated.

    Parameters
    ----------
    inputs : (n, items, d). labels : (n,) of ±1. places : which two items are exchanged.

    >>> [part.ravel().tolist() for part in closed_under_exchange([[[2.0], [1.0]]], [1])]
    [[2.0, 1.0, 1.0, 2.0], [1.0, -1.0]]
    """
    items = finite_array(inputs, "inputs", 3)
    values = labels_of(labels, len(items))
    if len(set(places)) != 2 or not all(0 <= place < items.shape[1] for place in places):
        raise ValueError(f"places: found {tuple(places)}, expected two different ones of 0 … {items.shape[1] - 1}.")
    order = np.arange(items.shape[1])
    order[list(places)] = order[list(places)[::-1]]
    return np.concatenate([items, items[:, order]]), np.concatenate([values, -values])


def with_places(inputs: object) -> np.ndarray:
    """(n, items, d + items) inputs whose items carry the number of their place, as a 1 among zeros.

    A model of sets that reads these sees the order.

    >>> with_places([[[5.0], [7.0]]]).tolist()
    [[[5.0, 1.0, 0.0], [7.0, 0.0, 1.0]]]
    """
    items = finite_array(inputs, "inputs", 3)
    places = np.broadcast_to(np.eye(items.shape[1]), (len(items), items.shape[1], items.shape[1]))
    return np.concatenate([items, places], axis=2)


def labels_of(labels: object, count: int) -> np.ndarray:
    """``labels`` as floats (count,), or an error that says how many are missing."""
    values = finite_array(labels, "labels", 1)
    if len(values) != count:
        raise ValueError(f"labels: found {len(values)}, expected {count}, one for each input.")
    return values
