"""Networks with the skeleton of a stack, trained side by side on many series, and what they generate by themselves."""

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from chapters.far_structure.series import LENGTH
from chapters.far_structure.stacks import N_INPUTS, Stack
from chapters.trained_capacity.networks import UNITS

LIMIT = 20.0
"""Standard deviations of the series; values generated are kept within, and a network that reaches it has diverged."""
LOOK = 20
"""Steps between two looks at the validation loss."""
CLIP, RATE = 5.0, 0.02
"""Largest norm of a gradient, and largest rate of the schedule, which rises and falls once."""
Params = list[tuple[Any, Any]]


def first_params(stack: Stack, units: str, seed: int) -> Params:
    """Weights (channels, taps · channels) of variance 1 / inputs, and biases of zero, for each layer.

    >>> [w.shape for w, _ in first_params(Stack((4, 4), (3,)), "gated", 0)]
    [(6, 4), (1, 12)]
    """
    rng = np.random.default_rng([seed, 38])
    widths, params = (1, *stack.channels, 1), []
    for layer, kernel in enumerate(stack.kernels):
        inputs, hidden = kernel * widths[layer], layer < len(stack.channels)
        after = widths[layer + 1] * (2 if hidden and units == "gated" else 1)
        weights = rng.normal(size=(after, inputs)) / np.sqrt(inputs)
        params.append((weights.astype(np.float32), np.zeros((after, 1), np.float32)))
    return params


def n_params(stack: Stack, units: str) -> int:
    """Parameters of the network, biases among them.

    >>> [n_params(Stack((4, 4), (3,)), units) for units in UNITS]
    [28, 28, 43]
    """
    return sum(w.size + b.size for w, b in first_params(stack, units, 0))


def forecasts(params: Params, series: Any, kernels: tuple[int, ...], units: str) -> Any:
    """(T − n + 1,) forecasts of the value after each window of a series (T,)."""
    state, dilation = series[None], 1
    for layer, ((weights, bias), kernel) in enumerate(zip(params, kernels, strict=True)):
        length = state.shape[1] - (kernel - 1) * dilation
        starts = [(kernel - 1 - tap) * dilation for tap in range(kernel)]
        drive = weights @ jnp.concatenate([state[:, start : start + length] for start in starts]) + bias
        state = drive if layer == len(kernels) - 1 else UNITS[units](drive, 0)
        dilation *= kernel
    return state[0]


def next_values(params: Params, windows: Any, kernels: tuple[int, ...], units: str) -> Any:
    """(B,) forecasts of the values after windows (B, n), lag 0 first: the same function, one window at a time."""
    state = windows[..., None]
    for layer, ((weights, bias), kernel) in enumerate(zip(params, kernels, strict=True)):
        count, length, channels = state.shape
        drive = state.reshape(count, length // kernel, kernel * channels) @ weights.T + bias[:, 0]
        state = drive if layer == len(kernels) - 1 else UNITS[units](drive)
    return state[:, 0, 0]


def errors(params: Params, series: Any, kernels: tuple[int, ...], units: str) -> Any:
    """(T − 64,) the values of a series (T,) from the 65th on, less their forecasts."""
    predictions = forecasts(params, series[:-1], kernels, units)
    return series[N_INPUTS:] - predictions[len(predictions) - (len(series) - N_INPUTS) :]


def parts(n_values: int) -> np.ndarray:
    """(3, LENGTH − 64) weights of the targets of training, validation and test: 60, 15 and 25 % of the values.

    >>> parts(1000).sum(axis=1).round(6).tolist(), np.flatnonzero(parts(1000)[2])[[0, -1]].tolist()
    ([1.0, 1.0, 1.0], [686, 935])
    """
    ends = [N_INPUTS, round(0.6 * n_values), round(0.75 * n_values), n_values]
    at = np.arange(N_INPUTS, LENGTH)
    chosen = np.array([(a <= at) & (at < b) for a, b in pairwise(ends)], dtype=float)
    return chosen / chosen.sum(axis=1, keepdims=True)


class Trained(NamedTuple):
    """Networks (…) of one shape.

    ``params``, ``losses`` (…, 3) on training, validation and test, ``values`` (…, B, T) that they generate.
    """

    params: Any
    losses: Any
    values: Any


def trained(
    params: Params, series: Any, weights: Any, seed: Any, kernels: tuple[int, ...], units: str, steps: int, shape: Any
) -> Trained:
    """A network trained by Adam on the whole training part, as it was at its least validation loss, and its sequences.

    shape : (B, T), sequences and their length.
    """
    rule = optax.chain(
        optax.clip_by_global_norm(CLIP), optax.adam(optax.cosine_onecycle_schedule(steps, RATE, pct_start=0.3))
    )

    def loss(params: Params, weights: Any) -> Any:
        return weights @ errors(params, series, kernels, units) ** 2

    def step(state: Any, _: None) -> Any:
        params, memory = state
        update, memory = rule.update(jax.grad(loss)(params, weights[0]), memory)
        return (optax.apply_updates(params, update), memory), None

    def stretch(state: Any, _: None) -> Any:
        now, best, least = state
        now, _ = jax.lax.scan(step, now, None, length=LOOK)
        reached = loss(now[0], weights[1])
        best = jax.tree.map(lambda new, old: jnp.where(reached < least, new, old), now[0], best)
        return (now, best, jnp.minimum(reached, least)), None

    start = ((params, rule.init(params)), params, jnp.inf)
    (_, best, _), _ = jax.lax.scan(stretch, start, None, length=steps // LOOK)
    left = errors(best, series, kernels, units)
    values = generated(best, series, weights[0], left, seed, kernels, units, shape)
    return Trained(best, weights @ left**2, values)


def generated(
    params: Params, series: Any, weights: Any, left: Any, seed: Any, kernels: tuple[int, ...], units: str, shape: Any
) -> Any:
    """(B, T) values of a network that is fed its own outputs, each with a residual of its training added."""
    count = jnp.sum(weights > 0)
    size = int(np.prod(kernels))
    begin = jax.lax.dynamic_slice(series, (count + N_INPUTS - size,), (size,))[::-1]

    def step(windows: Any, key: Any) -> Any:
        drawn = jax.random.randint(key, (shape[0],), 0, count)
        value = jnp.clip(next_values(params, windows, kernels, units) + left[drawn], -LIMIT, LIMIT)
        return jnp.concatenate([value[:, None], windows[:, :-1]], axis=1), value

    keys = jax.random.split(jax.random.key(seed), shape[1])
    return jax.lax.scan(step, jnp.broadcast_to(begin, (shape[0], size)), keys)[1].T


def train_all(
    stack: Stack, units: str, data: np.ndarray, sizes: list[int], seeds: list[int], steps: int, shape: tuple[int, int]
) -> Trained:
    """Networks (series, seeds) of a stack: every series (S, LENGTH), of which only the first values count, every seed.

    All seeds start from weights of their own, which are the same for all series.
    """
    starts = jax.tree.map(lambda *leaves: np.stack(leaves), *[first_params(stack, units, seed) for seed in seeds])
    weights = np.stack([parts(size) for size in sizes]).astype(np.float32)
    one = partial(trained, kernels=stack.kernels, units=units, steps=steps, shape=shape)
    run = jax.jit(jax.vmap(jax.vmap(one, (0, None, None, 0)), (None, 0, 0, None)))
    return Trained(*jax.tree.map(np.asarray, run(starts, data.astype(np.float32), weights, np.array(seeds))))
