"""The rank of a ReLU network's parameter Jacobian without rounding: by elimination modulo a prime.

Where units are on is read off in floating point. Given that, the logits are a polynomial in the weights, whose stored
values are fractions with residues modulo a prime. The rank modulo the prime is never above the rank, and falls below it
with a chance of about rank/prime, one in a million here. With weights drawn modulo the prime it is the rank that goes
with where units are on, for almost all weights.
"""

from __future__ import annotations

import numpy as np

from capcore.complexity.network import Network
from capcore.finite_field import PRIME, rank_modulo_prime, residues
from capcore.validation import one_of


def exact_rank(network: Network, inputs: np.ndarray, prime: int = PRIME) -> int:
    """The rank of the Jacobian of the logits at inputs (n, d) by all weights and biases, of a ReLU network.

    Raises ``ValueError`` for another activation.

    >>> exact_rank(Network([[[1.0]], [[2.0]]], [[0.0], [0.5]]), np.array([[-1.0], [1.0], [2.0], [3.0]]))
    3
    """
    gates = _gates(network, inputs)
    weights = [residues(w, prime).reshape(w.shape) for w in network.weights]
    return _rank(weights, [residues(b, prime) for b in network.biases], gates, inputs, prime)


def pattern_rank(network: Network, inputs: np.ndarray, rng: np.random.Generator, prime: int = PRIME) -> int:
    """The rank that a ReLU network's Jacobian has with almost all weights, where units are on for the inputs as now.

    A ceiling for :func:`exact_rank`, but for a chance of some millionths: given where units are on, all minors are
    polynomials in the weights, and one that is zero at almost all weights is zero at these. The weights and biases are
    drawn modulo the prime. They need not put the units where they are.

    Raises ``ValueError`` for another activation.

    >>> net = Network([[[1.0, 1.0]], [[0.0], [0.0]]], [[0.0, -1.5], [0.0]])  # nothing is read of what units put out
    >>> x = np.array([[-2.0], [-1.0], [1.0], [2.0], [3.0], [4.0]])
    >>> exact_rank(net, x), pattern_rank(net, x, np.random.default_rng(0))
    (3, 4)
    """
    gates = _gates(network, inputs)
    weights = [rng.integers(0, prime, w.shape) for w in network.weights]
    return _rank(weights, [rng.integers(0, prime, b.shape) for b in network.biases], gates, inputs, prime)


def _gates(network: Network, inputs: np.ndarray) -> list[np.ndarray]:
    """For every hidden layer (n, m) whether units are on, 0 or 1."""
    one_of(network.activation, "activation", ["relu"])
    return [(z > 0).astype(np.int64) for z in network.pre_activations(inputs)[:-1]]


def _rank(
    weights: list[np.ndarray], biases: list[np.ndarray], gates: list[np.ndarray], inputs: np.ndarray, prime: int
) -> int:
    """The rank of the Jacobian of gated units modulo a prime."""
    reads = [residues(inputs, prime).reshape(inputs.shape)]
    for w, b, gate in zip(weights[:-1], biases[:-1], gates, strict=True):
        reads.append((_product(reads[-1], w, prime) + b) % prime * gate)
    n, n_outputs = len(inputs), weights[-1].shape[1]
    delta = np.broadcast_to(np.eye(n_outputs, dtype=np.int64), (n, n_outputs, n_outputs))
    columns = []
    for layer in range(len(weights) - 1, -1, -1):
        below = np.column_stack([reads[layer], np.ones(n, np.int64)])
        columns.append((below[:, None, :, None] * delta[:, :, None, :] % prime).reshape(n * n_outputs, -1))
        if layer:
            back = _product(delta.reshape(n * n_outputs, -1), weights[layer].T, prime)
            delta = back.reshape(n, n_outputs, -1) * gates[layer - 1][:, None, :]
    return rank_modulo_prime(np.hstack(columns), prime)


def _product(a: np.ndarray, b: np.ndarray, prime: int) -> np.ndarray:
    """a @ b modulo the prime, summed term by term: a sum of products would overflow."""
    found = np.zeros((len(a), b.shape[1]), np.int64)
    for k in range(b.shape[0]):
        found = (found + a[:, k, None] * b[None, k] % prime) % prime
    return found
