"""Losses of outputs and targets, their derivatives by the outputs, and the metric that their curvature is.

The curvature of an example's loss by its outputs is W = R Rᵀ. For squared loss it is the identity. For cross-entropy it
is diag(p) − ppᵀ, with the root R = diag(√p) − p√pᵀ. Two arrays (N, K) give both, W = diag(roots²) − means meansᵀ.
"""

import numpy as np
from scipy.special import log_softmax, softmax

LOSSES = ("squared", "cross-entropy")
NUMBERS = 2**18
"""Numbers that are put into the metric of the loss at a time: as many as a cache holds."""


def losses_of(outputs: np.ndarray, targets: np.ndarray, loss: str) -> np.ndarray:
    """(N,) loss of each example; infinite where an output is NaN.

    >>> losses_of(np.array([[3.0], [np.nan]]), np.array([[1.0], [1.0]]), "squared").tolist()
    [2.0, inf]
    """
    if loss == "squared":
        values = np.square(outputs - targets).sum(axis=1) / 2
    else:
        values = -(targets * log_softmax(outputs, axis=1)).sum(axis=1)
    return np.where(np.isnan(values), np.inf, values)


def slopes_of(outputs: np.ndarray, targets: np.ndarray, loss: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Errors e = ∂ℓ/∂f, and roots and means of W = ∂²ℓ/∂f² = diag(roots²) − means meansᵀ; (N, K) arrays."""
    if loss == "squared":
        return outputs - targets, np.ones_like(outputs), np.zeros_like(outputs)
    p = softmax(outputs, axis=1)
    return p - targets, np.sqrt(p), p


def to_metric(columns: np.ndarray, roots: np.ndarray, means: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Rᵀu of columns (N·K, m): uₖ → √pₖ (uₖ − Σ p u) for cross-entropy, u for squared loss; ``out`` may be u itself."""
    if not means.any():
        return columns
    u = columns.reshape(*roots.shape, -1)
    result = np.empty_like(u) if out is None else out.reshape(u.shape)
    step = max(1, NUMBERS // max(u[0].size, 1))
    for i in range(0, len(u), step):
        part = slice(i, i + step)
        np.subtract(u[part], np.einsum("nk,nkm->nm", means[part], u[part])[:, None], out=result[part])
        result[part] *= roots[part, :, None]
    return result.reshape(columns.shape)


def from_metric(columns: np.ndarray, roots: np.ndarray, means: np.ndarray) -> np.ndarray:
    """R z of columns (N·K, m): the transpose of :func:`to_metric`."""
    z = columns.reshape(*roots.shape, -1) * roots[..., None]
    return (z - means[..., None] * z.sum(1, keepdims=True)).reshape(columns.shape)
