"""Residual networks that are given something again in every layer: side inputs or biases (paper 2, Eqs 13 and 17).

One layer is x ← x + L^-½ V max(Wx, 0) + γ s_ℓ, where s_ℓ is the side input of that layer, of unit variance, or its
bias. The blocks have mean zero over V and pass squared norms on unchanged in expectation. *Divided* layers divide the
sum by √(1 + 1/L + γ²), its norm for independent s_ℓ, so that squared gradients are conserved in expectation: the
columns of Eq. 15, which Eq. 13 as printed does not have.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import jax
import jax.numpy as jnp

from capcore.validation import finite_number, positive_integer

Weights = dict[str, jax.Array]


def side_scale(n_layers: int, exponent: float) -> float:
    """γ = L^-g.

    >>> side_scale(256, 0.5)
    0.0625
    """
    return float(positive_integer(n_layers, "n_layers") ** -finite_number(exponent, "exponent"))


def divisor(n_layers: int, gamma: float, divided: bool) -> float:
    """√(1 + 1/L + γ²) for divided layers, otherwise one.

    >>> divisor(4, 2.0, False), round(divisor(4, 2.0, True), 3)
    (1.0, 2.291)
    """
    return sqrt(1 + 1 / n_layers + gamma**2) if divided else 1.0


def draw_layers(key: jax.Array, n_layers: int, width: int) -> Weights:
    """W of variance 2/n and V of variance 1/n, normal, (L, n, n) each.

    >>> {name: w.shape for name, w in draw_layers(jax.random.key(0), 8, 4).items()}
    {'W': (8, 4, 4), 'V': (8, 4, 4)}
    """
    shape = (positive_integer(n_layers, "n_layers"), positive_integer(width, "width"), width)
    inner, outer = jax.random.split(key)
    return {
        "W": sqrt(2 / width) * jax.random.normal(inner, shape),
        "V": sqrt(1 / width) * jax.random.normal(outer, shape),
    }


def through_layers(layers: Weights, x: jax.Array, sides: jax.Array, gamma: Any, norm: Any) -> jax.Array:
    """x_L (…, n) from x_0 (…, n) and the side inputs of all layers, lowest first, (L, …, n).

    Parameters
    ----------
    gamma, norm : numbers; what side inputs are multiplied by, and what every sum is divided by.

    >>> layers = draw_layers(jax.random.key(0), 8, 4)
    >>> through_layers(layers, jnp.ones(4), jnp.zeros((8, 4)), 0.0, 1.0).shape
    (4,)
    """
    n_layers = layers["W"].shape[0]

    def layer(state: jax.Array, now: tuple[Weights, jax.Array]) -> tuple[jax.Array, None]:
        own, side = now
        branch = jax.nn.relu(state @ own["W"]) @ own["V"]
        return (state + branch / sqrt(n_layers) + gamma * side) / norm, None

    return jax.lax.scan(layer, x, (layers, sides))[0]


def gradient_shares(
    key: jax.Array, n_layers: int, width: int, gamma: Any, norm: Any, *, same: bool = False, n_inputs: int = 16
) -> jax.Array:
    """Share of the squared gradient that arrives at X in one untrained network, a scalar between 0 and 1.

    Squared gradients of a random direction of x_L with respect to x_0 and to the side inputs are added up over
    ``n_inputs`` random inputs, with a direction of its own for each. Side inputs of different layers are different
    inputs, whose squares add; or, with ``same``, one input, whose gradient is a sum over layers before it is squared.
    In single precision: a share below 1e-38 is given as zero. ``gamma`` and ``norm`` as in :func:`through_layers`.

    >>> float(gradient_shares(jax.random.key(0), 8, 4, 0.0, 1.0))
    1.0
    """
    weights, start, side, direction = jax.random.split(key, 4)
    layers = draw_layers(weights, n_layers, width)
    x = jax.random.normal(start, (positive_integer(n_inputs, "n_inputs"), width))
    sides = jax.random.normal(side, (1 if same else n_layers, *x.shape))
    sides = jnp.broadcast_to(sides, (n_layers, *x.shape))
    _, pull = jax.vjp(lambda a, b: through_layers(layers, a, b, gamma, norm), x, sides)
    on_x, on_sides = pull(jax.random.normal(direction, x.shape))
    reached = jnp.sum(on_x**2)
    leaked = jnp.sum(on_sides.sum(axis=0) ** 2) if same else jnp.sum(on_sides**2)
    return reached / (reached + leaked)
