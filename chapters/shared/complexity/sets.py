"""Networks that cannot see the order of a set's items: Deep Sets (Zaheer et al., 2017; the note's example).

A set is given as its items in some order: inputs are (n, items, d).
"""

from typing import NamedTuple

import numpy as np

from chapters.shared.complexity.gradients import point_gradients
from chapters.shared.complexity.network import Network


def canonical_order(inputs: object) -> np.ndarray:
    """(n, items, d) the same sets, each with its items in lexicographic order: equal exactly for equal sets.

    >>> canonical_order([[[2.0], [1.0]], [[1.0], [2.0]]])[:, :, 0].tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    items = np.asarray(inputs, float) + 0.0  # −0 and 0 are one value
    for k in range(items.shape[2] - 1, -1, -1):
        order = np.argsort(items[:, :, k], axis=1, kind="stable")
        items = np.take_along_axis(items, order[:, :, None], axis=1)
    return items


class SetNetwork(NamedTuple):
    """A network {x_1, …, x_m} → ρ(Σ_i f(φ(x_i))), with f the activation of φ, applied to its outputs too.

    Without f an affine layer would follow another, and some parameters would do nothing. The sum is taken in an order
    that depends on the set alone, so that a reordered input gives the same number to the last digit.

    Attributes
    ----------
    items : Network
        φ, which reads one item (d inputs).
    rest : Network
        ρ, which reads the sum (as many inputs as φ has outputs).

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

    def __call__(self, inputs: object) -> np.ndarray:
        """(n, n_outputs) logits at inputs (n, items, d)."""
        sets, back = _different(inputs)
        return self.rest(self._pooled(sets))[back]

    def parameter_jacobian(self, inputs: object) -> np.ndarray:
        """(n · n_outputs, n_params) derivatives of the logits, input by input, by φ's parameters, then ρ's.

        Each network's come layer by layer, weights row by row, then biases.
        """
        sets, back = _different(inputs)
        count, m = sets.shape[:2]
        rows, pooled = _rows(sets), self._pooled(sets)
        slopes = self.items.phi.derivative(self.items(rows))
        by_sum = self.rest.jacobian(pooled)  # (count, n_outputs, k)
        parts = []
        for output, one in enumerate(np.eye(self.rest.widths[-1])):
            below = point_gradients(self.items, rows, np.repeat(by_sum[:, output], m, axis=0) * slopes)
            above = point_gradients(self.rest, pooled, np.tile(one, (count, 1)))
            parts.append(np.concatenate([below.reshape(count, m, -1).sum(axis=1), above], axis=1))
        return np.stack(parts, axis=1)[back].reshape(-1, self.items.n_params + self.rest.n_params)

    def _pooled(self, sets: np.ndarray) -> np.ndarray:
        """(count, k) sums over the items, which come in canonical order."""
        values = self.items.phi.value(self.items(_rows(sets)))
        return values.reshape(*sets.shape[:2], -1).sum(axis=1)


def _different(inputs: object) -> tuple[np.ndarray, np.ndarray]:
    """The different sets among the inputs (count, items, d), and which of them each input is (n,)."""
    sets = canonical_order(inputs)
    flat, back = np.unique(sets.reshape(len(sets), -1), axis=0, return_inverse=True)
    return flat.reshape(-1, *sets.shape[1:]), back.reshape(-1)


def _rows(sets: np.ndarray) -> np.ndarray:
    return sets.reshape(-1, sets.shape[-1])
