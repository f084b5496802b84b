"""Two tasks for networks with side inputs or biases: the parity of two digits, and one digit.

Parity
    Images X and Y of two handwritten digits, drawn independently: is the sum of the two digits even? X enters at the
    first layer and Y at every layer, through weights of its own (footnote 3 of paper 2). One image alone says nothing.
Digit
    One image X at the first layer, biases at every layer: which digit is it?

Everything is trained: embedding, blocks, side weights or biases, and the read-out, which sees x_L divided by its root
mean square.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from capcore.validation import one_of, positive_integer
from chapters.scaling_conjecture_side_inputs.side_inputs import divisor, draw_layers, through_layers
from chapters.shared.data import digits

SEEN = ("both", "X", "Y")
STARTS = ("random", "zero")
N_PAIRS = 2_000  # pairs of test images, the same for every network
Batch = tuple[Any, ...]  # of arrays


@dataclass(frozen=True)
class SideTask:
    """What ``train`` needs, and what judges the result.

    Attributes
    ----------
    initial : random key → parameters. loss : (parameters, batch) → scalar. data : arrays, or random key → batch.
    logits : (parameters, inputs) → (m, classes), for inputs (images X (m, 64), images Y (m, 64)) or (images X,).
    test_inputs, test_labels : what accuracy is counted on.
    """

    initial: Callable[[jax.Array], Any]
    loss: Callable[[Any, Batch], jax.Array]
    data: Sequence[np.ndarray] | Callable[[jax.Array], Batch]
    logits: Callable[[Any, Batch], jax.Array]
    test_inputs: tuple[np.ndarray, ...]
    test_labels: np.ndarray

    def accuracy(self, params: Any) -> list[float]:
        """Share of the test inputs that are classified correctly, for every set of parameters along the first axis."""
        found = jax.jit(lambda stack: jax.lax.map(lambda p: self.logits(p, self.test_inputs).argmax(-1), stack))(params)
        return np.mean(np.asarray(found) == self.test_labels, axis=1).tolist()

    def share(self, params: Any, n_inputs: int = 64) -> list[float]:
        """Share of X in the squared gradients of the logits with respect to both images, over the first test inputs.

        One number for every set of parameters along the first axis; see
        ``gradient_shares`` for numbers below 1e-38.
        """
        inputs = tuple(jnp.asarray(part[:n_inputs]) for part in self.test_inputs)
        slopes = jax.jacrev(lambda images, p: self.logits(p, images).sum(axis=0))
        on_x, on_y = jax.jit(lambda stack: jax.lax.map(lambda p: slopes(inputs, p), stack))(params)
        squares = [np.sum(np.asarray(slope, dtype=float) ** 2, axis=(1, 2, 3)) for slope in (on_x, on_y)]
        return (squares[0] / (squares[0] + squares[1])).tolist()


def parity_task(
    n_layers: int, gamma: float, divided: bool, *, width: int = 32, batch: int = 64, seen: str = "both"
) -> SideTask:
    """Parity of the sum of two digits, X at the first layer and Y at every layer.

    Parameters
    ----------
    gamma : scale of the side inputs. divided : see ``side_inputs``.
    seen : ``both``, or which image alone is shown; the other is blanked out.
    """
    one_of(seen, "seen", SEEN)
    images = digits()
    pixels, labels = jnp.asarray(images.x), jnp.asarray(images.y)
    shown = (float(seen != "Y"), float(seen != "X"))

    def initial(key: jax.Array) -> Any:
        first, side, rest = jax.random.split(key, 3)
        p = pixels.shape[1]
        return {
            "embedding": jax.random.normal(first, (p, width)) / sqrt(p),
            "sides": jax.random.normal(side, (n_layers, p, width)) / sqrt(p),
            **_trunk(rest, n_layers, width, 2, gamma, divided),
        }

    def logits(params: Any, inputs: Batch) -> jax.Array:
        x, y = (part * keep for part, keep in zip(inputs, shown, strict=True))
        sides = jnp.einsum("bp,lpn->lbn", y, params["sides"])
        return _read(params, x @ params["embedding"], sides)

    def data(key: jax.Array) -> Batch:
        i, j = jax.random.randint(key, (2, positive_integer(batch, "batch")), 0, len(labels))
        return pixels[i], pixels[j], (labels[i] + labels[j]) % 2

    def loss(params: Any, batch: Batch) -> jax.Array:
        return optax.softmax_cross_entropy_with_integer_labels(logits(params, batch[:2]), batch[2]).mean()

    i, j = np.random.default_rng(0).integers(0, len(images.y_test), (2, N_PAIRS))
    test = (images.x_test[i], images.x_test[j])
    return SideTask(initial, loss, data, logits, test, (images.y_test[i] + images.y_test[j]) % 2)


def digit_task(n_layers: int, beta: float, divided: bool, *, width: int = 32, start: str = "random") -> SideTask:
    """One digit, with β b_ℓ added in every layer; the b_ℓ are trained, from unit Gaussians or from ``zero``."""
    one_of(start, "start", STARTS)
    images = digits()

    def initial(key: jax.Array) -> Any:
        first, side, rest = jax.random.split(key, 3)
        p = images.x.shape[1]
        return {
            "embedding": jax.random.normal(first, (p, width)) / sqrt(p),
            "biases": float(start == "random") * jax.random.normal(side, (n_layers, width)),
            **_trunk(rest, n_layers, width, 10, beta, divided),
        }

    def logits(params: Any, inputs: Batch) -> jax.Array:
        return _read(params, inputs[0] @ params["embedding"], params["biases"])

    def loss(params: Any, batch: Batch) -> jax.Array:
        return optax.softmax_cross_entropy_with_integer_labels(logits(params, batch[:1]), batch[1]).mean()

    return SideTask(initial, loss, (images.x, images.y), logits, (images.x_test,), images.y_test)


def _trunk(key: jax.Array, n_layers: int, width: int, n_classes: int, gamma: float, divided: bool) -> dict[str, Any]:
    """Layers and read-out; and the two scales, which are not trained: they stand here so that none is compiled in."""
    inner, outer = jax.random.split(key)
    return {
        "layers": draw_layers(inner, n_layers, width),
        "readout": jax.random.normal(outer, (width, n_classes)) / sqrt(width),
        "scales": jnp.array([gamma, divisor(n_layers, gamma, divided)]),
    }


def _read(params: Any, x: jax.Array, sides: jax.Array) -> jax.Array:
    gamma, norm = jax.lax.stop_gradient(params["scales"])
    top = through_layers(params["layers"], x, sides, gamma, norm)
    return top / jnp.sqrt(jnp.mean(top**2, axis=-1, keepdims=True) + 1e-12) @ params["readout"]
