"""Sets, their reorderings, and networks that cannot see the order: Deep Sets (Zaheer et al., 2017; the note's example).

A set is given as its items in some order: inputs are (n, items, d). Two inputs lie in one *orbit* if one is a
reordering of the other. A function that does not see the order is constant on every orbit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.checks.arguments import finite_array
from chapters.shared.complexity.gradients import point_gradients
from chapters.shared.complexity.network import Network


def canonical_order(inputs: object) -> np.ndarray:
    """(n, items, d) the same sets, each with its items in lexicographic order: equal exactly for equal sets.

    >>> canonical_order([[[2.0], [1.0]], [[1.0], [2.0]]])[:, :, 0].tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    items = finite_array(inputs, "inputs", 3) + 0.0  # −0 and 0 are one value
    for k in range(items.shape[2] - 1, -1, -1):
        order = np.argsort(items[:, :, k], axis=1, kind="stable")
        items = np.take_along_axis(items, order[:, :, None], axis=1)
    return items


def orbit_indices(inputs: object) -> np.ndarray:
    """(n,) the number of the orbit that each of the inputs lies in, counted from 0.

    Parameters
    ----------
    inputs : (n, items, d) array_like
        Sets.

    Examples
    --------
    >>> orbit_indices([[[2.0], [1.0]], [[3.0], [1.0]], [[1.0], [2.0]]]).tolist()
    [0, 1, 0]
    """
    sets = canonical_order(inputs)
    return np.unique(sets.reshape(len(sets), -1), axis=0, return_inverse=True)[1].reshape(-1)


@dataclass(frozen=True, eq=False)
class SetNetwork:
    """A network {x_1, …, x_m} → ρ(Σ_i f(φ(x_i))), with f the activation of φ, applied to its outputs too.

    Without f an affine layer would follow another, and some parameters would do nothing. The sum is taken in an order
    that depends on the set alone, so that a reordered input gives the same number to the last digit.

    Attributes
    ----------
    items : Network
        φ, which reads one item (d inputs).
    rest : Network
        ρ, which reads the sum (as many inputs as φ has outputs).

    Raises
    ------
    ValueError
        Where ρ does not read what φ puts out.

    Examples
    --------
    >>> from chapters.shared.complexity import random_network
    >>> rng = np.random.default_rng(0)
    >>> net = SetNetwork(random_network([1, 4], rng), random_network([4, 1], rng))
    >>> bool((net([[[1.0], [2.0]]]) == net([[[2.0], [1.0]]])).all())
    True
    """

    items: Network
    rest: Network

    def __post_init__(self) -> None:
        given, read = self.items.widths[-1], self.rest.widths[0]
        if given != read:
            raise ValueError(f"rest: found a network of {read} inputs, expected {given}, the item network's outputs.")

    @property
    def n_params(self) -> int:
        """The number of weights and biases of both networks."""
        return self.items.n_params + self.rest.n_params

    @property
    def n_hidden(self) -> int:
        """The number of units with an activation; those of the items are counted once, not per item."""
        return self.items.n_hidden + self.items.widths[-1] + self.rest.n_hidden

    @property
    def n_outputs(self) -> int:
        """The number of logits."""
        return self.rest.widths[-1]

    def __call__(self, inputs: object) -> np.ndarray:
        """(n, n_outputs) logits at inputs (n, items, d)."""
        sets, back = self._sets(inputs)
        return self.rest(self._pooled(sets))[back]

    def parameter_jacobian(self, inputs: object) -> np.ndarray:
        """(n · n_outputs, n_params) derivatives of the logits, input by input, by φ's parameters, then ρ's.

        Each network's come layer by layer, weights row by row, then biases.
        """
        sets, back = self._sets(inputs)
        count, m = sets.shape[:2]
        pooled = self._pooled(sets)
        slopes = self.items.phi.derivative(self.items(_rows(sets)))
        by_sum = self.rest.jacobian(pooled)  # (count, n_outputs, k)
        parts = []
        for output in range(self.n_outputs):
            errors = np.repeat(by_sum[:, output], m, axis=0) * slopes
            below = point_gradients(self.items, _rows(sets), errors).reshape(count, m, -1).sum(axis=1)
            one = np.zeros((count, self.n_outputs))
            one[:, output] = 1.0
            parts.append(np.concatenate([below, point_gradients(self.rest, pooled, one)], axis=1))
        return np.stack(parts, axis=1)[back].reshape(-1, self.n_params)

    def _pooled(self, sets: np.ndarray) -> np.ndarray:
        """(count, k) sums over the items, which come in canonical order."""
        values = self.items.phi.value(self.items(_rows(sets)))
        return values.reshape(*sets.shape[:2], -1).sum(axis=1)

    def _sets(self, inputs: object) -> tuple[np.ndarray, np.ndarray]:
        """The different sets among the inputs (count, items, d), and which of them each input is (n,)."""
        points = finite_array(inputs, "inputs", 3)
        if points.shape[2] != self.items.widths[0]:
            raise ValueError(
                f"inputs: found shape {points.shape}, expected (n, items, {self.items.widths[0]}), one item a row, as "
                "the item network reads."
            )
        sets = canonical_order(points)
        flat, back = np.unique(sets.reshape(len(sets), -1), axis=0, return_inverse=True)
        return flat.reshape(-1, *points.shape[1:]), back.reshape(-1)


def _rows(sets: np.ndarray) -> np.ndarray:
    return sets.reshape(-1, sets.shape[-1])
