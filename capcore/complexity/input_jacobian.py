"""Sensitivity of networks to their inputs: norms of the Jacobian of the logits, or of the softmax probabilities.

After Novak et al. (2018), who take the probabilities. The slides' E‖J(x)‖_F does not say which, and the two answer
differently: where a network is sure of its answer the probabilities no longer move, however steep the logits are.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from capcore.complexity.network import as_network
from capcore.validation import finite_array, one_of, positive_integer

OUTPUTS = ("probabilities", "logits")
"""What :func:`sensitivity` differentiates."""


def probability_jacobian(network: object, inputs: object) -> np.ndarray:
    """(n, n_outputs, d) derivatives of the softmax probabilities with respect to the inputs, at inputs (n, d).

    (diag p − p pᵀ) times the Jacobian of the logits.

    Parameters
    ----------
    network : as :func:`~capcore.complexity.network.as_network` takes it, with two outputs or more.

    Raises ``ValueError`` for a network with one output, whose softmax is constant.

    >>> probability_jacobian([([[1.0, -1.0]], [0.0, 0.0])], [[0.0]]).ravel().tolist()
    [0.5, -0.5]
    """
    net = as_network(network)
    if net.widths[-1] < 2:
        raise ValueError("network: found one output, expected at least two: a softmax over one is always 1.")
    return _through_softmax(net(inputs), net.jacobian(inputs))


def sensitivity(network: object, inputs: object, of: str = "probabilities") -> np.ndarray:
    """(n,) Frobenius norms of the Jacobian of the outputs with respect to the inputs (slides, Novak et al.).

    Parameters
    ----------
    network : as :func:`~capcore.complexity.network.as_network` takes it.
    inputs : (n, d), one point a row. The norm is per unit of these.
    of : "probabilities" (softmax) or "logits".

    >>> sensitivity([([[3.0, 0.0]], [0.0, 0.0])], [[0.0], [5.0]], of="logits").tolist()
    [3.0, 3.0]
    """
    net = as_network(network)
    one_of(of, "of", OUTPUTS)
    found = net.jacobian(inputs) if of == "logits" else probability_jacobian(net, inputs)
    return np.sqrt(np.einsum("nkd,nkd->n", found, found))


def forward_sensitivity(network: object, inputs: object, of: str = "probabilities") -> np.ndarray:
    """:func:`sensitivity` by forward accumulation, from the inputs up: the second route, for tests and few inputs."""
    net = as_network(network)
    one_of(of, "of", OUTPUTS)
    levels = net.pre_activations(inputs)
    found = np.repeat(net.weights[0][None], len(levels[0]), axis=0)  # (n, d, units)
    for z, w in zip(levels[:-1], net.weights[1:], strict=True):
        found = (found * net.phi.derivative(z)[:, None, :]) @ w
    jacobian = np.swapaxes(found, 1, 2)
    if of == "probabilities":
        jacobian = _through_softmax(levels[-1], jacobian)
    return np.linalg.norm(jacobian, axis=(1, 2))


def midpoints(inputs: object, labels: object, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, d) points halfway between two of ``inputs`` (m, d) of different ``labels`` (m,), pairs drawn at random."""
    x, y = finite_array(inputs, "inputs", 2), finite_array(labels, "labels", 1)
    if y.shape != x.shape[:1] or np.all(y == y[0]):
        raise ValueError(f"labels: found {len(np.unique(y))} kind(s) in {y.size}, expected two or more in {len(x)}.")
    first = rng.integers(0, len(x), positive_integer(n, "n"))
    second = np.array([rng.choice(np.flatnonzero(y != y[i])) for i in first])
    return (x[first] + x[second]) / 2


def shuffled_features(inputs: object, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, d) points with every feature drawn from those of ``inputs`` (m, d) by itself.

    Each feature keeps its distribution, and nothing is left of how features go together: off the data manifold, at
    the same mean distance from the mean.
    """
    x = finite_array(inputs, "inputs", 2)
    rows = rng.integers(0, len(x), (positive_integer(n, "n"), x.shape[1]))
    return x[rows, np.arange(x.shape[1])]


def uniform_box(inputs: object, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, d) points uniform between the least and the largest value of each feature of ``inputs`` (m, d)."""
    x = finite_array(inputs, "inputs", 2)
    return rng.uniform(x.min(axis=0), x.max(axis=0), (positive_integer(n, "n"), x.shape[1]))


def _through_softmax(logits: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
    p = softmax(logits, axis=1)
    return p[:, :, None] * (jacobian - np.einsum("nk,nkd->nd", p, jacobian)[:, None, :])
