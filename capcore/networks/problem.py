"""A trained network as an optimisation problem: its data, its loss and its regularisation, all checked here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax
from tqdm import tqdm

from capcore.architectures.trees import is_tree
from capcore.checks.arguments import divided, finite_array, finite_number, of_kind, one_of, plain_array, plain_number
from capcore.networks.derivatives import Derivatives, by_name
from capcore.networks.modules import opened

ROWS = 64
"""Number of rows of a Hessian computed at a time."""
NUMBERS = 2**18
"""Numbers that are put into the metric of the loss at a time."""
LOSSES = ("squared", "cross-entropy")


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """L(θ) = Σᵢ ℓ(f(xᵢ; θ), yᵢ) + R(θ), a sum over examples, not a mean.

    ``targets`` is (N, K), one-hot or probabilities for cross-entropy. ``decay`` is (p,), or None if R is a callable.
    """

    derivatives: Derivatives
    targets: np.ndarray
    loss: str
    decay: np.ndarray | None
    regulariser: Callable[[Any], Any] | None
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
        single: bool = False,
    ) -> NetworkProblem:
        """The problem, with every argument checked."""
        one_of(loss, "loss", LOSSES)
        of_kind(layers, "layers", Mapping | None, "a mapping of names to slices")
        apply, params = opened(apply, params)
        inputs = plain_array(inputs, "inputs", "b")
        points = np.asarray(inputs)
        whole = points.dtype.kind in "iub"
        if points.ndim == 0 or not points.size:
            raise ValueError(f"inputs: found shape {points.shape}, expected (N, …), one example a row.")
        points = points if whole else finite_array(points, "inputs", tuple(range(1, 9)))
        derivatives = Derivatives(apply, params, points, single)
        _moderate(derivatives.params, "params", single)
        _moderate(points, "inputs", single)
        outputs = _checked_outputs(derivatives)
        _moderate(outputs, "apply: outputs", single)
        values = _targets(targets, outputs.shape, loss)
        _moderate(values, "targets", single)
        regulariser = decay = None
        if callable(weight_decay) and type(weight_decay) is not type(params):  # modules of Equinox can be called
            regulariser = _real_valued(weight_decay, derivatives)
        else:
            decay = _decay(weight_decay, derivatives)
            _moderate(decay, "weight_decay", single)
        groups = divided(derivatives.layers if layers is None else layers, derivatives.n_params)
        return cls(derivatives, values, loss, decay, regulariser, groups)

    @property
    def regularised(self) -> bool:
        """Whether the loss has a regularisation term."""
        return self.decay is None or bool(self.decay.any())

    def refuse_rank(self, rank: int) -> None:
        """Refuse a network that could fit any targets: K directions per example, or K − 1 for probabilities."""
        n, k = self.targets.shape
        if not self.regularised and rank >= n * (k if self.loss == "squared" else k - 1):
            raise ValueError(
                f"inputs: found {n:,} examples that a network of {self.derivatives.n_params:,} parameters can fit with "
                "any targets, expected more: S = I says nothing. Give the weight_decay or stopping_time that was used, "
                "or more examples than parameters."
            )

    def errors(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """e = ∂ℓ/∂f, and the metric; each (N, K)."""
        roots, means = self.metric(outputs)
        return (means if self.loss == "cross-entropy" else outputs) - self.targets, roots, means

    def metric(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Roots r and means m (N, K) of W = ∂²ℓ/∂f² = diag(r²) − m mᵀ, at any examples."""
        if self.loss == "squared":
            return np.ones_like(outputs), np.zeros_like(outputs)
        p = softmax(outputs, axis=1)
        return np.sqrt(p), p

    def penalty(self, w: np.ndarray, v: np.ndarray | None = None) -> Any:
        """R and ∇R (p,); with directions (m, p), the products with ∇²R."""
        if self.regulariser is not None:
            return self.derivatives.scalar(self.regulariser, w, v)
        return (float(self.decay @ w**2) / 2, self.decay * w) if v is None else self.decay * v

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """L and ∇L (p,)."""
        outputs = self.derivatives.outputs(w)
        errors = self.errors(outputs)[0]
        squared = self.loss == "squared"
        value = 0.5 * np.square(errors).sum() if squared else -(self.targets * log_softmax(outputs, axis=1)).sum()
        penalty, slope = self.penalty(w)
        return float(value) + penalty, self.derivatives.vjp(w, errors[None])[0] + slope

    def residual(self, w: np.ndarray, errors: np.ndarray, progress: bool = False) -> np.ndarray:
        """(p, p) residual curvature Σ e ∇²f."""
        p, zero = w.size, np.zeros_like(errors)
        found = np.empty((p, p))
        with tqdm(total=p, desc="Hessian", unit="row", disable=not progress) as bar:
            for i in range(0, p, ROWS):
                found[i : i + ROWS] = self.derivatives.hvp(w, np.eye(min(ROWS, p - i), p, i), errors, zero, zero)
                bar.update(min(ROWS, p - i))
        return (found + found.T) / 2

    def gauss_newton(self, w: np.ndarray, scaled: np.ndarray) -> np.ndarray:
        """(p, p) JᵀWJ + ∇²R, from RᵀJ (N·K, p)."""
        found = scaled.T @ scaled  # by half the operations of a product of two matrices: NumPy sees that they are one
        if self.decay is None:
            return found + self.penalty(w, np.eye(w.size))
        found[np.diag_indices_from(found)] += self.decay
        return found

    def hessian(self, w: np.ndarray) -> np.ndarray:
        """(p, p) ∇²L."""
        errors, roots, means = self.errors(self.derivatives.outputs(w))
        scaled = to_metric(self.derivatives.jacobian(w), roots, means)
        return self.gauss_newton(w, scaled) + self.residual(w, errors)


def to_metric(columns: np.ndarray, roots: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Rᵀu of columns (N·K, m), with R Rᵀ = W: uₖ → √pₖ (uₖ − Σ p u) for cross-entropy, u for squared loss."""
    if not means.any():
        return columns
    u = columns.reshape(*roots.shape, -1)
    found = u - np.einsum("nk,nkm->nm", means, u)[:, None]
    found *= roots[..., None]
    return found.reshape(columns.shape)


def put_into_metric(columns: np.ndarray, roots: np.ndarray, means: np.ndarray) -> np.ndarray:
    """:func:`to_metric` in the memory of the columns (N·K, m), with as many examples at a time as a cache holds."""
    each = columns.reshape(*roots.shape, -1)
    step = max(1, NUMBERS // max(each[0].size, 1))
    for i in range(0, len(each) if means.any() else 0, step):
        part = slice(i, i + step)
        each[part] = to_metric(each[part], roots[part], means[part])
    return columns


def from_metric(columns: np.ndarray, roots: np.ndarray, means: np.ndarray) -> np.ndarray:
    """R z of columns (N·K, m): the transpose of :func:`to_metric`."""
    z = columns.reshape(*roots.shape, -1) * roots[..., None]
    return (z - means[..., None] * z.sum(1, keepdims=True)).reshape(columns.shape)


def _finite(values: np.ndarray, name: str) -> None:
    if not np.isfinite(values).all():
        raise ValueError(f"{name}: found NaN or infinity, expected finite numbers.")


def _moderate(values: np.ndarray, name: str, single: bool) -> None:
    largest, limit, precision = float(np.abs(values).max()), *((1e9, "single") if single else (1e70, "double"))
    if largest > limit:
        raise ValueError(
            f"{name}: found {largest:.0e}, expected at most {limit:.0e}: powers of it leave {precision} precision. "
            "Measure in other units."
        )


def _real_valued(regulariser: Callable[[Any], Any], derivatives: Derivatives) -> Callable[[Any], Any]:
    with derivatives.precision():
        value = np.asarray(_numpy(regulariser(derivatives.unravel(derivatives.array(derivatives.params)))))
    if value.shape != () or value.dtype.kind != "f" or not np.isfinite(value):
        raise ValueError(
            f"weight_decay: found a function whose value is {str(value)[:40]} (shape {value.shape}, {value.dtype}), "
            "expected one finite real number, such as a sum over the parameters."
        )
    return regulariser


def _checked_outputs(derivatives: Derivatives) -> np.ndarray:
    """(N, K) outputs; raises ``ValueError`` if the model is random, stateful, or mixes examples."""
    w, points = derivatives.params, derivatives.inputs
    with derivatives.precision():
        raw = [
            np.asarray(_numpy(derivatives.apply(derivatives.unravel(derivatives.array(w)), derivatives.array(x))))
            for x in (points, points, points[: len(points) // 2 + 1])
        ]
    first, second, half = raw
    if first.ndim not in (1, 2) or first.shape[0] != len(points):
        raise ValueError(
            f"apply: found outputs of shape {first.shape}, expected ({len(points)}, K) or ({len(points)},)."
        )
    _finite(first, "apply: outputs")
    if not np.array_equal(first, second):
        raise ValueError(
            "apply: found two different outputs from two equal calls, expected a function of its arguments. "
            "Turn dropout off and pass random keys as constants."
        )
    tolerance = 1e-3 if derivatives.single else 1e-9
    if np.abs(half - first[: len(half)]).max() > tolerance * np.abs(first).max(initial=1e-300):
        raise ValueError(
            "apply: found outputs that depend on the other examples of the batch, expected each example by itself. "
            "Put batch normalisation into evaluation mode."
        )
    return first.reshape(len(first), -1).astype(float)


def _numpy(values: Any) -> Any:
    if isinstance(values, tuple | list | dict):
        raise TypeError(
            f"apply: found a {type(values).__name__}, expected one array of outputs. Let a function or a module around "
            "it select them."
        )
    return values.detach().numpy() if hasattr(values, "detach") else values


def _targets(targets: object, shape: tuple[int, ...], loss: str) -> np.ndarray:
    values = finite_array(targets, "targets", (1, 2))
    n, k = shape
    if loss == "squared":
        if values.shape != shape and not (k == 1 and values.shape == (n,)):
            raise ValueError(f"targets: found shape {values.shape}, expected {shape}, that of the outputs.")
        return values.reshape(shape)
    if k < 2:
        raise ValueError(
            "apply: found one output, expected at least two for cross-entropy: add a logit that is always 0."
        )
    if values.shape == (n,):
        if np.any(values != np.floor(values)) or values.min() < 0 or values.max() >= k:
            raise ValueError(f"targets: found labels outside 0 … {k - 1}, expected whole numbers, one per output.")
        return np.eye(k)[values.astype(int)]
    if values.shape != shape or np.abs(values.sum(1) - 1).max() > 1e-6:
        raise ValueError(
            f"targets: found shape {values.shape}, expected {(n,)} labels, or {shape} probabilities that sum to 1."
        )
    if values.min() < -1e-6:
        raise ValueError(
            f"targets: found a probability of {values.min():.3g}, expected none below 0. Smooth them first."
        )
    return values


def _decay(weight_decay: Any, derivatives: Derivatives) -> np.ndarray:
    """(p,) λ of each parameter, at least 0."""
    p, given = derivatives.n_params, plain_number(weight_decay, "weight_decay")
    expected = f"a number, {p} values, or a tree of arrays like params"
    if isinstance(given, list | tuple) and given and all(isinstance(each, Real) for each in given):
        given = np.array(given)
    if isinstance(given, Mapping | list | tuple) or is_tree(given) or derivatives.shapes == {"": np.shape(given)}:
        decay = by_name(derivatives.named(given, "weight_decay"), derivatives.shapes, "weight_decay")
    elif np.ndim(given) == 0:
        decay = np.full(p, finite_number(given, "weight_decay", f"{expected}, all of them finite"))
    else:
        decay = finite_array(given, "weight_decay", tuple(range(1, 9)))
    if decay.shape != (p,):
        raise ValueError(f"weight_decay: found values of shape {decay.shape}, expected {expected}.")
    if decay.min() < 0:
        raise ValueError(f"weight_decay: found {decay.min():.3g}, expected {expected}, all of them of at least 0.")
    return decay
