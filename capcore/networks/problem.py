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
from capcore.networks.losses import LOSSES, Loss, losses_of, of_function, slopes_of
from capcore.networks.modules import function_and_params, gathered, plain

ROWS = 64
"""Number of rows of a Hessian computed at a time."""
LARGEST = 1e70
"""Numbers whose squares and fourth powers are still finite."""
IGNORED = -100
"""Label of positions that do not count, as in PyTorch."""
RANGES = {"binary cross-entropy": (0.0, 1.0), "poisson": (0.0, np.inf)}
"""Least and largest targets of losses."""


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """L(θ) = Σᵢ ℓ(f(xᵢ; θ), yᵢ) + R(θ), a sum over examples and their positions, not a mean.

    ``targets`` is (N, T·K), one-hot or probabilities for cross-entropy, for ``positions`` such as (T,) of K outputs
    each; without positions T is 1. R(θ) = ½ Σ decay θ², with ``decay`` (p,).
    """

    derivatives: Derivatives
    targets: np.ndarray
    positions: tuple[int, ...]
    loss: Loss
    decay: np.ndarray
    layers: Mapping[str, slice]

    @classmethod
    def of(
        cls,
        apply: Callable[[Any, Any], Any],
        params: Any,
        inputs: object,
        targets: object,
        loss: Any,
        weight_decay: Any,
        layers: Mapping[str, slice] | None = None,
        sample_weight: object = None,
        class_axis: int | None = None,
        trainable: Callable[[str], bool] | None = None,
    ) -> NetworkProblem:
        """The problem, with every argument checked."""
        if not isinstance(loss, Loss) and not callable(loss):
            one_of(loss, "loss", LOSSES)
        of_kind(layers, "layers", Mapping | None, "a mapping of names to slices")
        apply, params = function_and_params(apply, params)
        inputs, targets = gathered(inputs) if targets is None else (plain(inputs), plain(targets))
        points = plain_array(inputs, "inputs", "b")
        if points.ndim == 0 or not points.size:
            raise ValueError(f"inputs: found shape {points.shape}, expected (N, …), one example a row.")
        if points.dtype.kind not in "iub":
            points = finite_array(points, "inputs", tuple(range(1, 9)))
        derivatives = Derivatives(apply, params, points, *[trainable] if trainable is not None else [])
        _moderate(params=derivatives.params, inputs=points)
        outputs = _checked_outputs(derivatives)
        if not isinstance(loss, Loss):
            loss = LOSSES[loss] if isinstance(loss, str) else of_function(loss, derivatives)
        derivatives.axis = axis = _class_axis(outputs.shape, np.shape(targets) if loss.dependent else None, class_axis)
        values, weights = _targets(targets, outputs.shape, axis, loss)
        if sample_weight is not None:
            weights = weights * _weights(plain(sample_weight), outputs.shape, axis)
        if not weights.any():
            raise ValueError("sample_weight: found no term of the loss that counts, expected some. Look at the labels.")
        positions = tuple(np.delete(outputs.shape, axis)[1:])
        decay = like(weight_decay, derivatives.leaves, "weight_decay")
        _moderate(outputs=outputs, targets=values, weight_decay=decay)
        groups = divided(derivatives.layers if layers is None else layers, derivatives.n_params)
        return cls(derivatives, values, positions, loss.on(weights, outputs.shape[axis]), decay, groups)

    @property
    def n_fitted(self) -> int:
        """Numbers that targets can choose: K for each position, or K − 1 where probabilities sum to 1."""
        return self.loss.n_fitted(self.targets.shape)

    def refuse_rank(self, rank: int) -> None:
        """Refuse a network that could fit any targets."""
        if not self.decay.any() and rank >= self.n_fitted:
            raise ValueError(
                f"inputs: found {len(self.targets):,} examples, which {self.derivatives.n_params:,} parameters can "
                "fit anyhow, expected more: S = I says nothing. Give weight_decay, stopping_time or more examples."
            )

    def at(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """e = ∂ℓ/∂f (N, T·K), and the roots and means of the metric W, (N·T, K) arrays."""
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
    """(N, …) outputs; raises ``ValueError`` if the model is random, stateful, or mixes examples."""
    points = derivatives.inputs
    few = points[np.minimum(np.arange(len(points)), len(points) // 2)]  # in the same shape: each is compiled anew
    with derivatives.precision():
        w = derivatives.unravel(derivatives.array(derivatives.params))
        first, second, half = (_numpy(derivatives.apply(w, derivatives.array(x))) for x in (points, points, few))
    if first.shape[:1] != (len(points),):
        raise ValueError(f"apply: found outputs of shape {first.shape}, expected ({len(points)}, …), by example.")
    if not np.isfinite(first).all():
        raise ValueError("apply: outputs: found NaN or infinity, expected finite numbers.")
    if not np.array_equal(first, second):
        raise ValueError("apply: found another output from an equal call, expected the same. Turn dropout off.")
    if np.abs(half - first)[: len(points) // 2 + 1].max() > 1e-9 * np.abs(first).max(initial=1e-300):
        raise ValueError(
            "apply: found outputs that mix examples, expected none. Put batch normalisation into evaluation mode."
        )
    return (first[:, None] if first.ndim == 1 else first).astype(float)


def _numpy(values: Any) -> np.ndarray:
    if isinstance(values, tuple | list | dict):
        raise TypeError(f"apply: found a {type(values).__name__}, expected one array. Let a function select it.")
    return np.asarray(values.detach() if hasattr(values, "detach") else values)


def _class_axis(shape: tuple[int, ...], labels: tuple[int, ...] | None, given: int | None) -> int:
    """The axis of the K outputs of a position: as given, or the one that labels lack, or the last.

    >>> _class_axis((8, 3, 5, 5), (8, 5, 5), None), _class_axis((8, 6, 3), (8, 6), None)
    (1, 2)
    """
    if given is not None:
        if given % len(shape) == 0 or not -len(shape) <= given < len(shape):
            raise ValueError(f"class_axis: found {given!r}, expected an axis of outputs {shape} after the first.")
        return given % len(shape)
    lacking = [axis for axis in sorted({1, len(shape) - 1}) if shape[:axis] + shape[axis + 1 :] == labels]
    if len(lacking) > 1:
        raise ValueError(f"class_axis: found outputs {shape} and labels {labels}, expected an axis. Give 1 or -1.")
    return lacking[0] if lacking else len(shape) - 1


def _laid_out(values: np.ndarray, axis: int) -> np.ndarray:
    """(N, T·K) values of the terms of the loss, the K of a position side by side."""
    return np.moveaxis(values, axis, -1).reshape(len(values), -1)


def _targets(targets: object, shape: tuple[int, ...], axis: int, loss: Loss) -> tuple[np.ndarray, np.ndarray]:
    """(N, T·K) targets or probabilities, and whether terms count."""
    values, k = finite_array(targets, "targets", tuple(range(1, 9))), shape[axis]
    places = shape[:axis] + shape[axis + 1 :]
    if not loss.dependent:
        low, high = RANGES.get(loss.name, (-np.inf, np.inf))
        if values.shape != shape and not (values.shape == places and (k == 1 or loss.follows == "unknown")):
            raise ValueError(f"targets: found shape {values.shape}, expected {shape}, that of the outputs.")
        if values.min() < low or values.max() > high:
            found = f"{values.min():.3g} to {values.max():.3g}"
            raise ValueError(f"targets: found {found}, expected {low:g} to {high:g} for {loss.name}.")
        values = values if values.shape == shape else np.expand_dims(values, axis)
        return _laid_out(np.broadcast_to(values, shape), axis), np.ones((shape[0], int(np.prod(shape[1:]))))
    if k < 2:
        raise ValueError(
            "apply: found one output, expected at least two for cross-entropy. Use loss='binary cross-entropy'."
        )
    if values.shape == places:
        used = values != IGNORED
        if np.any(values != np.floor(values)) or np.any(used & ((values < 0) | (values >= k))):
            raise ValueError(
                f"targets: found labels outside 0 … {k - 1}, expected whole numbers, one per output, or {IGNORED} for "
                "positions that do not count."
            )
        one_hot = np.eye(k)[np.where(used, values, 0).astype(int)].reshape(shape[0], -1)
        return one_hot, np.repeat(used.reshape(shape[0], -1), k, axis=1).astype(float)
    if values.shape != shape or np.abs(values.sum(axis) - 1).max() > 1e-6 or values.min() < -1e-6:
        raise ValueError(
            f"targets: found shape {values.shape}, expected labels {places} or probabilities {shape} that sum to 1 "
            f"along axis {axis}. Give class_axis if it is another."
        )
    return _laid_out(values, axis), np.ones((shape[0], int(np.prod(shape[1:]))))


def _weights(values: object, shape: tuple[int, ...], axis: int) -> np.ndarray:
    """(N, T·K) weights from those of examples, of positions or of terms."""
    given, places = plain_array(values, "sample_weight", "b"), shape[:axis] + shape[axis + 1 :]
    weights = finite_array(given * 1.0, "sample_weight", tuple(range(1, 9)))
    if weights.shape == shape[:1]:
        weights = weights.reshape(-1, *[1] * (len(shape) - 1))
    elif weights.shape == places:
        weights = np.expand_dims(weights, axis)
    fits = weights.ndim == len(shape) and all(a in (1, b) for a, b in zip(weights.shape, shape, strict=True))
    if not fits or weights.min() < 0:
        raise ValueError(
            f"sample_weight: found shape {weights.shape} and {weights.min():.3g} at least, expected {shape[:1]}, "
            f"{places} or what broadcasts to {shape}, of at least 0."
        )
    return _laid_out(np.broadcast_to(weights, shape), axis)
