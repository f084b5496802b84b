"""Two tasks for residual networks of a given scale: handwritten digits, and carrying a value over a distance.

Only the blocks are trained. Embedding and read-out are drawn and stay, so that what the blocks do not learn is not
learned elsewhere; the state is brought to unit mean square before it is read, so that its size alone spoils nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from capcore.validation import finite_number, positive_integer
from chapters.scaling_conjecture.residual import draw_blocks, through_blocks
from chapters.shared.data import digits

READOUT_GAIN = 2.0  # of the digits' read-out: logits large enough for losses near zero
Batch = tuple[jax.Array, ...]


@dataclass(frozen=True)
class Task:
    """What ``train`` needs, and the network's state for looking inside.

    Attributes
    ----------
    initial : random key → parameters. loss : (parameters, batch) → scalar. data : arrays, or random key → batch.
    ends : (parameters, inputs) → x_0 and x_L. trivial : loss of the best answer that does not look at the input.
    """

    initial: Callable[[jax.Array], Any]
    loss: Callable[[Any, Batch], jax.Array]
    data: list[np.ndarray] | Callable[[jax.Array], Batch]
    ends: Callable[[Any, jax.Array], tuple[jax.Array, jax.Array]]
    trivial: float


def residual_scale(n_layers: int, exponent: float) -> float:
    """L^-a, the factor of every block.

    >>> residual_scale(256, 0.5)
    0.0625
    """
    a = finite_number(exponent, "exponent")
    return float(positive_integer(n_layers, "n_layers")) ** -a


def digits_task(
    kind: str, n_layers: int, exponent: float, width: int = 32, *, normalised: bool = False, zero_start: bool = False
) -> Task:
    """Cross-entropy (nats) of a dense residual network on the training digits.

    Parameters
    ----------
    kind : see ``residual``. exponent : a of the scale L^-a. zero_start : a scale for every block
        that starts at zero and is trained (ReZero), in place of L^-a.

    >>> round(digits_task("tanh", 8, 0.5).trivial, 2)
    2.3
    """
    scale = residual_scale(n_layers, exponent)
    train = digits()
    n_in, n_out = train.x.shape[1], 10

    def initial(key: jax.Array) -> Any:
        inner, outer, middle = jax.random.split(key, 3)
        return {
            "embedding": jax.random.normal(inner, (n_in, width)) / sqrt(n_in),
            "readout": READOUT_GAIN * jax.random.normal(outer, (width, n_out)) / sqrt(width),
            "blocks": draw_blocks(middle, kind, n_layers, width),
            "scale": jnp.zeros(n_layers) if zero_start else jnp.asarray(scale),
        }

    def ends(params: Any, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        start = x @ jax.lax.stop_gradient(params["embedding"])
        s = params["scale"] if zero_start else jax.lax.stop_gradient(params["scale"])
        return start, through_blocks(params["blocks"], start, s, kind, normalised=normalised)

    def loss(params: Any, batch: Batch) -> jax.Array:
        logits = _unit(ends(params, batch[0])[1]) @ jax.lax.stop_gradient(params["readout"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch[1]).mean()

    return Task(initial, loss, [train.x, train.y], ends, float(np.log(n_out)))


def transport_task(
    kind: str,
    n_layers: int,
    exponent: float,
    width: int = 8,
    *,
    distance: int = 4,
    positions: int = 32,
    batch: int = 16,
) -> Task:
    """Mean squared error of a convolutional residual network that must show every mark ``distance`` places further on.

    Marks are independent signs on a ring of ``positions``, freshly drawn for every batch; blocks see three neighbouring
    positions, and a position's output is read from its own channels. Answering zero has loss 1.

    Raises ``ValueError`` where no path of L layers is that long, or where the ring is shorter the other way round.
    """
    scale, reach = residual_scale(n_layers, exponent), positive_integer(distance, "distance")
    if reach > n_layers:
        raise ValueError(f"distance: found {reach}, expected at most the number of layers, {n_layers}.")
    if reach > positive_integer(positions, "positions") // 2:
        raise ValueError(f"distance: found {reach}, expected at most half of the {positions} positions.")

    def initial(key: jax.Array) -> Any:
        inner, outer, middle = jax.random.split(key, 3)
        return {
            "embedding": jax.random.normal(inner, (1, width)),
            "readout": jax.random.normal(outer, (width, 1)) / sqrt(width),
            "blocks": draw_blocks(middle, kind, n_layers, width, taps=3),
            "scale": jnp.asarray(scale),
        }

    def data(key: jax.Array) -> Batch:
        marks = jax.random.rademacher(key, (batch, positions)).astype(jnp.float32)
        return marks, jnp.roll(marks, reach, axis=-1)

    def ends(params: Any, marks: jax.Array) -> tuple[jax.Array, jax.Array]:
        start = marks[..., None] @ jax.lax.stop_gradient(params["embedding"])
        s = jax.lax.stop_gradient(params["scale"])
        return start, through_blocks(params["blocks"], start, s, kind, taps=3)

    def loss(params: Any, batch: Batch) -> jax.Array:
        shown = _unit(ends(params, batch[0])[1]) @ jax.lax.stop_gradient(params["readout"])
        return jnp.mean((shown[..., 0] - batch[1]) ** 2)

    return Task(initial, loss, data, ends, 1.0)


def _unit(x: jax.Array) -> jax.Array:
    """``x`` at unit mean square over its last axis; the size is a constant small enough not to matter."""
    return x / jnp.sqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-12)
