"""Deep residual networks x ← x + s f(x): blocks of three kinds, dense or convolutional, with depth as a scan.

The blocks are those whose scale s = L^-a the scaling conjecture of paper 2 is about (§2, Eq. 5):

``tanh``
    f(x) = tanh(Wx), weights of variance 1/n.
``relu``
    f(x) = max(Wx, 0), variance 2/n. Its mean is not zero, so that a depth of L adds a drift of order L s.
``two-layer``
    f(x) = V max(Wx, 0), variances 2/n and 1/n: mean zero over V, and |f(x)|² = |x|² in expectation.

n counts what W sums over: the channels, times the taps in a convolution.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import jax
import jax.numpy as jnp

from capcore.validation import one_of, positive_integer

BLOCKS = ("tanh", "relu", "two-layer")
Weights = dict[str, jax.Array]


def draw_blocks(key: jax.Array, kind: str, n_layers: int, width: int, taps: int = 1, shared: bool = False) -> Weights:
    """Independent normal weights of all layers, (L, taps · width, width) each; one layer's for all if ``shared``.

    Raises ``ValueError`` for an unknown kind, counts below one, and an even number of taps.

    >>> {name: w.shape for name, w in draw_blocks(jax.random.key(0), "two-layer", 8, 4, taps=3).items()}
    {'W': (8, 12, 4), 'V': (8, 4, 4)}
    """
    one_of(kind, "kind", BLOCKS)
    depth, n = positive_integer(n_layers, "n_layers"), positive_integer(width, "width")
    if positive_integer(taps, "taps") % 2 == 0:
        raise ValueError(f"taps: found {taps}, expected an odd number, the same on both sides.")
    drawn = 1 if shared else depth
    first, second = jax.random.split(key)
    gain = 1 if kind == "tanh" else 2
    weights = {"W": sqrt(gain / (taps * n)) * jax.random.normal(first, (drawn, taps * n, n))}
    if kind == "two-layer":
        weights["V"] = sqrt(1 / n) * jax.random.normal(second, (drawn, n, n))
    return {name: jnp.broadcast_to(w, (depth, *w.shape[1:])) for name, w in weights.items()}


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
