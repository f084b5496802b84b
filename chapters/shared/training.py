"""Training the same network from many seeds at many learning rates, side by side.

What an architecture can learn must not be confused with what one learning rate makes of it: every arm of an experiment
is searched over the same learning rates, and judged at its best one.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

RULES = {"sgd": optax.identity(), "momentum": optax.trace(0.9), "adam": optax.scale_by_adam()}
"""Directions to be multiplied by the learning rate and subtracted."""
Params = Any  # a tree of arrays


class Runs(NamedTuple):
    """Every seed at every learning rate.

    Attributes
    ----------
    learning_rates : (r,) array
        One for each row of runs.
    seeds : tuple of int
        s of them.
    losses : (r, s, n_steps) array
        Loss of every batch; infinite from where a run diverges.
    params : object
        Final parameters, each array with leading axes (r, s).
    """

    learning_rates: np.ndarray
    seeds: tuple[int, ...]
    losses: np.ndarray
    params: Params

    @property
    def final(self) -> np.ndarray:
        """(r, s) mean loss over the last tenth of the steps; infinite for runs that diverge."""
        steps = self.losses.shape[-1]
        return self.losses[..., -max(steps // 10, 1) :].mean(axis=-1)

    @property
    def best(self) -> int:
        """Index of the learning rate with the lowest median final loss over the seeds; the lower rate where equal."""
        return int(np.argmin(np.median(self.final, axis=1)))


def train(
    initial: Callable[[jax.Array], Params],
    loss: Callable[[Params, tuple[jax.Array, ...]], jax.Array],
    data: Sequence[np.ndarray] | Callable[[jax.Array], tuple[jax.Array, ...]],
    *,
    learning_rates: Sequence[float],
    seeds: Sequence[int],
    n_steps: int,
    batch_size: int = 64,
    optimiser: str = "sgd",
    progress: str = "",
) -> Runs:
    """Train from every seed at every learning rate.

    Runs of one seed start from the same parameters and see the same batches at all learning rates.

    Parameters
    ----------
    initial : callable
        Random key → parameters.
    loss : callable
        (parameters, batch) → scalar, the batch being a tuple of arrays.
    data : sequence of arrays or callable
        Arrays with one leading axis, from which batches are drawn with replacement; or random key → batch.
    learning_rates : sequence of float
        Each is constant.
    seeds : sequence of int
        Of starts and batches.
    n_steps : int
        Batches seen.
    batch_size : int
        Examples in each.
    optimiser : str
        Of :data:`RULES`; nothing is clipped.
    progress : str
        Label of a progress bar; none if empty.

    Examples
    --------
    >>> fit = train(lambda key: 1.0, lambda w, batch: w**2, [np.zeros(4)],
    ...             learning_rates=[1e-3, 0.1], seeds=[0], n_steps=50)
    >>> fit.learning_rates[fit.best].item()
    0.1
    """
    rates, rule = np.asarray(learning_rates, float), RULES[optimiser]
    sample = data if callable(data) else _sampler(data, batch_size)

    def step(state: tuple[Params, Any], key: jax.Array, rate: jax.Array) -> tuple[tuple[Params, Any], jax.Array]:
        params, memory = state
        value, slope = jax.value_and_grad(loss)(params, sample(key))
        update, memory = rule.update(slope, memory, params)
        return (jax.tree.map(lambda p, u: p - rate * u, params, update), memory), value

    def stretch(state: tuple[Params, Any], keys: jax.Array, rate: jax.Array) -> tuple[tuple[Params, Any], jax.Array]:
        return jax.lax.scan(lambda s, key: step(s, key, rate), state, keys)

    starts, batches = (jax.vmap(jax.random.split)(jnp.stack([jax.random.key(s) for s in seeds]))[:, k] for k in (0, 1))
    first = jax.vmap(lambda key: (p := jax.tree.map(jnp.asarray, initial(key)), rule.init(p)))(starts)
    state = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (len(rates), *leaf.shape)), first)
    keys = jax.vmap(lambda key: jax.random.split(key, n_steps))(batches)
    run = jax.jit(jax.vmap(jax.vmap(stretch, (0, 0, None)), (0, None, 0)))
    length = max(n_steps // 20, 1)
    losses = []
    for begin in tqdm(range(0, n_steps, length), desc=progress, disable=not progress, leave=False):
        state, values = run(state, keys[:, begin : begin + length], jnp.asarray(rates, dtype=jnp.float32))
        losses.append(np.asarray(values, dtype=float))
    history = np.concatenate(losses, axis=-1)
    lost = np.logical_or.accumulate(~np.isfinite(history), axis=-1)
    return Runs(rates, tuple(seeds), np.where(lost, np.inf, history), state[0])


def _sampler(data: Sequence[np.ndarray], batch_size: int) -> Callable[[jax.Array], tuple[jax.Array, ...]]:
    arrays = tuple(jnp.asarray(part) for part in data)

    def sample(key: jax.Array) -> tuple[jax.Array, ...]:
        chosen = jax.random.randint(key, (batch_size,), 0, len(arrays[0]))
        return tuple(part[chosen] for part in arrays)

    return sample
