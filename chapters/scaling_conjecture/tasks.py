"""Residual networks of scale L^-a, and two tasks for them: reading digits, and carrying marks along a ring.

The networks x ← x + s f(x) have the blocks whose scale s = L^-a the scaling conjecture of paper 2 is about (§2, Eq. 5):

``tanh``
    f(x) = tanh(Wx), weights of variance 1/n.
``relu``
    f(x) = max(Wx, 0), variance 2/n. Its mean is not zero, so that a depth of L adds a drift of order L s.
``two-layer``
    f(x) = V max(Wx, 0), variances 2/n and 1/n: mean zero over V, and |f(x)|² = |x|² in expectation.

n counts what W sums over: the channels, times the taps in a convolution.

Only the blocks are trained. Embedding and read-out are drawn and stay, so that what the blocks do not learn is not
learned elsewhere; the state is brought to unit mean square before it is read, so that its size alone spoils nothing.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from chapters.shared.data import digits

Weights = dict[str, jax.Array]
Batch = tuple[jax.Array, ...]
READOUT_GAIN = 2.0  # of the digits' read-out: logits large enough for losses near zero


def draw_blocks(key: jax.Array, kind: str, n_layers: int, width: int, taps: int = 1) -> Weights:
    """Independent normal weights of all layers, (L, taps · width, width) each.

    >>> {name: w.shape for name, w in draw_blocks(jax.random.key(0), "two-layer", 8, 4, taps=3).items()}
    {'W': (8, 12, 4), 'V': (8, 4, 4)}
    """
    first, second = jax.random.split(key)
    gain = 1 if kind == "tanh" else 2
    weights = {"W": sqrt(gain / (taps * width)) * jax.random.normal(first, (n_layers, taps * width, width))}
    if kind == "two-layer":
        weights["V"] = sqrt(1 / width) * jax.random.normal(second, (n_layers, width, width))
    return weights


def block(kind: str, weights: Weights, x: jax.Array, taps: int = 1) -> jax.Array:
    """f(x) of one layer; x : (…, n), or (…, positions, n) on a ring of positions where there are several taps.

    Tap j of W, its rows j n … (j + 1) n − 1, reads the position j − (taps − 1)/2 further on.
    """
    n = x.shape[-1]
    seen = [x @ weights["W"][j * n : (j + 1) * n] for j in range(taps)]
    h = sum(jnp.roll(part, taps // 2 - j, axis=-2) for j, part in enumerate(seen)) if taps > 1 else seen[0]
    if kind == "tanh":
        return jnp.tanh(h)
    h = jax.nn.relu(h)
    return h @ weights["V"] if kind == "two-layer" else h


def through_blocks(
    weights: Weights, x: jax.Array, scale: Any, kind: str, taps: int = 1, normalised: bool = False
) -> jax.Array:
    """x_L after the blocks; shapes as in :func:`block`.

    Parameters
    ----------
    scale : s, a number or (L,). normalised : x ← (x + s f(x)) / √(1 + s²). For ``two-layer`` and ``relu`` this is
        the same function but for one factor, and cannot overflow.

    >>> weights = draw_blocks(jax.random.key(0), "tanh", 8, 4)
    >>> bool((through_blocks(weights, jnp.ones(4), 0.0, "tanh") == 1).all())
    True
    """
    depth = weights["W"].shape[0]
    scales = jnp.broadcast_to(jnp.asarray(scale, dtype=x.dtype), (depth,))

    def layer(state: jax.Array, now: tuple[Weights, jax.Array]) -> tuple[jax.Array, None]:
        own, s = now
        state = state + s * block(kind, own, state, taps)
        return (state / jnp.sqrt(1 + s**2) if normalised else state), None

    return jax.lax.scan(layer, x, (weights, scales))[0]


class Task(NamedTuple):
    """What ``train`` needs, and the network's state for looking inside.

    Attributes
    ----------
    initial : random key → parameters. loss : (parameters, batch) → scalar. data : arrays, or random key → batch.
    ends : (parameters, inputs) → x_0 and x_L.
    """

    initial: Callable[[jax.Array], Any]
    loss: Callable[[Any, Batch], jax.Array]
    data: list[np.ndarray] | Callable[[jax.Array], Batch]
    ends: Callable[[Any, jax.Array], tuple[jax.Array, jax.Array]]


def residual_scale(n_layers: int, exponent: float) -> float:
    """L^-a, the factor of every block.

    >>> residual_scale(256, 0.5)
    0.0625
    """
    return float(n_layers) ** -exponent


def digits_task(
    kind: str, n_layers: int, exponent: float, width: int = 32, *, normalised: bool = False, zero_start: bool = False
) -> Task:
    """Cross-entropy (nats) of a dense residual network on the training digits.

    Parameters
    ----------
    kind : see ``tasks``. exponent : a of the scale L^-a. zero_start : a scale for every block
        that starts at zero and is trained (ReZero), in place of L^-a.

    >>> [part.shape for part in digits_task("tanh", 8, 0.5).data]
    [(1437, 64), (1437,)]
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
        logits = unit(ends(params, batch[0])[1]) @ jax.lax.stop_gradient(params["readout"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch[1]).mean()

    return Task(initial, loss, [train.x, train.y], ends)


def transport_task(
    kind: str, n_layers: int, exponent: float, width: int, *, distance: int = 4, positions: int, batch: int
) -> Task:
    """Mean squared error of a convolutional residual network that must show every mark ``distance`` places further on.

    Marks are independent signs on a ring of ``positions``, freshly drawn for every batch; blocks see three neighbouring
    positions, and a position's output is read from its own channels. Answering zero has loss 1.
    """
    scale = residual_scale(n_layers, exponent)

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
        return marks, jnp.roll(marks, distance, axis=-1)

    def ends(params: Any, marks: jax.Array) -> tuple[jax.Array, jax.Array]:
        start = marks[..., None] @ jax.lax.stop_gradient(params["embedding"])
        s = jax.lax.stop_gradient(params["scale"])
        return start, through_blocks(params["blocks"], start, s, kind, taps=3)

    def loss(params: Any, batch: Batch) -> jax.Array:
        shown = unit(ends(params, batch[0])[1]) @ jax.lax.stop_gradient(params["readout"])
        return jnp.mean((shown[..., 0] - batch[1]) ** 2)

    return Task(initial, loss, data, ends)


def unit(x: jax.Array) -> jax.Array:
    """``x`` at unit mean square over its last axis; the size is a constant small enough not to matter."""
    return x / jnp.sqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-12)
