"""A trained network as an optimisation problem: its data, its loss and its regularisation, all checked here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from capcore.checks.arguments import divided, finite_array, of_kind, one_of, plain_array
from capcore.checks.progress import tqdm
from capcore.networks.derivatives import Derivatives, like
from capcore.networks.linearised import Linearised
from capcore.networks.losses import LOSSES, Loss, losses_of, slopes_of
from capcore.networks.modules import function_and_params, gathered, plain

ROWS = 64
"""Number of rows of a Hessian computed at a time."""
LARGEST = 1e70
"""Numbers whose squares and fourth powers are still finite."""
IGNORED = -100
"""Label of positions that do not count, as in PyTorch."""
ROUNDING = 1e-6
"""By which sums of probabilities may miss 1."""
RANGES = {"cross-entropy": (-ROUNDING, 1 + ROUNDING), "binary cross-entropy": (0, 1), "poisson": (0, np.inf)}
"""Least and largest targets of losses."""


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """L(θ) = Σᵢ ℓ(f(xᵢ; θ), yᵢ) + R(θ), a sum over examples and their positions, not a mean.

    ``targets`` is (N, T·K), one-hot or probabilities for cross-entropy, for outputs of a ``shape`` with T positions
    of K outputs each, such as (N, T, K); it is (N, K) for T = 1. R(θ) = ½ Σ decay θ², with ``decay`` (p,).
    """

    derivatives: Derivatives
    targets: np.ndarray
    shape: tuple[int, ...]
    loss: Loss
    decay: np.ndarray
    layers: Mapping[str, slice]

    @classmethod
    def of(
        cls,
        apply: Callable[[Any, Any], Any],
        params: Any,
        inputs: Any,
        targets: Any,
        loss: Any,
        weight_decay: Any,
        layers: Mapping[str, slice] | None = None,
        sample_weight: Any = None,
        class_axis: Any = None,
        trainable: Any = None,
    ) -> NetworkProblem:
        """The problem, with every argument checked."""
        if not isinstance(loss, Loss):
            loss = LOSSES[one_of(loss, "loss", LOSSES)]
        of_kind(layers, "layers", Mapping | None, "a mapping of names to slices")
        apply, params = function_and_params(apply, params)
        inputs, targets = gathered(inputs) if targets is None else (plain(inputs), plain(targets))
        points = plain_array(inputs, "inputs", "b")
        if points.ndim == 0 or not points.size:
            raise ValueError(f"inputs: found shape {points.shape}, expected (N, …), one example a row.")
        if points.dtype.kind not in "iub":
            points = finite_array(points, "inputs", tuple(range(1, 9)))
        derivatives = Derivatives(apply, params, points, trainable)
        _moderate(params=derivatives.params, inputs=points)
        outputs = _checked_outputs(derivatives)
        derivatives.axis = axis = _class_axis(outputs.shape, np.shape(targets) if loss.dependent else None, class_axis)
        values, weights = _terms(targets, sample_weight, outputs.shape, axis, loss)
        loss = replace(loss, weights=weights, n_outputs=outputs.shape[axis])
        decay = like(weight_decay, derivatives.leaves, "weight_decay")
        _moderate(outputs=outputs, targets=values, weight_decay=decay)
        groups = divided(derivatives.layers if layers is None else layers, derivatives.n_params)
        return cls(derivatives, values, outputs.shape, loss, decay, groups)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """(N·T·K,) values in the shape of the outputs."""
        result = np.empty(self.shape)
        result.swapaxes(self.derivatives.axis, -1).flat[:] = values
        return result

    def refuse_rank(self, rank: int) -> None:
        """Refuse a network that could fit any targets."""
        if not self.decay.any() and rank >= self.loss.n_fitted(self.targets.shape):
            raise ValueError(
                f"inputs: found {len(self.targets):,} examples, which {self.derivatives.n_params:,} parameters can "
                "fit anyhow, expected more: S = I says nothing. Give weight_decay or more examples."
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
    """The axis of the K outputs of a position, from the end: as given, or the one that labels lack, or the last.

    >>> _class_axis((8, 3, 5, 5), (8, 5, 5), None), _class_axis((8, 6, 3), (8, 6), None)
    (-3, -1)
    """
    axes = [axis for axis in {1 - len(shape), -1} if _places(shape, axis) == labels] or [-1]
    axis = given if given is not None else axes.pop()
    axis -= len(shape) * (axis > 0)
    if not -len(shape) < axis < 0 or (given is None and axes):
        raise ValueError(f"class_axis: found {given} for outputs {shape}, expected their axis of classes, such as -1.")
    return axis


def _places(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """A shape without an axis."""
    return tuple(np.delete(shape, axis).tolist())


def _terms(targets: Any, sample_weight: Any, shape: tuple[int, ...], axis: int, loss: Loss) -> Iterator[np.ndarray]:
    """(N, T·K) targets or probabilities, and weights, the K of a position side by side."""
    axes, k, places, weights = tuple(range(1, 9)), shape[axis], _places(shape, axis), np.ones(shape)
    values = finite_array(targets, "targets", axes)
    if loss.dependent and k < 2:
        raise ValueError("apply: found one output, expected several. Use loss='binary cross-entropy'.")
    if loss.dependent and values.shape == places:
        if not np.isin(values, [IGNORED, *range(k)]).all():
            raise ValueError(f"targets: found labels outside 0 … {k - 1}, expected one per output, or {IGNORED}.")
        weights *= np.expand_dims(values != IGNORED, axis)
        values = np.moveaxis(np.eye(k)[np.maximum(values, 0).astype(int)], -1, axis)
    elif values.shape == places and k == 1:
        values = np.expand_dims(values, axis)
    least, most = RANGES.get(loss.name, (-np.inf, np.inf))
    fits = values.shape == shape and least <= values.min() <= values.max() <= most
    if not fits or (loss.dependent and abs(values.sum(axis) - 1).max() > ROUNDING):
        raise ValueError(
            f"targets: found shape {values.shape} and least {values.min():.3g}, expected {shape}, {least:g} to {most:g}"
            f"{', that sum to 1 over classes' * loss.dependent}."
        )
    if sample_weight is not None:
        given = finite_array(plain_array(plain(sample_weight), "sample_weight", "b") * 1.0, "sample_weight", axes)
        given = np.expand_dims(given, axis) if given.shape == places else given
        weights *= given.reshape(given.shape + (1,) * (len(shape) - given.ndim))
    if weights.min() < 0 or not weights.any():
        raise ValueError("sample_weight: found no term of the loss above 0, or one below, expected positive ones.")
    return (terms.swapaxes(axis, -1).reshape(shape[0], -1) for terms in (values, weights))
