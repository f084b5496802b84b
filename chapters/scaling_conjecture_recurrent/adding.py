"""The adding task: add the two marked numbers of a sequence (Hochreiter and Schmidhuber 1997).

One mark falls in the first half of the sequence, one in the second. Answering 1 always, the mean of the sum, costs 1/6.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from capcore.validation import positive_integer

BASELINE = 1 / 6
"""Mean squared error of the best constant answer: twice the variance 1/12 of a number between 0 and 1."""


def adding_batches(n_steps: int, batch_size: int) -> Callable[[jax.Array], tuple[jax.Array, jax.Array]]:
    """Random key → inputs (n_steps, batch, 2) and sums (batch,), for ``train``.

    An input is a number between 0 and 1, less its mean of ½, and a mark, 0 or 1. Index 0 is the first step.

    Raises ``ValueError`` for fewer than two steps.

    >>> inputs, sums = adding_batches(6, 3)(jax.random.key(0))
    >>> inputs.shape, inputs[..., 1].sum(axis=0).tolist()
    ((6, 3, 2), [2.0, 2.0, 2.0])
    """
    n_steps, batch_size = positive_integer(n_steps, "n_steps", 2), positive_integer(batch_size, "batch_size")
    half = n_steps // 2

    def sample(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        for_values, for_first, for_second = jax.random.split(key, 3)
        values = jax.random.uniform(for_values, (n_steps, batch_size))
        first = jax.random.randint(for_first, (batch_size,), 0, half)
        second = jax.random.randint(for_second, (batch_size,), half, n_steps)
        steps = jnp.arange(n_steps)[:, None]
        marks = ((steps == first) | (steps == second)).astype(values.dtype)
        return jnp.stack([values - 0.5, marks], axis=-1), (values * marks).sum(axis=0)

    return sample
