"""A trained network as an optimisation problem: its data, its loss and its regularisation, all checked here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from capcore.checks.arguments import divided, finite_array, of_kind, one_of, plain_array
from capcore.checks.progress import tqdm
from capcore.networks.derivatives import Derivatives, like
from capcore.networks.linearised import Linearised
from capcore.networks.losses import LOSSES, losses_of, slopes_of
from capcore.networks.modules import function_and_params

ROWS = 64
"""Number of rows of a Hessian computed at a time."""
LARGEST = 1e70
"""Numbers whose squares and fourth powers are still finite."""


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """L(θ) = Σᵢ ℓ(f(xᵢ; θ), yᵢ) + R(θ), a sum over examples, not a mean.

    ``targets`` is (N, K), one-hot or probabilities for cross-entropy. R(θ) = ½ Σ decay θ², with ``decay`` (p,).
    """

    derivatives: Derivatives
    targets: np.ndarray
    loss: str
    decay: np.ndarray
    layers: Mapping[str, slice]

    @classmethod
    def of(
        cls,
        apply: Callable[[Any, Any], Any],
        params: Any,
        inputs: object,
        targets: object,
        loss: str,
        weight_decay: Any,
        layers: Mapping[str, slice] | None = None,
    ) -> NetworkProblem:
        """The problem, with every argument checked."""
        one_of(loss, "loss", LOSSES)
        of_kind(layers, "layers", Mapping | None, "a mapping of names to slices")
        apply, params = function_and_params(apply, params)
        points = plain_array(inputs, "inputs", "b")
        if points.ndim == 0 or not points.size:
            raise ValueError(f"inputs: found shape {points.shape}, expected (N, …), one example a row.")
        if points.dtype.kind not in "iub":
            points = finite_array(points, "inputs", tuple(range(1, 9)))
        derivatives = Derivatives(apply, params, points)
        _moderate(params=derivatives.params, inputs=points)
        outputs = _checked_outputs(derivatives)
        values = _targets(targets, outputs.shape, loss)
        decay = like(weight_decay, derivatives.leaves, "weight_decay")
        _moderate(outputs=outputs, targets=values, weight_decay=decay)
        groups = divided(derivatives.layers if layers is None else layers, derivatives.n_params)
        return cls(derivatives, values, loss, decay, groups)

    @property
    def n_fitted(self) -> int:
        """Numbers that targets can choose: K for each example, or K − 1 where probabilities sum to 1."""
        n, k = self.targets.shape
        return n * (k if self.loss == "squared" else k - 1)

    def refuse_rank(self, rank: int) -> None:
        """Refuse a network that could fit any targets."""
        if not self.decay.any() and rank >= self.n_fitted:
            raise ValueError(
                f"inputs: found {len(self.targets):,} examples, which {self.derivatives.n_params:,} parameters can "
                "fit anyhow, expected more: S = I says nothing. Give weight_decay, stopping_time or more examples."
            )

    def at(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """e = ∂ℓ/∂f, and the roots and means of the metric W; (N, K) arrays."""
        return slopes_of(self.derivatives.outputs(w), self.targets, self.loss)

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """L and ∇L (p,)."""
        outputs = self.derivatives.outputs(w)
        errors = slopes_of(outputs, self.targets, self.loss)[0]
        value = float(losses_of(outputs, self.targets, self.loss).sum()) + float(self.decay @ w**2) / 2
        return value, self.derivatives.vjp(w, errors[None])[0] + self.decay * w

    def residual(self, w: np.ndarray, errors: np.ndarray, progress: bool = False) -> np.ndarray:
        """(p, p) residual curvature Σ e ∇²f."""
        p = w.size
        curvature = np.empty((p, p))
        for i in tqdm(range(0, p, ROWS), desc="Hessian", unit="block", disable=not progress):
            directions = np.eye(min(ROWS, p - i), p, i)
            curvature[i : i + ROWS] = self.derivatives.hvp(w, directions, errors)
        return (curvature + curvature.T) / 2

    def hessian(self, w: np.ndarray) -> np.ndarray:
        """(p, p) ∇²L."""
        errors, roots, means = self.at(w)
        model = Linearised(self.derivatives.jacobian(w), self.decay, w)
        return model.system(roots, means)[1] + self.residual(w, errors)


def _moderate(**arrays: np.ndarray) -> None:
    for name, values in arrays.items():
        if (largest := float(np.abs(values).max())) > LARGEST:
            raise ValueError(f"{name}: found {largest:.0e}, expected at most {LARGEST:.0e}. Use other units.")


def _checked_outputs(derivatives: Derivatives) -> np.ndarray:
    """(N, K) outputs; raises ``ValueError`` if the model is random, stateful, or mixes examples."""
    points = derivatives.inputs
    few = points[np.minimum(np.arange(len(points)), len(points) // 2)]  # in the same shape: each is compiled anew
    with derivatives.precision():
        w = derivatives.unravel(derivatives.array(derivatives.params))
        first, second, half = (_numpy(derivatives.apply(w, derivatives.array(x))) for x in (points, points, few))
    if first.ndim not in (1, 2) or first.shape[0] != len(points):
        raise ValueError(f"apply: found outputs of shape {first.shape}, expected ({len(points)}, K) or one axis.")
    if not np.isfinite(first).all():
        raise ValueError("apply: outputs: found NaN or infinity, expected finite numbers.")
    if not np.array_equal(first, second):
        raise ValueError("apply: found another output from an equal call, expected the same. Turn dropout off.")
    if np.abs(half - first)[: len(points) // 2 + 1].max() > 1e-9 * np.abs(first).max(initial=1e-300):
        raise ValueError(
            "apply: found outputs that mix examples, expected none. Put batch normalisation into evaluation mode."
        )
    return first.reshape(len(first), -1).astype(float)


def _numpy(values: Any) -> np.ndarray:
    if isinstance(values, tuple | list | dict):
        raise TypeError(f"apply: found a {type(values).__name__}, expected one array. Let a function select it.")
    return np.asarray(values.detach() if hasattr(values, "detach") else values)


def _targets(targets: object, shape: tuple[int, ...], loss: str) -> np.ndarray:
    """(N, K) targets, or probabilities."""
    values, (n, k) = finite_array(targets, "targets", (1, 2)), shape
    if loss == "squared":
        if values.shape != shape and not (k == 1 and values.shape == (n,)):
            raise ValueError(f"targets: found shape {values.shape}, expected {shape}, that of the outputs.")
        return values.reshape(shape)
    if k < 2:
        raise ValueError("apply: found one output, expected at least two for cross-entropy. Add one that is always 0.")
    if values.shape == (n,):
        if np.any(values != np.floor(values)) or values.min() < 0 or values.max() >= k:
            raise ValueError(f"targets: found labels outside 0 … {k - 1}, expected whole numbers, one per output.")
        return np.eye(k)[values.astype(int)]
    if values.shape != shape or np.abs(values.sum(1) - 1).max() > 1e-6 or values.min() < -1e-6:
        raise ValueError(f"targets: found shape {values.shape}, expected {n} labels or {shape} rows that sum to 1.")
    return values
