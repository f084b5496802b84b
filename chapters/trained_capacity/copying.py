"""A small causal transformer on a source that copies: where is the capacity, by the lag of the token?

A token repeats the one at lag 3 from now, four before itself, with probability 0.8, and is random otherwise; squared
loss against one-hot tokens. ``python -m chapters run copying_transformer`` makes it again, in about two minutes on one
core.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from chapters.kit.witness import Witness
from chapters.trained_capacity.directions import whitened
from chapters.trained_capacity.networks import Params, random_params
from chapters.trained_capacity.optimum import Response, Task, settle

SETTINGS: dict[str, Any] = {"seeds": [0, 1, 2, 3, 4], "n_sequences": 120, "decay": 1.0, "n_steps": 1500, "newton": 15}
QUICK: dict[str, Any] = {"seeds": [0], "n_sequences": 10, "n_steps": 5, "newton": 1}
PACKAGES = ("jax",)
KINDS, LENGTH, LAGS = 4, 12, 8  # tokens, their places, and lags that every prediction has
COPIED, FAITHFUL = 3, 0.8
WIDTH = 8
SHAPES: dict[str, tuple[int, ...]] = {
    "tokens": (KINDS, WIDTH),
    "places": (LENGTH, WIDTH),
    **dict.fromkeys(("query", "key", "value", "output"), (WIDTH, WIDTH)),
    "up": (WIDTH, 2 * WIDTH),
    "down": (2 * WIDTH, WIDTH),
    "logits": (WIDTH, KINDS),
}
WITNESS = Witness(
    ["seeds"], fixed={"n_steps": 1, "newton": 1}, partial=["trained", "attention"], reason="Training takes a minute."
)
"""672 parameters."""


def transformer(params: Params, tokens: Any) -> Any:
    """(N, 5 · 4) scores of the next token at the last five places; tokens : (N, 12), the oldest first."""
    x = params["tokens"][tokens] + params["places"]
    query, key, value = (x @ params[name] for name in ("query", "key", "value"))
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(WIDTH)
    weights = jax.nn.softmax(jnp.where(np.tri(LENGTH, dtype=bool), scores, -jnp.inf), axis=-1)
    x = x + weights @ value @ params["output"]
    x = x + jnp.tanh(x @ params["up"]) @ params["down"]
    return (x[..., LAGS - 1 :, :] @ params["logits"]).reshape(*tokens.shape[:-1], -1)


def sequences(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(n, 12) tokens, and the next ones (n, 5 · 4) at the last five places, one-hot.

    >>> tokens, following = sequences(3, np.random.default_rng(0))
    >>> tokens.shape, following.shape, following.sum()
    ((3, 12), (3, 20), np.float64(15.0))
    """
    found = rng.integers(0, KINDS, (n, LENGTH + 1))
    for t in range(COPIED + 1, LENGTH + 1):
        copies = rng.random(n) < FAITHFUL
        found[copies, t] = found[copies, t - COPIED - 1]
    return found[:, :-1], np.eye(KINDS)[found[:, LAGS:]].reshape(n, -1)


def by_lag(response: Response, tokens: np.ndarray) -> list[float]:
    """(8,) capacity of the tokens at each lag, whitened together, over all four scores; at most 12 each."""
    places = np.arange(LAGS - 1, LENGTH)
    found = np.eye(KINDS)[tokens[:, places[:, None] - np.arange(LAGS)]]  # (N, 5, lag, kind)
    columns = whitened(found.reshape(-1, LAGS * KINDS))
    return response.capacity(columns).sum(axis=1).reshape(LAGS, KINDS).sum(axis=1).round(4).tolist()


@jax.enable_x64(True)
def attention(params: Params, tokens: np.ndarray) -> list[float]:
    """(8,) mean weight of attention that the last place gives to each lag."""
    x = params["tokens"][tokens] + params["places"]
    scores = (x[:, -1:] @ params["query"]) @ (x @ params["key"]).swapaxes(-1, -2) / np.sqrt(WIDTH)
    weights = np.asarray(jax.nn.softmax(scores, axis=-1))[:, 0].mean(axis=0)
    return weights[::-1][:LAGS].round(4).tolist()


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> list[dict[str, Any]]:
    """By seed: capacity by lag when trained and before, by Gauss–Newton there, and attention."""
    found = []
    for seed in tqdm(settings["seeds"], unit="seed", disable=not progress):
        rng = np.random.default_rng([seed, 13])
        tokens, following = sequences(settings["n_sequences"], rng)
        task = Task(transformer, tokens, following, settings["decay"])
        start = random_params(SHAPES, rng)
        best = settle(task, start, settings["n_steps"], settings["newton"]).params
        found.append(
            {
                "trained": by_lag(Response(task, best), tokens),
                "random": by_lag(Response(task, start, gauss_newton=True), tokens),
                "attention": attention(best, tokens),
            }
        )
    return found
