"""Target functions of sets and sequences: what a model is asked to express, with inputs drawn for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from capcore.validation import finite_array, one_of, positive_integer
from chapters.capacity_vs_expressivity.orbits import closed_under_exchange


@dataclass(frozen=True)
class Target:
    """A function of m items in R^d with values ±1.

    Attributes
    ----------
    label : (n, m, d) → (n,) of ±1. sees_order : whether some reordering changes it.
    closed : whether every input comes with items 1 and 2 exchanged.
    """

    label: Callable[[np.ndarray], np.ndarray]
    sees_order: bool
    closed: bool = False

    def draw(self, n: int, rng: np.random.Generator, m: int = 4, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
        """Normal items (n, m, d) and their labels (n,); n even for a closed target."""
        n = positive_integer(n, "n")
        if not self.closed:
            items = rng.normal(size=(n, m, d))
            return items, self.label(items)
        if n % 2:
            raise ValueError(f"n: found {n}, expected an even number, as inputs come in pairs.")
        items = rng.normal(size=(n // 2, m, d))
        return closed_under_exchange(items, self.label(items))


def twofold_order(items: object) -> np.ndarray:
    """(n,) +1 where item 1 is above item 2 exactly if item 3 is above item 4, in the first coordinate; −1 elsewhere.

    Exchanging items 1 and 2 changes every label, and no linear function of the items gives it.

    >>> twofold_order([[[1.0], [0.0], [1.0], [0.0]], [[0.0], [1.0], [1.0], [0.0]]]).tolist()
    [1.0, -1.0]
    """
    first = finite_array(items, "items", 3)[:, :, 0]
    return np.where((first[:, 0] - first[:, 1]) * (first[:, 2] - first[:, 3]) > 0, 1.0, -1.0)


def single_order(items: object) -> np.ndarray:
    """(n,) +1 where item 1 is above item 2 in the first coordinate: an order that a linear function sees.

    >>> single_order([[[1.0], [0.0]], [[0.0], [1.0]]]).tolist()
    [1.0, -1.0]
    """
    first = finite_array(items, "items", 3)[:, :, 0]
    return np.where(first[:, 0] > first[:, 1], 1.0, -1.0)


def squared_length(items: object) -> np.ndarray:
    """(n,) +1 where the items' squared lengths add up to more than their median for normal items; blind to order.

    >>> squared_length([[[1.0], [0.0]], [[2.0], [1.0]]]).tolist()
    [-1.0, 1.0]
    """
    values = finite_array(items, "items", 3)
    median = chi2.median(values.shape[1] * values.shape[2])
    return np.where(np.square(values).sum(axis=(1, 2)) > median, 1.0, -1.0)


TARGETS: Mapping[str, Target] = {
    "order": Target(twofold_order, sees_order=True),
    "simple order": Target(single_order, sees_order=True),
    "invariant": Target(squared_length, sees_order=False),
    "orbit-closed": Target(twofold_order, sees_order=True, closed=True),
}
"""The targets of the chapter on capacity and expressivity, by name."""


def target(name: str) -> Target:
    """The target of that name. Raises ``ValueError`` for an unknown one.

    >>> target("order").sees_order
    True
    """
    return TARGETS[one_of(name, "target", TARGETS)]
