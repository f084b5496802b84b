"""Activation functions by name, with their slopes and, where they are piecewise linear, their kinks and pieces."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit


class Activation(NamedTuple):
    """A function applied unit by unit.

    Attributes
    ----------
    name : str
        As :func:`activation` knows it.
    value : callable
        Array → array of the same shape.
    derivative : callable
        Array → its slopes; at a kink the slope on the left.
    kinks : tuple of float
        Pre-activations at which the slope jumps, ascending; empty for a function without kinks.
    pieces : tuple of tuples
        (slope, intercept) of the pieces from left to right, one more than kinks; empty unless piecewise linear.
    """

    name: str
    value: Callable[[np.ndarray], np.ndarray]
    derivative: Callable[[np.ndarray], np.ndarray]
    kinks: tuple[float, ...] = ()
    pieces: tuple[tuple[float, float], ...] = ()

    @property
    def piecewise_linear(self) -> bool:
        """Whether a network with this activation is piecewise linear: then it has linear regions."""
        return bool(self.pieces)

    def piece(self, pre_activations: np.ndarray) -> np.ndarray:
        """The index of the piece that each pre-activation lies in, on a kink that on the left; same shape."""
        if not self.pieces:
            raise ValueError(f"activation: found {self.name!r}, expected a piecewise linear one. It has no regions.")
        return np.searchsorted(self.kinks, pre_activations, side="left")


def piecewise(name: str, kinks: tuple[float, ...], pieces: tuple[tuple[float, float], ...]) -> Activation:
    """The activation with those kinks and (slope, intercept) of the pieces between them, from left to right."""
    slopes, intercepts = np.array(pieces).T
    at = np.array(kinks)

    def value(z: np.ndarray) -> np.ndarray:
        k = np.searchsorted(at, z)
        return slopes[k] * z + intercepts[k]

    def derivative(z: np.ndarray) -> np.ndarray:
        return slopes[np.searchsorted(at, z)]

    return Activation(name, value, derivative, kinks, pieces)


def activation(name: str) -> Activation:
    """The activation "relu", "leaky_relu" (of slope 0.2 below zero), "hard_tanh", "tanh" or "logistic".

    >>> activation("hard_tanh").value(np.array([-3.0, 0.5, 2.0])).tolist()
    [-1.0, 0.5, 1.0]
    """
    if name == "tanh":
        return Activation(name, np.tanh, lambda z: 1 - np.tanh(z) ** 2)
    if name == "logistic":
        return Activation(name, expit, lambda z: expit(z) * expit(-z))
    kinks, pieces = {
        "hard_tanh": ((-1.0, 1.0), ((0.0, -1.0), (1.0, 0.0), (0.0, 1.0))),
        "leaky_relu": ((0.0,), ((0.2, 0.0), (1.0, 0.0))),
        "relu": ((0.0,), ((0.0, 0.0), (1.0, 0.0))),
    }[name]
    if name == "relu":  # as training uses it most, without looking up pieces
        return Activation(name, lambda z: np.maximum(z, 0), lambda z: (z > 0).astype(float), kinks, pieces)
    return piecewise(name, kinks, pieces)
