"""A small causal transformer that reads an image pixel by pixel and predicts the next one (Vaswani et al., 2017).

Pre-norm blocks of attention and a two-layer perceptron of four times the width, learnt positions, GELU, Adam.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits

LEVELS = 17  # of grey
START = LEVELS  # the token before the first pixel
BATCH = 16
RATE = 1e-3
HELD_OUT = 360  # images


@dataclass(frozen=True)
class Transformer:
    """Its width, and the number of its blocks; heads have 32 channels, or as many as the width has at least.

    >>> net = Transformer(size=32, depth=1)
    >>> {name: value.shape for name, value in net.init(0).items() if name.startswith("block1")}["block1.up"]
    (128, 32)
    """

    size: int
    depth: int

    @property
    def n_heads(self) -> int:
        """Heads of attention."""
        return max(1, self.size // 32)

    def init(self, seed: int) -> dict[str, jax.Array]:
        """Name → weights, matrices as (out, in): normal, with variance 1 / in."""
        shapes = {"pixels": (LEVELS + 1, self.size), "positions": (64, self.size), "logits": (LEVELS, self.size)}
        for i in range(1, self.depth + 1):
            square = {f"block{i}.{name}": (self.size, self.size) for name in ("query", "key", "value", "output")}
            shapes |= square
            shapes |= {f"block{i}.up": (4 * self.size, self.size), f"block{i}.down": (self.size, 4 * self.size)}
        keys = jax.random.split(jax.random.key(seed), len(shapes))
        return {
            name: jax.random.normal(key, shape) / np.sqrt(shape[1])
            for key, (name, shape) in zip(keys, shapes.items(), strict=True)
        }

    def __call__(self, params: dict[str, jax.Array], tokens: jax.Array) -> jax.Array:
        """(batch, 64, levels) logits of each pixel from those before it; tokens : (batch, 64), the first is START."""
        x = params["pixels"][tokens] + params["positions"]
        for i in range(1, self.depth + 1):
            x = x + self._attend(params, f"block{i}", _normed(x))
            hidden = jax.nn.gelu(_normed(x) @ params[f"block{i}.up"].T)
            x = x + hidden @ params[f"block{i}.down"].T
        return _normed(x) @ params["logits"].T

    def _attend(self, params: dict[str, jax.Array], block: str, x: jax.Array) -> jax.Array:
        batch, length, _ = x.shape
        heads = (batch, length, self.n_heads, -1)
        query, key, value = ((x @ params[f"{block}.{name}"].T).reshape(heads) for name in ("query", "key", "value"))
        mixed = jax.nn.dot_product_attention(query, key, value, is_causal=True)
        return mixed.reshape(batch, length, -1) @ params[f"{block}.output"].T


def _normed(x: jax.Array) -> jax.Array:
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def pixels() -> tuple[np.ndarray, np.ndarray]:
    """(n, 64) training images and held-out ones, grey levels 0 … 16, row by row."""
    images = load_digits().data.astype(np.int32)
    images = images[np.random.default_rng(0).permutation(len(images))]
    return images[HELD_OUT:], images[:HELD_OUT]


def train_transformer(
    network: Transformer, n_steps: int, seed: int, shuffled: bool = False
) -> tuple[dict[str, np.ndarray], float, float]:
    """Name → trained matrices of the blocks, the mean loss of the last fifty batches, and that of held-out images.

    shuffled : targets change places, over images and positions, so that nothing predicts them.
    """
    train, test = pixels()
    rng = np.random.default_rng([seed, 1])
    targets = rng.permutation(train.ravel()).reshape(train.shape) if shuffled else train
    params = network.init(seed)
    optimiser = optax.adam(RATE)
    state = optimiser.init(params)

    def loss(params: Any, images: jax.Array, targets: jax.Array) -> jax.Array:
        before = jnp.concatenate([jnp.full((len(images), 1), START), images[:, :-1]], axis=1)
        return optax.softmax_cross_entropy_with_integer_labels(network(params, before), targets).mean()

    @jax.jit
    def step(params: Any, state: Any, images: jax.Array, targets: jax.Array) -> tuple[Any, Any, jax.Array]:
        value, slope = jax.value_and_grad(loss)(params, images, targets)
        updates, state = optimiser.update(slope, state)
        return optax.apply_updates(params, updates), state, value

    values = []
    for _ in range(n_steps):
        some = rng.integers(0, len(train), BATCH)
        params, state, value = step(params, state, train[some], targets[some])
        values.append(value)
    held_out = float(jax.jit(loss)(params, test, test))
    blocks = {name: np.asarray(value, float) for name, value in params.items() if name.startswith("block")}
    return blocks, float(np.mean(values[-50:])), held_out
