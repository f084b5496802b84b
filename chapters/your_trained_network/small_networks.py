"""Small networks, and many of them trained side by side: other weight decays, other optimisers, and folds left out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

WIDTHS = {"MLP tanh": (4, 8, 16), "MLP ReLU": (4, 8, 16), "convolution": (2, 4, 6), "image convolution": (1, 2, 3)}
"""Architecture → units of the hidden layer, or channels."""
BETAS, EPS = (0.9, 0.999), 1e-8
"""Of Adam."""


def layer_slices(layers: Sequence[tuple[int, int]]) -> list[slice]:
    """Where matrix and bias of each layer, of so many rows and columns, are among the parameters.

    >>> layer_slices([(3, 2), (2, 2), (2, 1)])
    [slice(0, 8, None), slice(8, 14, None), slice(14, 17, None)]
    """
    ends = np.cumsum([0, *((rows + 1) * columns for rows, columns in layers)]).tolist()
    return [slice(*both) for both in pairwise(ends)]


def matrices(w: Any, layers: Sequence[tuple[int, int]]) -> Iterator[tuple[Any, Any]]:
    """Matrix and bias of each layer in parameters (p,)."""
    for part, (rows, columns) in zip(layer_slices(layers), layers, strict=True):
        yield w[part][: rows * columns].reshape(rows, columns), w[part][rows * columns :]


@dataclass(frozen=True)
class Shape:
    """A network: its architecture, its width, the shape of an example, and the number of outputs."""

    kind: str
    width: int
    inputs: tuple[int, ...]
    outputs: int

    @property
    def layers(self) -> list[tuple[int, int]]:
        """Rows and columns of the matrix of each layer, which has a bias beside it.

        >>> Shape("convolution", 2, (16,), 1).layers
        [(2, 2), (4, 2), (4, 2), (4, 2), (2, 1)]
        """
        w, k = self.width, self.outputs
        if self.kind == "convolution":
            return [(2, w), *[(2 * w, w)] * (int(np.log2(self.inputs[0])) - 1), (w, k)]
        if self.kind == "image convolution":
            return [(self.inputs[1], w), (self.inputs[0] * w, k)]
        return [(int(np.prod(self.inputs)), w), (w, k)]

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """(p,) first weights, of variance 1/inputs (2/inputs for ReLU); biases are 0."""
        gain = 2.0 if self.kind == "MLP ReLU" else 1.0
        parts = []
        for i, (rows, columns) in enumerate(self.layers):
            scale = np.sqrt((gain if i == 0 else 1.0) / rows)
            parts += [scale * rng.normal(size=rows * columns), np.zeros(columns)]
        return np.concatenate(parts)

    def apply(self, w: Any, x: Any) -> Any:
        """(n, K) outputs of examples (n, …) with parameters (p,)."""
        found, last = x, len(self.layers) - 1
        if self.kind.startswith("MLP"):
            found = found.reshape(len(x), -1)
        if self.kind == "convolution":
            found = found[..., None]
        for i, (matrix, bias) in enumerate(matrices(w, self.layers)):
            if self.kind == "convolution" or i == last:
                found = found.reshape(len(x), -1, len(matrix))
            found = found @ matrix + bias
            if i < last:
                found = jax.nn.relu(found) if self.kind == "MLP ReLU" else jnp.tanh(found)
        return found.reshape(len(x), -1)


def mean_loss(outputs: Any, targets: Any, shares: Any, loss: str) -> Any:
    """Σ shares · loss of examples, as the package defines it; shares (n,)."""
    if loss == "squared":
        each = jnp.square(outputs - targets).sum(axis=1) / 2
    else:
        each = -(targets * jax.nn.log_softmax(outputs)).sum(axis=1)
    return shares @ each


def cosine(rate: float, steps: int) -> Any:
    """(steps,) learning rates that fall as a cosine to 0."""
    return rate * (1 + jnp.cos(jnp.pi * jnp.arange(steps) / steps)) / 2


def adam(moments: Any, g: Any) -> tuple[Any, Any, Any]:
    """Adam's moments (m, v, number of steps) after a gradient, the direction of its step, and the mean squares."""
    (a, b), (m, v, t) = BETAS, moments
    m, v, t = a * m + (1 - a) * g, b * v + (1 - b) * g * g, t + 1
    squares = v / (1 - b**t)
    return (m, v, t), m / (1 - a**t) / (jnp.sqrt(squares) + EPS), squares


class Recipe(NamedTuple):
    """How networks are trained.

    steps, batch : number of steps, and examples of each. rate : first learning rate; it falls as a cosine to 0.
    """

    steps: int
    batch: int
    rate: float


class Trained(NamedTuple):
    """What training leaves: parameters, Adam's mean squared gradients, and both along the way.

    params, squares : (B, p). path, path_squares : (checkpoints, C, p) of the followed ones of the B networks.
    """

    params: np.ndarray
    squares: np.ndarray
    path: np.ndarray
    path_squares: np.ndarray


@cache
def _trainer(shape: Shape, loss: str, recipe: Recipe, followed: tuple[int, ...]) -> Callable[..., Any]:
    """The compiled training of B networks on the same batches of one data set."""
    which = jnp.array(followed, dtype=int)

    def objective(w: Any, x: Any, y: Any, shares: Any) -> Any:
        return mean_loss(shape.apply(w, x), y, shares, loss)

    slope = jax.vmap(jax.grad(objective), (0, None, None, 0))

    @jax.jit
    def run(start: Any, x: Any, y: Any, shares: Any, coupled: Any, decoupled: Any, batches: Any) -> Any:
        def step(state: Any, now: Any) -> Any:
            (w, moments, _), (batch, rate) = state, now
            g = slope(w, x[batch], y[batch], shares[:, batch] / recipe.batch) + coupled[:, None] * w
            moments, way, squares = adam(moments, g)
            w = w - rate * (way + decoupled[:, None] * w)
            return (w, moments, squares), (w[which], squares[which])

        w = jnp.tile(start, (len(shares), 1))
        begin = w, (0 * w, 0 * w, 0.0), 0 * w
        (w, _, squares), path = jax.lax.scan(step, begin, (batches, cosine(recipe.rate, recipe.steps)))
        return w, squares, *path

    return run


def train(
    shape: Shape, loss: str, recipe: Recipe, start: np.ndarray, x: np.ndarray, y: np.ndarray, left_in: np.ndarray,
    coupled: np.ndarray, decoupled: np.ndarray, rng: np.random.Generator,
    followed: tuple[int, ...] = (), checkpoints: tuple[int, ...] = (),
) -> Trained:  # fmt: skip
    """Train B networks from the same weights on the same batches, in single precision.

    Parameters
    ----------
    start : (p,) array
        First weights of all.
    x, y : (N, …) and (N, K) array
        Examples.
    left_in : (B, N) array of bool
        Which examples each network sees; others of a batch do not count, and its loss is a mean over all that do.
    coupled : (B,) array
        Weight decay λ/N beside the mean loss (Adam).
    decoupled : (B,) array
        Weight decay beside Adam's step, times the learning rate (AdamW).
    rng : Generator
        Draws the batches.
    followed, checkpoints : tuple of int
        Networks and numbers of steps whose parameters are kept along the way.
    """
    n = len(x)
    batches = np.argsort(rng.random((recipe.steps, n)), axis=1)[:, : recipe.batch]
    shares = left_in / left_in.mean(axis=1, keepdims=True)
    run = _trainer(shape, loss, recipe, followed)
    single = (np.asarray(each, dtype=np.float32) for each in (start, x, y, shares, coupled, decoupled))
    found = run(*single, batches)
    at = np.array(checkpoints, dtype=int) - 1
    return Trained(*(np.asarray(each, dtype=float) for each in (*found[:2], found[2][at], found[3][at])))


@cache
def _derivatives(shape: Any) -> Callable[..., Any]:
    one = jax.jacrev(lambda w, point: shape.apply(w, point[None])[0])
    return jax.jit(jax.vmap(one, (None, 0)))


def jacobian(shape: Any, w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(N, K, p) Jacobian of the outputs by the parameters (p,), in double precision; shape : has ``apply``."""
    with jax.enable_x64(True):
        return np.asarray(_derivatives(shape)(jnp.asarray(w), jnp.asarray(x)))


@cache
def _forward(shape: Any) -> Callable[..., Any]:
    return jax.jit(jax.vmap(shape.apply, (0, None)))


def outputs(shape: Any, w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(B, n, K) outputs of networks (B, p), in double precision."""
    with jax.enable_x64(True):
        return np.asarray(_forward(shape)(jnp.asarray(w), jnp.asarray(x)))
