"""Fully connected networks as weights and biases: forward pass, input Jacobian, and random networks to compare with.

A network's function, and what is counted of it, hangs on products of weights through the layers. Where these leave
double precision a sign, a rank or a number of regions is silently another. So the sizes of such products are estimated
first, in logarithms, and a network is refused whose products come near the ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from capcore.checks.arguments import finite_array, finite_number, positive_integer
from chapters.shared.complexity.activations import Activation, activation

LIMIT = 100.0
"""Largest decimal exponent of a product that is accepted: its square, times 1e±100 for sums, is a number."""


@dataclass(frozen=True, eq=False)
class Network:
    """A network x → φ(… φ(x W₁ + b₁) …) W_L + b_L: affine layers, an activation after all of them but the last.

    What comes out are the logits: no softmax is applied.

    Attributes
    ----------
    weights : tuple of (fan_in, fan_out) arrays
        L of them, lowest first; ``fan_out`` of each is ``fan_in`` of the next.
    biases : tuple of (fan_out,) arrays
        L of them.
    activation : str
        "relu", "leaky_relu", "hard_tanh", "tanh", "logistic" (or "sigmoid"), "identity".
    slope : float
        Of "leaky_relu" below zero.

    Raises
    ------
    ValueError
        For shapes that do not chain, NaN or infinite weights, and an unknown activation.

    Examples
    --------
    >>> Network([[[1.0], [2.0]]], [[0.5]])([[1.0, 1.0]]).tolist()
    [[3.5]]
    """

    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]
    activation: str = "relu"
    slope: float = 0.01

    def __post_init__(self) -> None:
        weights = tuple(finite_array(w, f"weights[{i}]", 2) for i, w in enumerate(self.weights))
        biases = tuple(finite_array(b, f"biases[{i}]", 1) for i, b in enumerate(self.biases))
        if not weights or len(weights) != len(biases):
            raise ValueError(
                f"biases: found {len(biases)} vectors for {len(weights)} weight matrices, expected one for each layer, "
                "and at least one layer. A layer without bias has a vector of zeros."
            )
        for i, (w, b) in enumerate(zip(weights, biases, strict=True)):
            if b.shape != w.shape[1:]:
                raise ValueError(
                    f"biases[{i}]: found shape {b.shape}, expected {w.shape[1:]}: weights[{i}] has shape {w.shape}, "
                    "(fan_in, fan_out). Transpose weights that are stored as (fan_out, fan_in)."
                )
            if i and w.shape[0] != weights[i - 1].shape[1]:
                raise ValueError(
                    f"weights[{i}]: found shape {w.shape}, expected ({weights[i - 1].shape[1]}, fan_out), as the layer "
                    f"below has {weights[i - 1].shape[1]} outputs. Check the order of the layers, and transposes."
                )
        activation(self.activation, self.slope)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "biases", biases)

    @property
    def phi(self) -> Activation:
        """The activation's values, slopes and kinks."""
        return activation(self.activation, self.slope)

    @property
    def widths(self) -> tuple[int, ...]:
        """(L + 1,) numbers of inputs, of units in every hidden layer, and of outputs."""
        return (self.weights[0].shape[0], *(w.shape[1] for w in self.weights))

    @property
    def n_hidden(self) -> int:
        """The number of hidden units of all layers, M on the slides."""
        return sum(self.widths[1:-1])

    @property
    def n_params(self) -> int:
        """The number of weights and biases."""
        return sum(w.size + b.size for w, b in zip(self.weights, self.biases, strict=True))

    def pre_activations(self, inputs: object) -> list[np.ndarray]:
        """L arrays (n, fan_out), what every layer computes before its activation at inputs (n, d); the last: logits.

        Raises
        ------
        ValueError
            Where products of weights leave double precision, as all that is computed with a network does:
            :func:`out_of_range`.
        """
        below = self.check_inputs(inputs)
        if out_of_range(self, below):
            raise ValueError(out_of_range(self, below))
        found: list[np.ndarray] = []
        for w, b in zip(self.weights, self.biases, strict=True):
            found.append((self.phi.value(found[-1]) if found else below) @ w + b)
        return found

    def __call__(self, inputs: object) -> np.ndarray:
        """(n, n_outputs) logits at inputs (n, d)."""
        return self.pre_activations(inputs)[-1]

    def jacobian(self, inputs: object) -> np.ndarray:
        """(n, n_outputs, d) derivatives of the logits with respect to the inputs, at inputs (n, d).

        At a kink of the activation the slope on its left is taken.

        >>> Network([[[1.0]], [[2.0]]], [[0.0], [0.0]]).jacobian([[3.0], [-3.0]]).ravel().tolist()
        [2.0, 0.0]
        """
        levels = self.pre_activations(inputs)
        found = np.repeat(self.weights[-1].T[None], len(levels[0]), axis=0)
        for w, z in zip(self.weights[-2::-1], levels[-2::-1], strict=True):
            found = (found * self.phi.derivative(z)[:, None, :]) @ w.T
        return found

    def check_inputs(self, inputs: object) -> np.ndarray:
        """``inputs`` as finite floats (n, d), or an error that says which shape the network reads."""
        points = finite_array(inputs, "inputs", 2)
        if points.shape[1] != self.widths[0]:
            raise ValueError(
                f"inputs: found shape {points.shape}, expected (n, {self.widths[0]}), one point a row, as the lowest "
                "layer reads."
            )
        return points


def as_network(source: object, activation: str | None = None, slope: float = 0.01) -> Network:
    """The network in ``source``.

    Parameters
    ----------
    source : list or object
        Pairs of weights (fan_in, fan_out) and biases (fan_out,), lowest layer first; or a list of all weights with one
        of all biases; or a fitted scikit-learn ``MLPClassifier`` or ``MLPRegressor``, or what looks like one, without
        what it applies to its outputs (``out_activation_``); or a :class:`Network`, returned as it is.
    activation : str, optional
        By default the object's own, and "relu" for a list.
    slope : float
        Of "leaky_relu" below zero.

    Raises
    ------
    ValueError
        For anything else, an estimator that is not fitted included.

    Examples
    --------
    >>> as_network([([[1.0]], [0.0]), ([[2.0]], [1.0])])([[-1.0], [1.0]]).ravel().tolist()
    [1.0, 3.0]
    >>> as_network([[[[1.0]], [[2.0]]], [[0.0], [1.0]]])([[-1.0], [1.0]]).ravel().tolist()
    [1.0, 3.0]
    """
    if isinstance(source, Network):
        return source
    if hasattr(source, "coefs_") and hasattr(source, "intercepts_"):
        name = activation or str(getattr(source, "activation", "relu"))
        return Network(tuple(source.coefs_), tuple(source.intercepts_), name, slope)
    if isinstance(source, Sequence) and [_axes(part) for part in source] == [{2}, {1}]:
        return Network(tuple(source[0]), tuple(source[1]), activation or "relu", slope)
    if isinstance(source, Sequence) and source and all(isinstance(p, Sequence) and len(p) == 2 for p in source):
        return Network(tuple(w for w, _ in source), tuple(b for _, b in source), activation or "relu", slope)
    raise ValueError(
        f"network: found {type(source).__name__}, expected a list of (W, b), one of all weights with one of all "
        "biases, or an object with coefs_ and intercepts_. A scikit-learn network has those after fit(…)."
    )


def _axes(part: object) -> set[int]:
    return {_depth(each) for each in part} if isinstance(part, list | tuple) else set()


def _depth(part: object) -> int:
    """How many axes an array, or a nested list of numbers, has; 0 for anything else."""
    if isinstance(part, list | tuple):
        return 1 + (_depth(part[0]) if part else 0)
    return int(getattr(part, "ndim", 0))


def random_network(
    widths: Sequence[int],
    rng: np.random.Generator,
    weight_scale: float = 2**0.5,
    bias_scale: float = 0.0,
    activation: str = "relu",
    slope: float = 0.01,
) -> Network:
    """A network of independent normal weights and biases.

    Parameters
    ----------
    widths : list of int
        Numbers of inputs, of units in every hidden layer, and of outputs.
    rng : Generator
    weight_scale : float
        Standard deviation of the weights times √fan_in; by default He's, which keeps the mean square of ReLU units.
    bias_scale : float
        Standard deviation of the biases.
    activation : str
    slope : float
        As in :class:`Network`.

    Examples
    --------
    >>> random_network([3, 8, 8, 1], np.random.default_rng(0)).n_hidden
    16
    """
    sizes = [positive_integer(width, f"widths[{i}]") for i, width in enumerate(widths)]
    if len(sizes) < 2:
        raise ValueError(f"widths: found {len(sizes)} number(s), expected at least 2: inputs, hidden layers, outputs.")
    scales = {"weight_scale": weight_scale, "bias_scale": bias_scale}
    for name, value in scales.items():
        if finite_number(value, name) < 0:
            raise ValueError(f"{name}: found {value:g}, expected at least 0, a standard deviation.")
    weights, biases = [], []
    for fan_in, fan_out in pairwise(sizes):
        weights.append(rng.normal(size=(fan_in, fan_out)) * (weight_scale / fan_in**0.5))
        biases.append(rng.normal(size=fan_out) * bias_scale)
    return Network(tuple(weights), tuple(biases), activation, slope)


def out_of_range(network: Any, inputs: object = 1.0) -> str:
    """Why products through a network at inputs of that size are not trusted; empty if they are.

    A layer multiplies by about √(Σ w²/fan_out), the root mean square of a unit's output for independent inputs of
    variance one. Looked at are the activations that this leads to, with their biases, and the logits' derivatives by
    activations and weights. Layers of zeros are passed over: products with them are zero, and right.

    Parameters
    ----------
    inputs : array_like
        Of any shape; their largest absolute value counts.

    Examples
    --------
    >>> from chapters.shared.complexity import Network
    >>> net = Network([[[1e-60]], [[1e-60]]], [[0.0], [0.0]])
    >>> out_of_range(net)[:46], out_of_range(Network([[[1e30]], [[1e-30]]], [[0.0], [0.0]]))
    ('network: found products of weights near 1e-120', '')
    """
    gains = [_gain(w) for w in network.weights]
    saturates = network.activation not in ("relu", "leaky_relu", "identity")
    reads, sums = [_log(inputs)], []  # of what every layer reads, and of its pre-activations
    for gain, bias in zip(gains, network.biases, strict=True):
        sums.append(max(reads[-1] + gain, _log(bias)))
        reads.append(min(sums[-1], 0.0) if saturates else sums[-1])
    slopes = list(accumulate(reversed(gains), initial=0.0))  # of the logits, by a layer's outputs, from the top down
    by_weights = [read + slope for read, slope in zip(reads[:-1], slopes[-2::-1], strict=True)]
    found = [each for each in (*reads[:1], *sums, *slopes, *by_weights) if np.isfinite(each)]
    worst = max(found, key=abs, default=0.0)
    if abs(worst) <= LIMIT:
        return ""
    return (
        f"network: found products of weights near 1e{worst:+.0f}, expected 1e-{LIMIT:.0f} to 1e{LIMIT:.0f}, so that "
        "they are numbers. Rescale: without a saturating activation, a layer's weights and its bias and all biases "
        "above it, divided by one number, give the same regions and ranks."
    )


def any_out_of_range(networks: Sequence[Any], inputs: object = 1.0) -> str:
    """:func:`out_of_range` of the first network for which there is a reason.

    >>> any_out_of_range([])
    ''
    """
    return next((reason for reason in (out_of_range(net, inputs) for net in networks) if reason), "")


def _log(values: object) -> float:
    """Decimal exponent of the largest absolute value; −∞ where all are zero."""
    array = np.asarray(values, float)
    largest = max(float(array.max(initial=0.0)), -float(array.min(initial=0.0)))
    return float(np.log10(largest)) if largest else -np.inf


def _gain(weights: np.ndarray) -> float:
    """Decimal exponent of √(Σ w²/fan_out); −∞ for a layer of zeros."""
    total = float(np.vdot(weights, weights))
    if 1e-290 < total < 1e290:
        return 0.5 * float(np.log10(total / weights.shape[1]))
    largest = float(np.abs(weights).max())
    return float(np.log10(largest)) + _gain(weights / largest) if largest else -np.inf
