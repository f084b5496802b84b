"""The optimum of a network that is linearised at its weights, with squared loss or cross-entropy.

Outputs are fᵢ + Jᵢδ, and the loss Σᵢ ℓ(fᵢ + Jᵢδ, yᵢ) + R(θ + δ) is convex in δ. Its curvature is the Gauss–Newton
matrix A = Σᵢ JᵢᵀWᵢJᵢ + ∇²R, with Wᵢ = ∂²ℓ/∂f² at those outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.linalg import cholesky, eigh, lapack, solve_triangular
from scipy.special import log_softmax, softmax

from capcore.architectures.columns import rank_tolerance
from capcore.checks.memory import arrays, fits, too_large
from capcore.networks.problem import to_metric

STEPS = 50
"""Newton steps to the optimum at most; it takes one for squared loss, and for cross-entropy about five."""
FOUND = 1e-8
"""Share of the loss that the last step may have removed."""
SINGULAR = float(np.sqrt(np.finfo(float).eps))
"""Where 1 − leverage is below this, nothing but the example itself fixes its outputs."""


def losses_of(outputs: np.ndarray, targets: np.ndarray, loss: str) -> np.ndarray:
    """(N,) loss of each example; infinite where an output is NaN.

    >>> losses_of(np.array([[3.0], [np.nan]]), np.array([[1.0], [1.0]]), "squared").tolist()
    [2.0, inf]
    """
    if loss == "squared":
        found = np.square(outputs - targets).sum(axis=1) / 2
    else:
        found = -(targets * log_softmax(outputs, axis=1)).sum(axis=1)
    return np.where(np.isnan(found), np.inf, found)


def slopes_of(outputs: np.ndarray, targets: np.ndarray, loss: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """e = ∂ℓ/∂f, and roots and means of W = ∂²ℓ/∂f² = diag(roots²) − means meansᵀ; each (N, K)."""
    if loss == "squared":
        return outputs - targets, np.ones_like(outputs), np.zeros_like(outputs)
    p = softmax(outputs, axis=1)
    return p - targets, np.sqrt(p), p


def generalised(errors: np.ndarray, total: float) -> float:
    """Generalised cross-validation of residuals (N, K) in units of the loss: ½·mean‖e‖²/(1 − total/(N·K))².

    Leave-one-out with the leverage of every number replaced by their mean (Craven and Wahba, 1979); infinite where
    the total is N·K.

    >>> generalised(np.ones((4, 1)), 2.0), generalised(np.ones((4, 1)), 4.0)
    (2.0, inf)
    """
    rest = 1 - total / errors.size
    return float(np.square(errors).sum(axis=1).mean() / 2 / rest**2) if rest > SINGULAR else float("inf")


@dataclass(frozen=True, eq=False)
class Inverse:
    """A⁻¹ = F Fᵀ of a positive definite matrix; or its pseudo-inverse, without directions that are numerically zero.

    Attributes
    ----------
    lower : (p, p) array or None
        Cholesky's L, for F = L⁻ᵀ.
    root : (p, q) array or None
        F, from eigenvectors.
    """

    lower: np.ndarray | None = field(repr=False)
    root: np.ndarray | None = field(repr=False)

    @classmethod
    def of(cls, matrix: np.ndarray) -> Inverse:
        """By Cholesky's method where the condition number allows it.

        Raises ``ValueError`` if an eigenvalue is negative.

        >>> np.abs(Inverse.of(np.diag([4.0, 0.0])).half(np.eye(2))).tolist()
        [[0.5, 0.0]]
        """
        try:
            lower = cholesky(matrix, lower=True, check_finite=False)
            condition = lapack.dpocon(lower, np.abs(matrix).sum(axis=0).max(), uplo="L")[0]
            if condition > rank_tolerance(matrix.shape, 1.0):
                return cls(lower, None)
        except np.linalg.LinAlgError:
            pass
        values, vectors = eigh(matrix, check_finite=False)
        tolerance = rank_tolerance(matrix.shape, float(np.abs(values).max(initial=0.0)))
        if values[0] < -tolerance:
            raise ValueError(
                f"weight_decay: found a function with a negative curvature, {values[0]:.2g} beside that of the losses, "
                "expected a convex one, such as a sum of squares."
            )
        kept = values > tolerance
        return cls(None, vectors[:, kept] / np.sqrt(values[kept]))

    def half(self, v: np.ndarray) -> np.ndarray:
        """Fᵀ times (p,) or (p, m)."""
        if self.root is not None:
            return self.root.T @ v
        return solve_triangular(self.lower, v, lower=True, check_finite=False)

    def other_half(self, u: np.ndarray) -> np.ndarray:
        """F times (q,) or (q, m)."""
        if self.root is not None:
            return self.root @ u
        return solve_triangular(self.lower, u, lower=True, trans="T", check_finite=False)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The optimum of a linearised network: what leaving out one example needs.

    Attributes
    ----------
    outputs, targets : (N, K) array
        f̄ and y.
    errors : (N, K) array
        ē.
    roots, means : (N, K) array
        W = diag(roots²) − means meansᵀ.
    blocks : (N, K, K) array
        B.
    loss : str
        "squared" or "cross-entropy".
    step : (p,) array
        δ.
    fall : float
        By how much the loss is lower than at the weights; infinite if no optimum was found.
    """

    outputs: np.ndarray = field(repr=False)
    targets: np.ndarray = field(repr=False)
    errors: np.ndarray = field(repr=False)
    roots: np.ndarray = field(repr=False)
    means: np.ndarray = field(repr=False)
    blocks: np.ndarray = field(repr=False)
    loss: str
    step: np.ndarray = field(repr=False)
    fall: float

    @cached_property
    def response(self) -> np.ndarray:
        """(N, K, K) blocks RᵀBᵢR of S."""
        root = (np.eye(self.roots.shape[1]) - self.means[:, :, None]) * self.roots[:, None]
        return np.swapaxes(root, 1, 2) @ self.blocks @ root

    @cached_property
    def leverage(self) -> np.ndarray:
        """(N,) largest eigenvalue of each block of S."""
        return np.linalg.eigvalsh(self.response)[:, -1]

    @cached_property
    def total(self) -> float:
        """tr S."""
        return float(np.trace(self.response, axis1=1, axis2=2).sum())

    def left_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Outputs left out (N, K), and squared lengths δᵀAδ (N,) of the steps; NaN where the leverage is 1."""
        identity = np.eye(self.roots.shape[1])
        curvature = np.square(self.roots)[:, None] * identity - self.means[:, :, None] * self.means[:, None]
        fixed = self.leverage < 1 - SINGULAR
        blocks = np.where(fixed[:, None, None], self.blocks, 0.0)
        slopes = np.linalg.solve(identity - curvature @ blocks, self.errors[:, :, None])[:, :, 0]
        moved = np.einsum("nkl,nl->nk", blocks, slopes)
        lengths = (slopes * moved).sum(axis=1)
        return np.where(fixed[:, None], self.outputs + moved, np.nan), np.where(fixed, lengths, np.nan)

    @property
    def noise(self) -> float:
        """s², the variance of the residuals by their degrees of freedom; 1 for cross-entropy."""
        if self.loss == "cross-entropy":
            return 1.0
        return float(np.square(self.errors).sum()) / max(self.errors.size - self.total, SINGULAR * self.errors.size)

    @property
    def gcv(self) -> float:
        """Generalised cross-validation; NaN for cross-entropy."""
        return generalised(self.errors, self.total) if self.loss == "squared" else float("nan")


def optimum(
    jacobian: np.ndarray, outputs: np.ndarray, targets: np.ndarray, added: np.ndarray, slope: np.ndarray, loss: str
) -> Optimum:
    """The linearised network's optimum by Newton's method, each step halved until the loss falls.

    Parameters
    ----------
    jacobian : (N, K, p) array
        J.
    outputs, targets : (N, K) array
        f and y; logits and probabilities for cross-entropy.
    added : (p,) or (p, p) array
        ∇²R, or its diagonal.
    slope : (p,) array
        ∇R.
    loss : str
        "squared" or "cross-entropy", summed over examples.

    Raises
    ------
    ValueError
        If A has a negative eigenvalue.
    TooLargeError
        If arrays would not fit into memory.

    Examples
    --------
    >>> x, y = np.eye(2)[:, None], np.array([[2.0], [4.0]])
    >>> optimum(x, 0 * y, y, np.ones(2), np.zeros(2), "squared").outputs.ravel().round(9).tolist()
    [1.0, 2.0]
    """
    n, k, p = jacobian.shape
    n_bytes = arrays(n * k, p, copies=3) + arrays(p, p, copies=3) + arrays(n * k, k, copies=6)
    if not fits(n_bytes):
        found = f"linearised: found {n:,} examples of {k:,} outputs and {p:,} parameters"
        raise too_large(found, n_bytes, "Leave out a part of the examples, or use fewer parameters.")
    flat, matrix = jacobian.reshape(n * k, p), np.diag(added) if added.ndim == 1 else added

    def value(step: np.ndarray) -> float:
        losses = losses_of(outputs + (flat @ step).reshape(n, k), targets, loss)
        return float(losses.sum() + slope @ step + step @ matrix @ step / 2)

    step, rounding = np.zeros(p), (1e3 * np.finfo(float).eps * float(np.linalg.norm(targets))) ** 2
    first = present = value(step)
    for count in range(STEPS + 1):
        at = outputs + (flat @ step).reshape(n, k)
        errors, roots, means = slopes_of(at, targets, loss)
        if count == 0 or loss != "squared":
            scaled = to_metric(flat, roots, means)
            inverse = Inverse.of(scaled.T @ scaled + matrix)
        along = inverse.half(flat.T @ errors.ravel() + slope + matrix @ step)
        if along @ along <= FOUND * max(abs(first), abs(present)) + rounding or count == STEPS:
            break
        direction, share = -inverse.other_half(along), 1.0
        while not value(step + share * direction) <= present and share > FOUND:
            share /= 2
        step = step + share * direction
        present = value(step)
    half = inverse.half(flat.T).T.reshape(n, k, -1)
    fall = first - present if count < STEPS else float("inf")
    return Optimum(at, targets, errors, roots, means, half @ np.swapaxes(half, 1, 2), loss, step, fall)
