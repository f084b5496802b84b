"""The optimum of a network that is linearised at its weights.

Outputs are fᵢ + Jᵢδ, and the loss Σᵢ ℓ(fᵢ + Jᵢδ, yᵢ) + R(θ + δ) is convex in δ. Its curvature is the Gauss–Newton
matrix A = Σᵢ JᵢᵀWᵢJᵢ + ∇²R, with Wᵢ = ∂²ℓ/∂f² at those outputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from capcore.checks.memory import arrays, check_memory
from capcore.networks.factors import Factor, squared
from capcore.networks.losses import LOSSES, Loss, from_metric, losses_of, slopes_of, to_metric
from capcore.networks.response import EPS, Inverse

STEPS = 50
"""Newton steps to the optimum at most; it takes one for squared loss, and for cross-entropy about five."""
REST = 1e-8
"""Share of the loss that the last step may have removed."""
SINGULAR = float(np.sqrt(EPS))
"""Where 1 − leverage is below this, nothing but the example itself fixes its outputs."""


LIKELIHOODS = "cross-entropy", "binary cross-entropy", "poisson"
"""Losses that are −log of a likelihood; the scale of others is estimated."""


class Linearised(NamedTuple):
    """A network f + Jδ with the penalty ½Σ decay (θ + δ)², in its parameters or in other coordinates.

    Attributes
    ----------
    jacobian : (N·K, r) array
        J.
    decay, params : (r,) array
        Weight decay, and θ.
    """

    jacobian: np.ndarray
    decay: np.ndarray
    params: np.ndarray

    def system(
        self, roots: np.ndarray, means: np.ndarray, factors: Sequence[Factor] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """RᵀJ, and the Gauss–Newton form JᵀWJ + ∇²R, in the metric W = RRᵀ.

        Factors of J, if they are given, take fewer operations where there are several outputs.
        """
        scaled = to_metric(self.jacobian, roots, means)
        several = factors and roots.shape[1] > 1
        hessian = squared(factors, roots, means, self.decay.size) if several else scaled.T @ scaled  # by symmetry
        hessian[np.diag_indices_from(hessian)] += self.decay
        return scaled, hessian


@dataclass(frozen=True, eq=False, repr=False)
class Optimum:
    """The optimum of a linearised network: what leaving out one example needs.

    Attributes
    ----------
    outputs, targets : (N, K) array
        f̄ and y.
    errors : (N, K) array
        ē.
    roots, means : (M, K) array
        W, as :mod:`capcore.networks.losses` has it. With several positions an example the K of other arrays is T·K.
    blocks : (N, K, K) array
        B.
    loss : Loss
    fall : float
        By how much the loss is lower than at the weights; infinite if no optimum was found.
    """

    outputs: np.ndarray
    targets: np.ndarray
    errors: np.ndarray
    roots: np.ndarray
    means: np.ndarray
    blocks: np.ndarray
    loss: Loss
    fall: float

    @cached_property
    def response(self) -> np.ndarray:
        """(N, K, K) blocks RᵀBᵢR of S."""
        half = to_metric(self.blocks, self.roots, self.means)
        return to_metric(np.swapaxes(half, 1, 2), self.roots, self.means)

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
        fixed = self.leverage < 1 - SINGULAR
        blocks = np.where(fixed[:, None, None], self.blocks, 0.0)
        curved = from_metric(to_metric(blocks, self.roots, self.means), self.roots, self.means)
        slopes = np.linalg.solve(np.eye(blocks.shape[1]) - curved, self.errors[:, :, None])[:, :, 0]
        moved = np.einsum("nkl,nl->nk", blocks, slopes)
        lengths = (slopes * moved).sum(axis=1)
        return np.where(fixed[:, None], self.outputs + moved, np.nan), np.where(fixed, lengths, np.nan)

    @property
    def noise(self) -> float:
        """s², the variance of the residuals by their degrees of freedom; 1 for −log of a likelihood.

        Where W is not I, that of the slopes over the mean of W.
        """
        if self.loss.name in LIKELIHOODS:
            return 1.0
        free = max(1 - self.total / self.loss.n_fitted(self.errors.shape), SINGULAR)
        return float(np.square(self.errors).sum() / max(np.square(self.roots).sum() * free, 1e-300))


def optimum(
    jacobian: np.ndarray, outputs: np.ndarray, targets: np.ndarray, added: np.ndarray, slope: np.ndarray,
    loss: Any,
) -> Optimum:  # fmt: skip
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
    loss : str or Loss
        Summed over examples.

    Raises
    ------
    TooLargeError
        If arrays would not fit into memory.

    Examples
    --------
    >>> x, y = np.eye(2)[:, None], np.array([[2.0], [4.0]])
    >>> optimum(x, 0 * y, y, np.ones(2), np.zeros(2), "squared").outputs.ravel().round(9).tolist()
    [1.0, 2.0]
    """
    (n, k, p), loss = jacobian.shape, LOSSES.get(loss, loss)
    n_bytes = arrays(n * k, p, copies=3) + arrays(p, p, copies=3) + arrays(n * k, k, copies=6)
    size = f"linearised: found {n:,} examples of {k:,} outputs and {p:,} parameters"
    check_memory(n_bytes, size, "Leave out a part of the examples, or use fewer parameters.")
    flat, matrix = jacobian.reshape(n * k, p), np.diag(added) if added.ndim == 1 else added

    def value(step: np.ndarray) -> float:
        losses = losses_of(outputs + (flat @ step).reshape(n, k), targets, loss)
        return float(losses.sum() + slope @ step + step @ matrix @ step / 2)

    step, rounding = np.zeros(p), (1e3 * EPS * float(np.linalg.norm(targets))) ** 2
    first = present = value(step)
    for count in range(STEPS + 1):
        at = outputs + (flat @ step).reshape(n, k)
        errors, roots, means = slopes_of(at, targets, loss)
        if count == 0 or loss.name != "squared":
            scaled = to_metric(flat, roots, means)
            inverse = Inverse.of(scaled.T @ scaled + matrix)
        along = inverse.half(flat.T @ errors.ravel() + slope + matrix @ step)
        if along @ along <= REST * max(abs(first), abs(present)) + rounding or count == STEPS:
            break
        direction, share = -inverse.other_half(along), 1.0
        while not value(step + share * direction) <= present and share > REST:
            share /= 2
        step = step + share * direction
        present = value(step)
    half = inverse.half(flat.T).T.reshape(n, k, -1)
    fall = first - present if count < STEPS else float("inf")
    return Optimum(at, targets, errors, roots, means, half @ np.swapaxes(half, 1, 2), loss, fall)
