"""Losses of networks and their gradients by backpropagation, for one network or for several of one shape at once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from chapters.shared.complexity.activations import Activation
from chapters.shared.complexity.network import Network


class ForwardPass(NamedTuple):
    """What a forward pass leaves for the way back; leading axes ``…`` are runs, or none.

    Attributes
    ----------
    layer_inputs : list of array
        L arrays (…, n, fan_in), what every layer reads, lowest first.
    slopes : list of array
        L − 1 arrays (…, n, width) of the activation's slopes in the hidden layers.
    logits : (…, n, n_outputs) array
    """

    layer_inputs: list[np.ndarray]
    slopes: list[np.ndarray]
    logits: np.ndarray


def forward_pass(
    weights: Sequence[np.ndarray], biases: Sequence[np.ndarray], phi: Activation, inputs: np.ndarray
) -> ForwardPass:
    """The forward pass of weights (…, fan_in, fan_out) and biases (…, fan_out) at inputs (…, n, d)."""
    layer_inputs, slopes = [inputs], []
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        z = layer_inputs[-1] @ w + b[..., None, :]
        layer_inputs.append(phi.value(z))
        slopes.append(phi.derivative(z))
    return ForwardPass(layer_inputs, slopes, layer_inputs[-1] @ weights[-1] + biases[-1][..., None, :])


def output_errors(logits: np.ndarray, targets: np.ndarray, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """Losses (…, n) of every point and their derivatives (…, n, n_outputs) with respect to its logits.

    "cross_entropy" is −log of the softmax probability of the label, in nats, with targets (…, n) of whole numbers;
    "squared" half the squared error over all outputs, with targets (…, n, n_outputs).

    >>> output_errors(np.zeros((1, 2)), np.array([1]), "cross_entropy")[1].tolist()
    [[0.5, -0.5]]
    """
    if loss == "squared":
        errors = logits - targets
        return 0.5 * (errors**2).sum(axis=-1), errors
    logs = log_softmax(logits, axis=-1)
    at = np.broadcast_to(targets, logits.shape[:-1])[..., None]
    errors = np.exp(logs)
    np.put_along_axis(errors, at, np.take_along_axis(errors, at, -1) - 1, -1)
    return -np.take_along_axis(logs, at, -1)[..., 0], errors


def pulled_back(weights: Sequence[np.ndarray], passed: ForwardPass, errors: np.ndarray) -> list[np.ndarray]:
    """L arrays (…, n, fan_out): derivatives with respect to all pre-activations, from ``errors`` at the logits."""
    deltas = [errors]
    for w, slope in zip(weights[:0:-1], passed.slopes[::-1], strict=True):
        deltas.append((deltas[-1] @ np.swapaxes(w, -1, -2)) * slope)
    return deltas[::-1]


def loss_gradients(
    weights: Sequence[np.ndarray],
    biases: Sequence[np.ndarray],
    phi: Activation,
    inputs: np.ndarray,
    targets: np.ndarray,
    loss: str = "cross_entropy",
) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Mean loss (…) over the points, and its gradients with respect to all weights and all biases."""
    passed = forward_pass(weights, biases, phi, inputs)
    losses, errors = output_errors(passed.logits, targets, loss)
    deltas = pulled_back(weights, passed, errors / losses.shape[-1])
    by_weights = [np.swapaxes(h, -1, -2) @ delta for h, delta in zip(passed.layer_inputs, deltas, strict=True)]
    return losses.mean(axis=-1), by_weights, [delta.sum(axis=-2) for delta in deltas]


def point_gradients(network: Network, inputs: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """(n, n_params) gradients, one a row, of Σ_k errors[i, k]·logit_k(x_i): of every point's loss, if given its errors.

    Inputs (n, d), errors (n, n_outputs). Parameters come layer by layer, lowest first: weights row by row, then biases.
    It is the matrix that the explicit Fisher information needs, and meant for small networks.

    >>> point_gradients(Network([[[2.0]]], [[0.0]]), np.array([[3.0]]), np.array([[1.0]])).tolist()
    [[3.0, 1.0]]
    """
    passed = forward_pass(network.weights, network.biases, network.phi, inputs)
    parts = []
    for below, delta in zip(passed.layer_inputs, pulled_back(network.weights, passed, errors), strict=True):
        parts += [(below[:, :, None] * delta[:, None, :]).reshape(len(errors), -1), delta]
    return np.concatenate(parts, axis=1)
