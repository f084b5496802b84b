"""Fully connected networks as weights and biases: forward pass, input Jacobian, and random networks to compare with."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import softmax

from chapters.shared.complexity.activations import Activation, activation


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
        As :func:`~chapters.shared.complexity.activations.activation` knows it.

    Examples
    --------
    >>> Network([[[1.0], [2.0]]], [[0.5]])([[1.0, 1.0]]).tolist()
    [[3.5]]
    """

    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]
    activation: str = "relu"

    def __post_init__(self) -> None:
        for name in ("weights", "biases"):
            object.__setattr__(self, name, tuple(np.asarray(part, float) for part in getattr(self, name)))

    @property
    def phi(self) -> Activation:
        """The activation's values, slopes and kinks."""
        return activation(self.activation)

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
        """L arrays (n, fan_out), what every layer computes before its activation at inputs (n, d); the last: logits."""
        below = np.asarray(inputs, float)
        levels: list[np.ndarray] = []
        for w, b in zip(self.weights, self.biases, strict=True):
            levels.append((self.phi.value(levels[-1]) if levels else below) @ w + b)
        return levels

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
        slopes = np.repeat(self.weights[-1].T[None], len(levels[0]), axis=0)
        for w, z in zip(self.weights[-2::-1], levels[-2::-1], strict=True):
            slopes = (slopes * self.phi.derivative(z)[:, None, :]) @ w.T
        return slopes


def sensitivity(network: Network, inputs: object, of: str = "probabilities") -> np.ndarray:
    """(n,) Frobenius norms of the Jacobian of "probabilities" (softmax) or "logits" at inputs (n, d).

    Novak et al. (2018) take the probabilities; the slides' E‖J(x)‖_F does not say which. The two answer differently:
    where a network is sure of its answer the probabilities no longer move, however steep the logits are.

    >>> sensitivity(Network([[[3.0, 0.0]]], [[0.0, 0.0]]), [[0.0], [5.0]], of="logits").tolist()
    [3.0, 3.0]
    """
    jacobian = network.jacobian(inputs)
    if of == "probabilities":
        p = softmax(network(inputs), axis=1)  # the Jacobian is (diag p − p pᵀ) times that of the logits
        jacobian = p[:, :, None] * (jacobian - np.einsum("nk,nkd->nd", p, jacobian)[:, None, :])
    return np.sqrt(np.einsum("nkd,nkd->n", jacobian, jacobian))


def as_network(source: Any, activation: str = "relu") -> Network:
    """The network of pairs of weights (fan_in, fan_out) and biases (fan_out,), lowest layer first.

    Also of a fitted ``MLPClassifier`` or ``MLPRegressor``, with its activation, without what it applies to its outputs.

    >>> as_network([([[1.0]], [0.0]), ([[2.0]], [1.0])])([[-1.0], [1.0]]).ravel().tolist()
    [1.0, 3.0]
    """
    if hasattr(source, "coefs_"):
        return Network(tuple(source.coefs_), tuple(source.intercepts_), source.activation)
    weights, biases = zip(*source, strict=True)
    return Network(weights, biases, activation)


def random_network(
    widths: Sequence[int],
    rng: np.random.Generator,
    weight_scale: float = 2**0.5,
    bias_scale: float = 0.0,
    activation: str = "relu",
) -> Network:
    """A network of independent normal weights and biases.

    Parameters
    ----------
    widths : list of int
        Numbers of inputs, of units in every hidden layer, and of outputs.
    weight_scale : float
        Standard deviation of the weights times √fan_in; by default He's, which keeps the mean square of ReLU units.
    bias_scale : float
        Standard deviation of the biases.

    Examples
    --------
    >>> random_network([3, 8, 8, 1], np.random.default_rng(0)).n_hidden
    16
    """
    weights, biases = [], []
    for fan_in, fan_out in pairwise(widths):
        weights.append(rng.normal(size=(fan_in, fan_out)) * (weight_scale / fan_in**0.5))
        biases.append(rng.normal(size=fan_out) * bias_scale)
    return Network(tuple(weights), tuple(biases), activation)
