"""Losses of networks and their gradients by backpropagation, for one network or for several of one shape at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from capcore.checks.arguments import finite_array, one_of
from chapters.shared.complexity.activations import Activation
from chapters.shared.complexity.network import Network, out_of_range

LOSSES = ("cross_entropy", "squared")
"""Losses of a point: −log of the softmax probability of its label, in nats; or half its squared error, all outputs."""


@dataclass(frozen=True, eq=False)
class ForwardPass:
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
        value, slope = _value_and_slope(phi, z)
        layer_inputs.append(value)
        slopes.append(slope)
    return ForwardPass(layer_inputs, slopes, layer_inputs[-1] @ weights[-1] + biases[-1][..., None, :])


def output_errors(logits: np.ndarray, targets: np.ndarray, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """Losses (…, n) of every point and their derivatives (…, n, n_outputs) with respect to its logits.

    Parameters
    ----------
    logits : (…, n, n_outputs) array
    targets : (…, n) or (…, n, n_outputs) array
        Labels for "cross_entropy", values for "squared".

    Examples
    --------
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
    found = [errors]
    for w, slope in zip(weights[:0:-1], passed.slopes[::-1], strict=True):
        found.append((found[-1] @ np.swapaxes(w, -1, -2)) * slope)
    return found[::-1]


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


def point_gradients(network: Network, inputs: object, errors: object) -> np.ndarray:
    """(n, n_params) gradients, one a row, of Σ_k errors[i, k]·logit_k(x_i): of every point's loss, if given its errors.

    Parameters come layer by layer, lowest first: weights row by row, then biases. It is the matrix that the explicit
    Fisher information needs, and meant for small networks.

    Parameters
    ----------
    inputs : (n, d) array_like
    errors : (n, n_outputs) array_like
        Such as :func:`output_errors` gives.

    Examples
    --------
    >>> point_gradients(Network([[[2.0]]], [[0.0]]), [[3.0]], [[1.0]]).tolist()
    [[3.0, 1.0]]
    """
    if out_of_range(network, network.check_inputs(inputs)):
        raise ValueError(out_of_range(network, network.check_inputs(inputs)))
    passed = forward_pass(network.weights, network.biases, network.phi, network.check_inputs(inputs))
    by_logits = finite_array(errors, "errors", 2)
    if by_logits.shape != passed.logits.shape:
        raise ValueError(f"errors: found shape {by_logits.shape}, expected {passed.logits.shape}, that of the logits.")
    deltas = pulled_back(network.weights, passed, by_logits)
    n = len(by_logits)
    parts = []
    for below, delta in zip(passed.layer_inputs, deltas, strict=True):
        parts += [(below[:, :, None] * delta[:, None, :]).reshape(n, -1), delta]
    return np.concatenate(parts, axis=1)


def check_outputs(n_outputs: int, loss: str) -> None:
    """Refuse an unknown loss, and cross-entropy of one output, as binary classifiers have."""
    if one_of(loss, "loss", LOSSES) == "cross_entropy" and n_outputs < 2:
        raise ValueError(
            "network: found one output, expected at least two for cross-entropy: a softmax over one is always 1. For "
            "two classes put a logit that is always 0 before it."
        )


def check_targets(targets: object, shape: tuple[int, ...], loss: str) -> np.ndarray:
    """``targets`` as the loss needs them for logits of ``shape`` (n, n_outputs) or (runs, n, n_outputs).

    Raises
    ------
    ValueError
        For an unknown loss, another shape, labels that are not whole numbers below n_outputs, and cross-entropy of one
        output.
    """
    check_outputs(shape[-1], loss)
    labels = loss == "cross_entropy"
    found = finite_array(targets, "targets", (1, 2) if labels else (2, 3))
    wanted = shape[:-1] if labels else shape
    if found.shape not in (wanted, wanted[1:]):
        raise ValueError(
            f"targets: found shape {found.shape}, expected {wanted}"
            + (f" or {wanted[1:]}" if len(shape) == 3 else "")
            + (", one label a point." if labels else ", one value for every output of a point.")
        )
    if labels and (np.any(found != np.floor(found)) or found.min() < 0 or found.max() >= shape[-1]):
        raise ValueError(f"targets: found labels outside 0 … {shape[-1] - 1}, expected whole numbers, one per output.")
    return found.astype(int) if labels else found


def _value_and_slope(phi: Activation, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if phi.name == "relu":  # the two that training uses most, without looking up pieces
        return np.maximum(z, 0), (z > 0).astype(float)
    if phi.name == "tanh":
        value = np.tanh(z)
        return value, 1 - value**2
    return phi.value(z), phi.derivative(z)
