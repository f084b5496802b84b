"""Residual networks that are given something again in every layer, side inputs or biases, and two tasks for them.

Paper 2, Eqs 13 and 17. One layer is x ← x + L^-½ V max(Wx, 0) + γ s_ℓ, where s_ℓ is the side input of that layer, of
unit variance, or its bias. The blocks have mean zero over V and pass squared norms on unchanged in expectation.
*Divided* layers divide the sum by √(1 + 1/L + γ²), its norm for independent s_ℓ, so that squared gradients are
conserved in expectation: the columns of Eq. 15, which Eq. 13 as printed does not have.

Parity
    Images X and Y of two handwritten digits, drawn independently: is the sum of the two digits even? X enters at the
    first layer and Y at every layer, through weights of its own (footnote 3 of paper 2). One image alone says nothing.
Digit
    One image X at the first layer, biases at every layer: which digit is it?

Everything is trained: embedding, blocks, side weights or biases, and the read-out, which sees x_L divided by its root
mean square.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from chapters.scaling_conjecture.tasks import Weights, block, draw_blocks, unit
from chapters.shared.data import digits

Batch = tuple[Any, ...]  # of arrays
N_PAIRS = 2_000  # pairs of test images, the same for every network


def divisor(n_layers: int, gamma: float, divided: bool) -> float:
    """√(1 + 1/L + γ²) for divided layers, otherwise one.

    >>> divisor(4, 2.0, False), round(divisor(4, 2.0, True), 3)
    (1.0, 2.291)
    """
    return sqrt(1 + 1 / n_layers + gamma**2) if divided else 1.0


def through_layers(layers: Weights, x: jax.Array, sides: jax.Array, gamma: Any, norm: Any) -> jax.Array:
    """x_L (…, n) from x_0 (…, n) and the side inputs of all layers, lowest first, (L, …, n).

    Parameters
    ----------
    gamma, norm : numbers; what side inputs are multiplied by, and what every sum is divided by.

    >>> layers = draw_blocks(jax.random.key(0), "two-layer", 8, 4)
    >>> through_layers(layers, jnp.ones(4), jnp.zeros((8, 4)), 0.0, 1.0).shape
    (4,)
    """
    n_layers = layers["W"].shape[0]

    def layer(state: jax.Array, now: tuple[Weights, jax.Array]) -> tuple[jax.Array, None]:
        own, side = now
        return (state + block("two-layer", own, state) / sqrt(n_layers) + gamma * side) / norm, None

    return jax.lax.scan(layer, x, (layers, sides))[0]


def gradient_shares(
    key: jax.Array, n_layers: int, width: int, gamma: Any, norm: Any, *, same: bool = False, n_inputs: int = 16
) -> jax.Array:
    """Share of the squared gradient that arrives at X in one untrained network, a scalar between 0 and 1.

    Squared gradients of a random direction of x_L with respect to x_0 and to the side inputs are added up over
    ``n_inputs`` random inputs, with a direction of its own for each. Side inputs of different layers are different
    inputs, whose squares add; or, with ``same``, one input, whose gradient is a sum over layers before it is squared.
    In single precision: a share below 1e-38 is given as zero. ``gamma`` and ``norm`` as in :func:`through_layers`.

    >>> float(gradient_shares(jax.random.key(0), 8, 4, 0.0, 1.0))
    1.0
    """
    weights, start, side, direction = jax.random.split(key, 4)
    layers = draw_blocks(weights, "two-layer", n_layers, width)
    x = jax.random.normal(start, (n_inputs, width))
    sides = jax.random.normal(side, (1 if same else n_layers, *x.shape))
    sides = jnp.broadcast_to(sides, (n_layers, *x.shape))
    _, pull = jax.vjp(lambda a, b: through_layers(layers, a, b, gamma, norm), x, sides)
    on_x, on_sides = pull(jax.random.normal(direction, x.shape))
    reached = jnp.sum(on_x**2)
    leaked = jnp.sum(on_sides.sum(axis=0) ** 2) if same else jnp.sum(on_sides**2)
    return reached / (reached + leaked)


class SideTask(NamedTuple):
    """What ``train`` needs, and what judges the result.

    Attributes
    ----------
    initial : random key → parameters. data : arrays, or random key → batch, labels last.
    logits : (parameters, inputs) → (m, classes), for inputs (images X (m, 64), images Y (m, 64)) or (images X,).
    test_inputs, test_labels : what accuracy is counted on.
    """

    initial: Callable[[jax.Array], Any]
    data: Sequence[np.ndarray] | Callable[[jax.Array], Batch]
    logits: Callable[[Any, Batch], jax.Array]
    test_inputs: tuple[np.ndarray, ...]
    test_labels: np.ndarray

    def loss(self, params: Any, batch: Batch) -> jax.Array:
        """Cross-entropy of a batch, in nats."""
        return optax.softmax_cross_entropy_with_integer_labels(self.logits(params, batch[:-1]), batch[-1]).mean()

    def accuracy(self, params: Any) -> list[float]:
        """Share of the test inputs that are classified correctly, for every set of parameters along the first axis."""
        answers = jax.jit(lambda stack: jax.lax.map(lambda p: self.logits(p, self.test_inputs).argmax(-1), stack))
        return np.mean(np.asarray(answers(params)) == self.test_labels, axis=1).tolist()

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


def parity_task(n_layers: int, gamma: float, divided: bool, *, width: int = 32, seen: str = "both") -> SideTask:
    """Parity of the sum of two digits, X at the first layer and Y at every layer.

    Parameters
    ----------
    gamma : scale of the side inputs. divided : see the head.
    seen : ``both``, or which image alone is shown; the other is blanked out.
    """
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
        i, j = jax.random.randint(key, (2, 64), 0, len(labels))
        return pixels[i], pixels[j], (labels[i] + labels[j]) % 2

    i, j = np.random.default_rng(0).integers(0, len(images.y_test), (2, N_PAIRS))
    test = (images.x_test[i], images.x_test[j])
    return SideTask(initial, data, logits, test, (images.y_test[i] + images.y_test[j]) % 2)


def digit_task(n_layers: int, beta: float, divided: bool, *, width: int = 32, start: str = "random") -> SideTask:
    """One digit, with β b_ℓ added in every layer; the b_ℓ are trained, from unit Gaussians or from ``zero``."""
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

    return SideTask(initial, (images.x, images.y), logits, (images.x_test,), images.y_test)


def _trunk(key: jax.Array, n_layers: int, width: int, n_classes: int, gamma: float, divided: bool) -> dict[str, Any]:
    """Layers and read-out; and the two scales, which are not trained: they stand here so that none is compiled in."""
    inner, outer = jax.random.split(key)
    return {
        "layers": draw_blocks(inner, "two-layer", n_layers, width),
        "readout": jax.random.normal(outer, (width, n_classes)) / sqrt(width),
        "scales": jnp.array([gamma, divisor(n_layers, gamma, divided)]),
    }


def _read(params: Any, x: jax.Array, sides: jax.Array) -> jax.Array:
    gamma, norm = jax.lax.stop_gradient(params["scales"])
    top = through_layers(params["layers"], x, sides, gamma, norm)
    return unit(top) @ params["readout"]
