"""The Fisher–Rao norm of a network, ⟨θ, I(θ)θ⟩ (slides, Liang et al. 2019): three routes, and two meanings of I.

It is a *squared* length. I(θ) is the mean of ∇ℓ ∇ℓᵀ over points x and outcomes y; "model" draws y from the network's
own prediction, "empirical" takes the labels. For cross-entropy the two part company once the labels are fitted: the
empirical one goes to zero with the loss.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax

from chapters.shared.complexity.gradients import output_errors
from chapters.shared.complexity.network import Network


def logits_along_parameters(network: Network, inputs: np.ndarray) -> np.ndarray:
    """(n, n_outputs) derivative of the logits along the parameters themselves, d f((1 + t)θ)/dt at t = 0.

    One pass forward that carries values and their derivatives; biases are part of θ.

    >>> net = Network([[[2.0]], [[3.0]]], [[0.0], [0.0]])
    >>> logits_along_parameters(net, np.array([[1.0]])).tolist()  # twice 6: two layers
    [[12.0]]
    """
    value, along = inputs, np.zeros_like(inputs)
    levels = network.pre_activations(inputs)
    for i, (w, b, z) in enumerate(zip(network.weights, network.biases, levels, strict=True)):
        along = along @ w + value @ w + b
        if i < len(levels) - 1:
            value, along = network.phi.value(z), network.phi.derivative(z) * along
    return along


def homogeneous_logits(network: Network, inputs: np.ndarray) -> np.ndarray:
    """(n, n_outputs) L + 1 times the logits, for L hidden layers: what they are along θ, if θ has no biases.

    A network of ReLUs is then homogeneous of degree L + 1 in θ.
    """
    return len(network.weights) * network(inputs)


def fisher_rao(
    network: Network,
    inputs: np.ndarray,
    targets: np.ndarray | None = None,
    fisher: str = "model",
    loss: str = "cross_entropy",
    along: Callable[[Network, np.ndarray], np.ndarray] = logits_along_parameters,
) -> float:
    """⟨θ, I(θ)θ⟩ over points (n, d), a squared norm, by one forward pass along the parameters.

    Parameters
    ----------
    targets : (n,) or (n, n_outputs) array, optional
        Labels, or values, for the empirical Fisher; the model's needs none.
    fisher : str
        "model" or "empirical".
    loss : str
        "cross_entropy", or "squared" (half the squared error: normal outcomes of variance one).
    along : callable
        What gives the derivative of the logits along the parameters.

    Examples
    --------
    >>> net = Network([[[1.0, -1.0]]], [[0.0, 0.0]])
    >>> round(fisher_rao(net, np.array([[0.0], [1.0]])), 3)
    0.21
    """
    logits, moved = network(inputs), along(network, inputs)
    if fisher == "empirical":
        assert targets is not None
        errors = output_errors(logits, targets, loss)[1]
        return float(np.mean((errors * moved).sum(axis=1) ** 2))
    if loss == "squared":
        return float(np.mean((moved**2).sum(axis=1)))
    p = softmax(logits, axis=1)
    return float(np.mean((p * (moved - (p * moved).sum(axis=1, keepdims=True)) ** 2).sum(axis=1)))


def closed_form_fisher_rao(*arguments: Any) -> float:
    """(L + 1)² E⟨∂ℓ/∂f, f⟩² for L hidden layers (Liang et al. 2019); arguments as of :func:`fisher_rao`.

    With biases the two forms differ, which the chapter measures.

    >>> net, points = Network([[[1.0, -1.0]]], [[0.0, 0.0]]), np.array([[0.0], [1.0]])
    >>> closed_form_fisher_rao(net, points) == fisher_rao(net, points)
    True
    """
    return fisher_rao(*arguments, along=homogeneous_logits)  # type: ignore[misc]  # four arguments at most
