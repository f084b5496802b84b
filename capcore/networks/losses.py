"""Losses of outputs and targets, their derivatives by the outputs, and the metric that their curvature is.

A loss adds up terms ℓ(f, y) of positions, such as examples, tokens and pixels, each of which has K outputs f. Its
curvature W = ∂²ℓ/∂f² = R Rᵀ is the metric of the Gauss–Newton form JᵀWJ. Two arrays (M, K), of M positions, give it:
R = (I − means 1ᵀ) diag(roots). For cross-entropy roots are √p and means p, so that W = diag(p) − ppᵀ; for losses that
add up over outputs means are 0. Weights of terms multiply ℓ, and with it the slope and W.

Each W is the second derivative of the loss, also where a Fisher matrix or reweighting would be another choice. So an
outlier of Huber's loss, whose slope is constant, has W = 0 and no leverage: no small change of its target is followed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from capcore.checks.arguments import positive_number


@dataclass(frozen=True, eq=False)
class Loss:
    """A loss ℓ(f, y), in rows of outputs f (M, K), targets y and weights w of the same shape.

    Attributes
    ----------
    name : str
    terms : callable
        (f, y, w) → losses (M,), slopes ∂ℓ/∂f (M, K), roots and means.
    dependent : int
        1 where the targets of a position sum to 1, and 0 where they are free.
    weights : (N, T·K) array or float
        Weight of each term.
    n_outputs : int, optional
        K; by default all outputs of an example.
    """

    name: str
    terms: Callable[..., tuple[np.ndarray, ...]]
    dependent: int = 0
    weights: Any = 1.0
    n_outputs: int | None = None

    def rows(self, outputs: np.ndarray, targets: np.ndarray) -> list[np.ndarray]:
        """Outputs, targets and weights of positions, (M, K)."""
        k = self.n_outputs or outputs.shape[1]
        return [np.broadcast_to(a, outputs.shape).reshape(-1, k) for a in (outputs, targets, self.weights)]

    def n_fitted(self, shape: tuple[int, ...]) -> int:
        """Numbers that targets can choose: of weighted terms, one less a position where probabilities sum to 1."""
        count = np.count_nonzero(np.broadcast_to(self.weights, shape))
        return int(count - self.dependent * count // (self.n_outputs or shape[1]))


def elementwise(name: str, terms: Callable[..., tuple[Any, Any, Any]]) -> Loss:
    """A loss that adds up over outputs, from (f, y) → its value, first and second derivative by f, all (M, K)."""

    def weighted(f: Any, y: Any, w: Any) -> tuple[np.ndarray, ...]:
        value, slope, curvature = terms(f, y)
        return (w * value).sum(1), w * slope, np.sqrt(w * curvature), 0 * f

    return Loss(name, weighted)


def huber(threshold: float = 1.0) -> Loss:
    """Huber's loss: ½r² for residuals r = f − y up to a threshold t, and t(|r| − t/2) beyond.

    >>> losses_of(np.array([[1.0], [5.0]]), np.zeros((2, 1)), huber(2.0)).tolist()
    [0.5, 8.0]
    """
    t = positive_number(threshold, "threshold")
    return elementwise("huber", lambda f, y: (special.huber(t, f - y), np.clip(f - y, -t, t), abs(f - y) <= t))


def quantile(level: float = 0.5, width: float = 1.0) -> Loss:
    """The smoothed loss of a quantile: with r = f − y, (1 − level)·r + width·log(1 + e^(−r/width)).

    It is the pinball loss convolved with a logistic density (He et al., 2023), or width times the binary cross-entropy
    of the logit r/width and the label ``level``. For small widths, in units of the targets, it tends to the pinball
    loss, which has no curvature: nothing would respond.

    >>> losses_of(np.array([[1.0], [-1.0]]), np.zeros((2, 1)), quantile(0.9, 1e-3)).round(9).tolist()
    [0.1, 0.9]
    """
    q, h = positive_number(level, "level"), positive_number(width, "width")
    positive_number(1 - q, "1 - level")

    def terms(f: Any, y: Any) -> tuple[Any, Any, Any]:
        value, slope, curvature = _binary((f - y) / h, q)
        return h * value, slope, curvature / h

    return elementwise("quantile", terms)


def _categorical(f: Any, y: Any, w: Any) -> tuple[np.ndarray, ...]:
    logs, mass = special.log_softmax(f, axis=1), (w * y).sum(1, keepdims=True)
    p = np.exp(logs)
    return -(w * y * logs).sum(1), mass * p - w * y, np.sqrt(mass * p), p


def _binary(f: Any, y: Any) -> tuple[Any, Any, Any]:
    p = special.expit(f)
    return np.logaddexp(0, f) - y * f, p - y, p * (1 - p)


LOSSES: dict[Any, Any] = {
    "squared": elementwise("squared", lambda f, y: ((f - y) ** 2 / 2, f - y, 1.0)),
    "cross-entropy": Loss("cross-entropy", _categorical, dependent=1),
    "binary cross-entropy": elementwise("binary cross-entropy", _binary),
    "poisson": elementwise(
        "poisson", lambda f, y: (np.exp(f) - y * f - y + special.xlogy(y, y), np.exp(f) - y, np.exp(f))
    ),
    "huber": huber(),
    "quantile": quantile(),
}


def _terms(outputs: np.ndarray, targets: np.ndarray, loss: str | Loss) -> tuple[np.ndarray, ...]:
    known = LOSSES.get(loss, loss)
    return known.terms(*known.rows(outputs, targets))


def losses_of(outputs: np.ndarray, targets: np.ndarray, loss: str | Loss) -> np.ndarray:
    """(N,) loss of each example; infinite where an output is NaN.

    >>> losses_of(np.array([[3.0], [np.nan]]), np.array([[1.0], [1.0]]), "squared").tolist()
    [2.0, inf]
    """
    values = _terms(outputs, targets, loss)[0].reshape(len(outputs), -1).sum(axis=1)
    return np.where(np.isnan(values), np.inf, values)


def slopes_of(outputs: np.ndarray, targets: np.ndarray, loss: str | Loss) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Errors e = ∂ℓ/∂f, in the shape of the outputs, and roots and means (M, K) of W = ∂²ℓ/∂f²."""
    _, errors, roots, means = _terms(outputs, targets, loss)
    return errors.reshape(outputs.shape), roots, means


def to_metric(columns: np.ndarray, roots: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Rᵀu of columns (M·K, m) or (N, T·K, m): uₖ → rootsₖ (uₖ − Σ means u)."""
    u = columns.reshape(*roots.shape, -1)
    if means.any():
        u = u - np.einsum("nk,nkm->nm", means, u)[:, None]
        u *= roots[..., None]
    elif np.any(roots != 1):
        u = u * roots[..., None]
    return u.reshape(columns.shape)


def from_metric(columns: np.ndarray, roots: np.ndarray, means: np.ndarray) -> np.ndarray:
    """R z of columns (M·K, m) or (N, T·K, m): the transpose of :func:`to_metric`."""
    z = columns.reshape(*roots.shape, -1) * roots[..., None]
    return (z - means[..., None] * z.sum(1, keepdims=True)).reshape(columns.shape)
