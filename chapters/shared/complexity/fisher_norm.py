"""The Fisher–Rao norm of a network, ⟨θ, I(θ)θ⟩ (slides, Liang et al. 2019): three routes, and two meanings of I.

It is a *squared* length. I(θ) is the mean of ∇ℓ ∇ℓᵀ over points x and outcomes y; "model" draws y from the network's
own prediction, "empirical" takes the labels. For cross-entropy the two part company once the labels are fitted: the
empirical one goes to zero with the loss.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from capcore.checks.arguments import one_of
from chapters.shared.complexity.gradients import check_outputs, check_targets, output_errors
from chapters.shared.complexity.network import Network, as_network

FISHERS = ("model", "empirical")
"""Where outcomes come from: drawn from the model's own prediction, or the labels of the data."""

HOMOGENEOUS = ("relu", "leaky_relu", "identity")


def logits_along_parameters(network: object, inputs: object) -> np.ndarray:
    """(n, n_outputs) derivative of the logits along the parameters themselves, d f((1 + t)θ)/dt at t = 0.

    One pass forward that carries values and their derivatives; biases are part of θ.

    >>> logits_along_parameters([([[2.0]], [0.0]), ([[3.0]], [0.0])], [[1.0]]).tolist()  # twice 6: two layers
    [[12.0]]
    """
    net = as_network(network)
    value = net.check_inputs(inputs)
    along = np.zeros_like(value)
    levels = net.pre_activations(inputs)
    for i, (w, b, z) in enumerate(zip(net.weights, net.biases, levels, strict=True)):
        along = along @ w + value @ w + b
        if i < len(levels) - 1:
            value, along = net.phi.value(z), net.phi.derivative(z) * along
    return along


def fisher_rao(
    network: object, inputs: object, targets: object = None, fisher: str = "model", loss: str = "cross_entropy"
) -> float:
    """⟨θ, I(θ)θ⟩ over the points, a squared norm, by one forward pass along the parameters.

    Parameters
    ----------
    network : Network
        Or what :func:`~chapters.shared.complexity.network.as_network` takes.
    inputs : (n, d) array_like
        One point a row.
    targets : (n,) or (n, n_outputs) array_like, optional
        Labels, or values, for the empirical Fisher; the model's needs none.
    fisher : str
        "model" or "empirical".
    loss : str
        "cross_entropy", or "squared" (half the squared error: normal outcomes of variance one).

    Raises
    ------
    ValueError
        For an empirical Fisher without targets, targets that do not fit, and cross-entropy of a network with one
        output, such as a binary classifier of scikit-learn: a softmax over one output is always 1.

    Examples
    --------
    >>> net = Network([[[1.0, -1.0]]], [[0.0, 0.0]])
    >>> round(fisher_rao(net, [[0.0], [1.0]]), 3)
    0.21
    """
    net = as_network(network)
    return _mean_square(net, inputs, logits_along_parameters(net, inputs), targets, fisher, loss)


def closed_form_fisher_rao(
    network: object, inputs: object, targets: object = None, fisher: str = "model", loss: str = "cross_entropy"
) -> float:
    """(L + 1)² E⟨∂ℓ/∂f, f⟩² for L hidden layers (Liang et al. 2019).

    Without biases a network of ReLUs is homogeneous of degree L + 1 in θ, so that f along θ is (L + 1) f.

    Parameters
    ----------
    network : Network
        This and the others as :func:`fisher_rao` takes them.
    inputs : (n, d) array_like
    targets : (n,) or (n, n_outputs) array_like, optional
    fisher : str
    loss : str

    Raises
    ------
    ValueError
        Where that is not so: for a network with biases, or with another activation.

    Examples
    --------
    >>> net = Network([[[1.0, -1.0]]], [[0.0, 0.0]])
    >>> closed_form_fisher_rao(net, [[0.0], [1.0]]) == fisher_rao(net, [[0.0], [1.0]])
    True
    """
    net = as_network(network)
    reason = "the closed form needs a homogeneous network. Use fisher_rao, which does not"
    if net.activation not in HOMOGENEOUS and net.n_hidden:
        expected = ", ".join(map(repr, HOMOGENEOUS))
        raise ValueError(f"network: found activation {net.activation!r}, expected one of {expected}: {reason}.")
    if any(np.any(b) for b in net.biases):
        raise ValueError(f"network: found biases that are not zero, expected none: {reason}.")
    return homogeneous_form(net, inputs, targets, fisher, loss)


def homogeneous_form(
    network: object, inputs: object, targets: object = None, fisher: str = "model", loss: str = "cross_entropy"
) -> float:
    """The closed form for any network, also where it does not hold: for measuring by how much."""
    net = as_network(network)
    return _mean_square(net, inputs, len(net.weights) * net(inputs), targets, fisher, loss)


def _mean_square(net: Network, inputs: object, along: np.ndarray, targets: object, fisher: str, loss: str) -> float:
    """E⟨∂ℓ/∂f, along⟩² over points and outcomes."""
    logits = net(inputs)
    if _is_empirical(fisher):
        errors = output_errors(logits, _targets(targets, logits, loss), loss)[1]
        return float(np.mean((errors * along).sum(axis=1) ** 2))
    check_outputs(logits.shape[1], loss)
    if loss == "squared":
        return float(np.mean((along**2).sum(axis=1)))
    p = softmax(logits, axis=1)
    return float(np.mean((p * (along - (p * along).sum(axis=1, keepdims=True)) ** 2).sum(axis=1)))


def _is_empirical(fisher: str) -> bool:
    return one_of(fisher, "fisher", FISHERS) == "empirical"


def _targets(targets: object, logits: np.ndarray, loss: str) -> np.ndarray:
    if targets is None:
        raise ValueError("targets: found none, expected the labels of the points: the empirical Fisher needs them.")
    return check_targets(targets, logits.shape, loss)
