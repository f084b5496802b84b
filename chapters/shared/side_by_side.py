"""Training on data that differ from run to run: seeds with their own labels, inputs and starts, side by side.

Where ``train`` shares the data between its runs, here every seed brings its own.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

Params = Any  # a tree of arrays
Layers = list[tuple[jax.Array, jax.Array]]


def draw_layers(key: jax.Array, widths: Sequence[int], gain: float = 1.0) -> Layers:
    """Weights (fan_in, fan_out), normal with standard deviation ``gain``/√fan_in, and biases of zero, lowest first."""
    keys = jax.random.split(key, len(widths) - 1)
    pairs = zip(keys, widths[:-1], widths[1:], strict=True)
    return [(gain * jax.random.normal(k, (a, b)) / sqrt(a), jnp.zeros(b)) for k, a, b in pairs]


def through_layers(layers: Layers, x: jax.Array, f: Callable[[jax.Array], jax.Array]) -> jax.Array:
    """Logits (…, n_outputs) at inputs (…, d), with the activation f after all layers but the last."""
    for w, b in layers[:-1]:
        x = f(x @ w + b)
    w, b = layers[-1]
    return x @ w + b


def train_side_by_side(
    initial: Callable[[jax.Array], Params],
    loss: Callable[[Params, jax.Array, jax.Array], jax.Array],
    inputs: np.ndarray,
    targets: np.ndarray,
    *,
    learning_rates: Sequence[float],
    n_steps: int,
    batch_size: int,
    seeds: Sequence[int],
) -> Params:
    """Final parameters by Adam, each array with leading axes (rates, seeds); learning rates fall linearly to zero.

    Parameters
    ----------
    initial : callable
        Random key → parameters.
    loss : callable
        (parameters, inputs, targets) → scalar.
    inputs : (seeds, n, …) array
        Each seed's own.
    targets : (seeds, n, …) array
        Likewise.
    learning_rates : sequence of float
        Where they begin.
    n_steps : int
        Of Adam.
    batch_size : int
        Examples a step, drawn with replacement; all n at once if there are no more.
    seeds : sequence of int
        Of starts and batches, the same at all learning rates.
    """
    count, rule = inputs.shape[1], optax.scale_by_adam()

    def run(key: jax.Array, x: jax.Array, y: jax.Array, rate: jax.Array) -> Params:
        start, batches = jax.random.split(key)
        first = initial(start)

        def step(state: tuple[Params, Any], at: tuple[jax.Array, jax.Array]) -> tuple[tuple[Params, Any], None]:
            params, memory = state
            k, factor = at
            chosen = jax.random.randint(k, (batch_size,), 0, count) if count > batch_size else slice(None)
            slope = jax.grad(loss)(params, x[chosen], y[chosen])
            update, memory = rule.update(slope, memory, params)
            return (jax.tree.map(lambda p, u: p - rate * factor * u, params, update), memory), None

        factors = 1 - jnp.arange(n_steps) / n_steps
        return jax.lax.scan(step, (first, rule.init(first)), (jax.random.split(batches, n_steps), factors))[0][0]

    keys = jnp.stack([jax.random.key(seed) for seed in seeds])
    over_seeds = jax.vmap(run, (0, 0, 0, None))
    over_rates = jax.jit(jax.vmap(over_seeds, (None, None, None, 0)))
    return over_rates(keys, jnp.asarray(inputs), jnp.asarray(targets), jnp.asarray(learning_rates, dtype=jnp.float32))


def as_pairs(layers: Layers, *index: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """One run's layers in double precision, as :func:`~chapters.shared.complexity.network.as_network` reads them."""
    return [(np.asarray(w[index], dtype=float), np.asarray(b[index], dtype=float)) for w, b in layers]
