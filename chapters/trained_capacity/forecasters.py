"""Three small forecasters of a series: a TCN, a GRU and a causal transformer, as functions of the whole series.

Each is a function (params, (T,) series) → (T,) forecasts of the next values, of which none sees what comes after it.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from chapters.trained_capacity.networks import Apply, Params, random_params

N_INPUTS = {"TCN": 1024, "GRU": 128, "transformer": 64}
"""That the TCN and the transformer see; of the GRU, whose memory has no end, those in which events are planted."""
CHANNELS, UNITS, WIDTH, HEADS = 4, 16, 8, 2


def tcn(params: Params, series: Any) -> Any:
    """Ten residual layers of ReLU units with two taps, whose dilations are 1, 2, …, 512."""
    state = params["in"].T @ series[None] + params["in bias"][:, None]
    for layer in range(10):
        late = jnp.pad(state, ((0, 0), (2**layer, 0)))[:, : len(series)]
        drive = params[f"taps {layer}"].T @ jnp.concatenate([state, late])
        state = state + jax.nn.relu(drive + params[f"bias {layer}"][:, None])
    return (params["out"].T @ state + params["out bias"])[0]


def gru(params: Params, series: Any) -> Any:
    """One layer of gated recurrent units."""

    def step(state: Any, value: Any) -> Any:
        gates = jax.nn.sigmoid(jnp.append(state, value) @ params["gates"] + params["gates bias"])
        update, reset = jnp.split(gates, 2)
        new = jnp.tanh(jnp.append(reset * state, value) @ params["new"] + params["new bias"])
        state = update * state + (1 - update) * new
        return state, state

    states = jax.lax.scan(step, jnp.zeros_like(params["new bias"]), series)[1]
    return (states @ params["out"] + params["out bias"])[:, 0]


def transformer(params: Params, series: Any) -> Any:
    """A block of attention to the latest 64 values, with a bias for each lag, and of ReLU units; no normalisation.

    Attention is computed in blocks of 64 places, of which each sees itself and the block before.
    """
    size = N_INPUTS["transformer"]
    state = jnp.pad(series, (0, -len(series) % size))[:, None] * params["in"] + params["in bias"]
    query, key, value = (
        (state @ params[name]).reshape(-1, size, HEADS, WIDTH // HEADS) for name in ("query", "key", "value")
    )
    key, value = (jnp.concatenate([jnp.roll(each, 1, axis=0), each], axis=1) for each in (key, value))
    lags = np.arange(size)[:, None] + size - np.arange(2 * size)
    seen = (lags >= 0) & (lags < size)
    first = np.arange(len(query))[:, None, None, None] == 0  # before which there is nothing
    scores = jnp.einsum("bihd,bjhd->bhij", query, key) / np.sqrt(WIDTH / HEADS) + params["lags"][:, lags % size]
    scores = jnp.where(seen & ~(first & (np.arange(2 * size) < size)), scores, -jnp.inf)
    read = jnp.einsum("bhij,bjhd->bihd", jax.nn.softmax(scores, axis=-1), value)
    state = state + read.reshape(-1, WIDTH) @ params["read"]
    state = state + jax.nn.relu(state @ params["up"] + params["up bias"]) @ params["down"]
    return (state @ params["out"] + params["out bias"])[: len(series), 0]


FORECASTERS: dict[str, tuple[Apply, dict[str, tuple[int, ...]]]] = {
    "TCN": (
        tcn,
        {"in": (1, CHANNELS), "in bias": (CHANNELS,), "out": (CHANNELS, 1), "out bias": (1,)}
        | {f"taps {layer}": (2 * CHANNELS, CHANNELS) for layer in range(10)}
        | {f"bias {layer}": (CHANNELS,) for layer in range(10)},
    ),
    "GRU": (
        gru,
        {"gates": (UNITS + 1, 2 * UNITS), "gates bias": (2 * UNITS,), "new": (UNITS + 1, UNITS)}
        | {"new bias": (UNITS,), "out": (UNITS, 1), "out bias": (1,)},
    ),
    "transformer": (
        transformer,
        dict.fromkeys(("query", "key", "value", "read"), (WIDTH, WIDTH))
        | {"in": (1, WIDTH), "in bias": (WIDTH,), "lags": (HEADS, N_INPUTS["transformer"])}
        | {"up": (WIDTH, 2 * WIDTH), "up bias": (2 * WIDTH,), "down": (2 * WIDTH, WIDTH)}
        | {"out": (WIDTH, 1), "out bias": (1,)},
    ),
}
"""Name → function and shapes of its parameters."""
SIDE_BY_SIDE = {"TCN": 1, "GRU": 25, "transformer": 1}
"""Networks that are trained at once, as many as are quickest."""


def first_params(name: str, seed: int) -> Params:
    """Where training starts.

    >>> [sum(each.size for each in first_params(name, 0).values()) for name in FORECASTERS]
    [373, 881, 681]
    """
    return random_params(FORECASTERS[name][1], np.random.default_rng([seed, 48]))
