"""Sensitivity of networks to their inputs: norms of the Jacobian of the logits, or of the softmax probabilities.

After Novak et al. (2018), who take the probabilities. The slides' E‖J(x)‖_F does not say which, and the two answer
differently: where a network is sure of its answer the probabilities no longer move, however steep the logits are.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from capcore.checks.arguments import one_of
from chapters.shared.complexity.network import as_network

OUTPUTS = ("probabilities", "logits")
"""What :func:`sensitivity` differentiates."""


def probability_jacobian(network: object, inputs: object) -> np.ndarray:
    """(n, n_outputs, d) derivatives of the softmax probabilities with respect to the inputs, at inputs (n, d).

    (diag p − p pᵀ) times the Jacobian of the logits.

    Parameters
    ----------
    network : Network
        Or what :func:`~chapters.shared.complexity.network.as_network` takes, with two outputs or more.
    inputs : (n, d) array_like
        One point a row.

    Raises
    ------
    ValueError
        For a network with one output, whose softmax is constant.

    Examples
    --------
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
    network : Network
        Or what :func:`~chapters.shared.complexity.network.as_network` takes.
    inputs : (n, d) array_like
        One point a row. The norm is per unit of these.
    of : str
        "probabilities" (softmax) or "logits".

    Examples
    --------
    >>> sensitivity([([[3.0, 0.0]], [0.0, 0.0])], [[0.0], [5.0]], of="logits").tolist()
    [3.0, 3.0]
    """
    net = as_network(network)
    one_of(of, "of", OUTPUTS)
    found = net.jacobian(inputs) if of == "logits" else probability_jacobian(net, inputs)
    return np.sqrt(np.einsum("nkd,nkd->n", found, found))


def _through_softmax(logits: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
    p = softmax(logits, axis=1)
    return p[:, :, None] * (jacobian - np.einsum("nk,nkd->nd", p, jacobian)[:, None, :])
