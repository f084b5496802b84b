"""Losses of outputs and targets, their derivatives by the outputs, and the metric that their curvature is.

A loss adds up terms ℓ(f, y) of positions, such as examples, tokens and pixels, each of which has K outputs f. Its
curvature W = ∂²ℓ/∂f² = R Rᵀ is the metric of the Gauss–Newton form JᵀWJ. Two arrays (M, K), of M positions, give it:
R = (I − means 1ᵀ) diag(roots). For cross-entropy roots are √p and means p, so that W = diag(p) − ppᵀ; for losses that
add up over outputs means are 0. Weights of terms multiply ℓ, and with it the slope and W.

Each W is the second derivative of the loss, also where a Fisher matrix or reweighting would be another choice. So an
outlier of Huber's loss, whose slope is constant, has W = 0 and no leverage: no small change of its target is followed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax, softmax, xlogy

NUMBERS = 2**18
"""Numbers that are put into the metric of the loss at a time: as many as a cache holds."""


@dataclass(frozen=True, eq=False)
class Loss:
    """A loss ℓ(f, y), in rows of outputs f (M, K), targets y and weights w of the same shape.

    Attributes
    ----------
    name : str
    value : callable
        (f, y, w) → (M,) losses.
    slopes : callable
        (f, y, w) → ∂ℓ/∂f, roots and means; roots may be R itself, (M, K, K).
    dependent : int
        1 where the targets of a position sum to 1, and 0 where they are free.
    follows : str
        What −∂²ℓ/∂f∂y is: the "weights", the "curvature" W, or "unknown".
    likelihood : bool
        Whether ℓ is −log of a likelihood, rather than of unknown scale.
    weights : (N, T·K) array or number
        Weight of each term.
    n_outputs : int, optional
        K; by default all outputs of an example.
    """

    name: str
    value: Callable[..., np.ndarray]
    slopes: Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]
    dependent: int = 0
    follows: str = "weights"
    likelihood: bool = True
    weights: Any = 1.0
    n_outputs: int | None = None

    def on(self, weights: np.ndarray, n_outputs: int) -> "Loss":
        """This loss with weights (N, T·K), for positions of ``n_outputs`` outputs."""
        return replace(self, weights=weights, n_outputs=n_outputs)

    def rows(self, outputs: np.ndarray, targets: np.ndarray) -> list[np.ndarray]:
        """Outputs, targets and weights of positions, (M, K)."""
        k = self.n_outputs or outputs.shape[1]
        return [np.broadcast_to(a, outputs.shape).reshape(-1, k) for a in (outputs, targets, self.weights)]

    def n_fitted(self, shape: tuple[int, ...]) -> int:
        """Numbers that targets can choose: of weighted terms, one less a position where probabilities sum to 1."""
        weighted = self.rows(np.ones(shape), np.ones(shape))[2] > 0
        return int(np.count_nonzero(weighted) - self.dependent * np.count_nonzero(weighted.any(1)))


def _of_each(name: str, value: Any, slope: Any, curvature: Any, **options: Any) -> Loss:
    """A loss that adds up over outputs, from functions of f and y."""

    def slopes(f: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return w * slope(f, y), np.sqrt(w * curvature(f, y)), np.zeros(f.shape)

    return Loss(name, lambda f, y, w: (w * value(f, y)).sum(1), slopes, **options)


def huber(threshold: float = 1.0) -> Loss:
    """Huber's loss: ½r² for residuals r = f − y up to a threshold t, and t(|r| − t/2) beyond.

    >>> huber(2.0).value(np.array([[1.0], [5.0]]), np.zeros((2, 1)), 1.0).tolist()
    [0.5, 8.0]
    """

    def value(f: np.ndarray, y: np.ndarray) -> np.ndarray:
        size = np.abs(f - y)
        inner = np.minimum(size, threshold)
        return inner * (size - inner / 2)

    return _of_each(
        "huber", value, lambda f, y: np.clip(f - y, -threshold, threshold),
        lambda f, y: (np.abs(f - y) <= threshold).astype(float), follows="curvature", likelihood=False,
    )  # fmt: skip


def quantile(level: float = 0.5, width: float = 1.0) -> Loss:
    """The smoothed loss of a quantile: with r = f − y, (1 − level)·r + width·log(1 + e^(−r/width)).

    It is the pinball loss convolved with a logistic density (He et al., 2023), and tends to it for small widths, in
    units of the targets. Without smoothing there is no curvature, and nothing would respond.

    >>> quantile(0.9, 1e-3).value(np.array([[1.0], [-1.0]]), np.zeros((2, 1)), 1.0).round(9).tolist()
    [0.1, 0.9]
    """

    def curvature(f: np.ndarray, y: np.ndarray) -> np.ndarray:
        return expit((f - y) / width) * expit((y - f) / width) / width

    return _of_each(
        "quantile", lambda f, y: (1 - level) * (f - y) + width * np.logaddexp(0, (y - f) / width),
        lambda f, y: expit((f - y) / width) - level, curvature, follows="curvature", likelihood=False,
    )  # fmt: skip


def _softmax_slopes(f: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    p, mass = softmax(f, axis=1), (w * y).sum(1, keepdims=True)
    return mass * p - w * y, np.sqrt(mass * p), p


LOSSES = {
    "squared": _of_each(
        "squared", lambda f, y: np.square(f - y) / 2, lambda f, y: f - y, lambda f, y: np.ones(f.shape),
        likelihood=False,
    ),
    "cross-entropy": Loss(
        "cross-entropy", lambda f, y, w: -(w * y * log_softmax(f, axis=1)).sum(1), _softmax_slopes, dependent=1
    ),
    "binary cross-entropy": _of_each(
        "binary cross-entropy", lambda f, y: np.logaddexp(0, f) - y * f, lambda f, y: expit(f) - y,
        lambda f, y: expit(f) * expit(-f),
    ),
    "poisson": _of_each(  # half the deviance, which is never negative
        "poisson", lambda f, y: np.exp(f) - y * f - y + xlogy(y, y), lambda f, y: np.exp(f) - y, lambda f, y: np.exp(f)
    ),
    "huber": huber(),
    "quantile": quantile(),
}  # fmt: skip


def of_function(function: Callable[[Any, Any], Any], derivatives: Any) -> Loss:
    """A loss (f, y) → number of one position, (K,) each, differentiated by the library of the network.

    Directions of negative curvature have no part in W.
    """

    def call(change: Callable[[Any], Any], f: np.ndarray, y: np.ndarray) -> np.ndarray:
        with derivatives.precision():
            return np.array(derivatives.transforms.vmap(change(function))(*map(derivatives.array, (f, y))), float)

    def slopes(f: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sizes, axes = np.linalg.eigh(call(derivatives.transforms.hessian, f, y))
        roots = axes * np.sqrt(np.maximum(sizes, 0.0) * w)[:, None]
        return w * call(derivatives.transforms.grad, f, y), roots, np.zeros(f.shape)

    name = getattr(function, "__name__", "loss")
    return Loss(name, lambda f, y, w: w[:, 0] * call(lambda one: one, f, y), slopes, follows="unknown")


def losses_of(outputs: np.ndarray, targets: np.ndarray, loss: str | Loss) -> np.ndarray:
    """(N,) loss of each example; infinite where an output is NaN.

    >>> losses_of(np.array([[3.0], [np.nan]]), np.array([[1.0], [1.0]]), "squared").tolist()
    [2.0, inf]
    """
    loss = LOSSES[loss] if isinstance(loss, str) else loss
    values = loss.value(*loss.rows(outputs, targets)).reshape(len(outputs), -1).sum(axis=1)
    return np.where(np.isnan(values), np.inf, values)


def slopes_of(outputs: np.ndarray, targets: np.ndarray, loss: str | Loss) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Errors e = ∂ℓ/∂f, in the shape of the outputs, and roots and means (M, K) of W = ∂²ℓ/∂f²."""
    loss = LOSSES[loss] if isinstance(loss, str) else loss
    errors, roots, means = loss.slopes(*loss.rows(outputs, targets))
    return errors.reshape(outputs.shape), roots, means


def to_metric(columns: np.ndarray, roots: np.ndarray, means: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Rᵀu of columns (M·K, m): uₖ → rootsₖ (uₖ − Σ means u), which is u for squared loss; ``out`` may be u itself."""
    if roots.ndim == 3:
        return (np.swapaxes(roots, 1, 2) @ columns.reshape(*means.shape, -1)).reshape(columns.shape)
    if not means.any():
        return columns if np.all(roots == 1) else np.multiply(columns, roots.reshape(-1, 1), out=out)
    u = columns.reshape(*roots.shape, -1)
    result = np.empty_like(u) if out is None else out.reshape(u.shape)
    step = max(1, NUMBERS // max(u[0].size, 1))
    for i in range(0, len(u), step):
        part = slice(i, i + step)
        np.subtract(u[part], np.einsum("nk,nkm->nm", means[part], u[part])[:, None], out=result[part])
        result[part] *= roots[part, :, None]
    return result.reshape(columns.shape)


def from_metric(columns: np.ndarray, roots: np.ndarray, means: np.ndarray) -> np.ndarray:
    """R z of columns (M·K, m): the transpose of :func:`to_metric`."""
    rows = columns.reshape(*means.shape, -1)
    z = roots @ rows if roots.ndim == 3 else rows * roots[..., None]
    return (z - means[..., None] * z.sum(1, keepdims=True)).reshape(columns.shape)
