"""Rank of the parameter Jacobian of many networks, quickly: the same space in two orthogonal pieces.

What :func:`~capcore.complexity.parameter_rank.parameter_rank` decomposes as a whole is split here. The last layer spans
Q ⊗ R^n_outputs exactly, with Q the span of what it reads; of the other layers only what is orthogonal to that is left
to decompose. The column space is the same one, and the tolerance is the package's, relative to all columns at unit
length before they were projected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from capcore.complexity.gradients import forward_pass, pulled_back
from capcore.complexity.network import Network
from capcore.constraints import ConstraintSpace, equilibrate, rank_tolerance


@dataclass(frozen=True)
class QuickRank:
    """The rank of the parameter Jacobian D on data.

    Attributes
    ----------
    rank : of D.
    gap : the smallest singular value that was counted over the largest that was not (or over the tolerance, if that is
        larger): how clear the decision was, in the part that is left to decompose.
    """

    rank: int
    gap: float


def quick_rank(network: Network, inputs: np.ndarray) -> QuickRank:
    """The rank of D (n · n_outputs, n_params) at inputs (n, d), and how clear it is.

    Directions that are as small as the rounding of the projection are not counted. Networks of few smooth units can
    have such; :func:`~capcore.complexity.parameter_rank.parameter_rank` counts them.

    >>> from capcore.complexity import random_network
    >>> rng = np.random.default_rng(0)
    >>> quick_rank(random_network([2, 3, 1], rng, bias_scale=0.5), 2 * rng.normal(size=(400, 2))).rank
    10
    """
    top, rest, threshold = _parts(network, inputs)
    n_top = network.widths[-1] * top.shape[1]
    if not rest.size:
        return QuickRank(n_top, np.inf)
    values = svd(rest, compute_uv=False, check_finite=False)
    counted = int(np.count_nonzero(values > threshold))
    left = max(float(values[counted]) if counted < len(values) else 0.0, threshold)
    return QuickRank(n_top + counted, float(values[counted - 1]) / left if counted and left > 0 else np.inf)


def example_leverage(network: Network, inputs: np.ndarray) -> np.ndarray:
    """(n,) how freely the logits of each example move, 0 to n_outputs: they sum to the rank.

    What :attr:`~capcore.complexity.parameter_rank.ParameterRank.per_example` says, from the same pieces.
    """
    top, rest, threshold = _parts(network, inputs)
    n_outputs = network.widths[-1]
    found = n_outputs * np.square(top).sum(axis=1)
    if not rest.size:
        return found
    u, values, _ = svd(rest, full_matrices=False, check_finite=False)
    counted = int(np.count_nonzero(values > threshold))
    if not counted:
        return found
    u = u[:, :counted].reshape(-1, n_outputs * counted)
    return found + np.square(_complement(top) @ u).sum(axis=1)


def participation_ratio(network: Network, inputs: np.ndarray) -> float:
    """(Σσ²)²/Σσ⁴ of the singular values σ of D at inputs (n, d): how many directions carry its motion, 1 to the rank.

    If the parameters move at random, alike in all directions, the logits move by σ along each singular vector. Unlike
    the rank it depends on the parametrisation: scaling a ReLU unit's weights in, and those out back, changes it.

    >>> participation_ratio(Network([np.eye(2)], [[0.0, 0.0]]), np.array([[1.0, 0.0]]))  # two outputs, alike
    2.0
    """
    layer_inputs, deltas = _backward(network, inputs)
    n, n_outputs = deltas[-1].shape[:2]
    kernel = np.zeros((n, n_outputs, n, n_outputs))
    for h, delta in zip(layer_inputs, deltas, strict=True):
        rows = delta.reshape(n * n_outputs, -1)
        kernel += (rows @ rows.T).reshape(kernel.shape) * (h @ h.T)[:, None, :, None]
    trace = float(np.einsum("ikik->", kernel))
    return trace**2 / float(np.vdot(kernel, kernel))


def _backward(network: Network, inputs: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What every layer reads with a column of ones, (n, fan_in + 1), and derivatives (n, n_outputs, fan_out)."""
    passed = forward_pass(network.weights, network.biases, network.phi, np.asarray(inputs, float))
    n, n_outputs = passed.logits.shape
    by_output = []
    for k in range(n_outputs):
        errors = np.zeros((n, n_outputs))
        errors[:, k] = 1.0
        by_output.append(pulled_back(network.weights, passed, errors))
    deltas = [np.stack(layer, axis=1) for layer in zip(*by_output, strict=True)]
    return [np.column_stack([h, np.ones(n)]) for h in passed.layer_inputs], deltas


def _parts(network: Network, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """A basis (n, r) of what the last layer reads; the other layers' columns, orthogonal to it, (·, p); a tolerance.

    The tolerance for singular values of these columns is relative to the length of all columns before they were
    projected, over the conditioning of what the last layer reads: where nothing is left of them but the rounding of
    the projection, it is not counted.
    """
    layer_inputs, deltas = _backward(network, inputs)
    read = ConstraintSpace.from_columns(layer_inputs[-1])
    top, across = read.basis, _complement(read.basis)
    parts = [
        np.einsum("ia,ikj->ikaj", h, delta).reshape(len(h), -1)
        for h, delta in zip(layer_inputs[:-1], deltas[:-1], strict=True)
    ]
    n_outputs = network.widths[-1]
    # Unit columns first: after the projection what is left of one may be rounding alone.
    parts = [equilibrate(part.reshape(-1, part.shape[1] // n_outputs)).reshape(part.shape) for part in parts]
    if not parts or not across.size:
        return top, np.empty((0, 0)), 0.0
    left = np.hstack([(across.T @ part).reshape(across.shape[1] * n_outputs, -1) for part in parts])
    length = float(np.sqrt(sum(np.vdot(part, part) for part in parts)))
    conditioning = float(read.singular_values[read.dimension - 1] / read.singular_values[0])
    return top, left, rank_tolerance((len(across) * n_outputs, left.shape[1]), length / conditioning)


def _complement(basis: np.ndarray) -> np.ndarray:
    """(n, n − r) orthonormal, orthogonal to the basis (n, r)."""
    return np.linalg.qr(basis, mode="complete")[0][:, basis.shape[1] :]
