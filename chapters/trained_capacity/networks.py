"""The small networks whose capacity is measured: stacks of two taps a layer, and two readers of digits.

Each is a function (params, inputs) → outputs, params being a dictionary of arrays, as ``capcore.networks`` takes it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Params = dict[str, Any]
Apply = Callable[[Params, Any], Any]


def _gated(drive: Any, axis: int = -1) -> Any:
    """tanh(first half) σ(second half) of the channels, as WaveNet has it."""
    content, gate = jnp.split(drive, 2, axis=axis)
    return jnp.tanh(content) * jax.nn.sigmoid(gate)


UNITS: dict[str, Callable[..., Any]] = {
    "linear": lambda drive, axis=-1: drive,
    "tanh": lambda drive, axis=-1: jnp.tanh(drive),
    "gated": _gated,
}
"""Name → (drive, axis of the channels) → state."""


@cache
def stack(units: str) -> Apply:
    """The function of a dilated stack: (params, (N, n) inputs, lag 0 first) → (N, 1).

    Every layer joins two neighbours into one, so that the dilations are 1, 2, 4, …; the last layer is linear.

    >>> stack("tanh")(stack_params("tanh", 2, 4, np.random.default_rng(0)), np.ones((3, 16))).shape
    (3, 1)
    """

    def apply(params: Params, inputs: Any) -> Any:
        state = inputs[..., None]
        for layer in range(1, len(params) // 2 + 1):
            *batch, length, channels = state.shape
            pairs = state.reshape(*batch, length // 2, 2 * channels)
            drive = pairs @ params[f"layer {layer}"] + params[f"bias {layer}"]
            state = drive if length == 2 else UNITS[units](drive)
        return state[..., 0, :]

    return apply


def stack_params(units: str, channels: int, n_layers: int, rng: np.random.Generator) -> Params:
    """Random parameters of a stack: weights of variance 1 / inputs, no biases yet."""
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in range(1, n_layers + 1):
        after = 1 if layer == n_layers else channels * (2 if units == "gated" else 1)
        shapes[f"layer {layer}"] = (2 if layer == 1 else 2 * channels, after)
        shapes[f"bias {layer}"] = (after,)
    return random_params(shapes, rng)


def perceptron(params: Params, images: Any) -> Any:
    """One hidden layer of tanh units: (N, 64) pixels → (N, 10)."""
    return jnp.tanh(images @ params["hidden"] + params["hidden bias"]) @ params["out"] + params["out bias"]


def convolution(params: Params, images: Any) -> Any:
    """A 3 × 3 convolution with stride two, tanh, and a linear layer: (N, 64) pixels → (N, 10)."""
    planes = jnp.pad(images.reshape(-1, 8, 8), ((0, 0), (0, 1), (0, 1)))
    taps = jnp.stack([planes[:, i : i + 7 : 2, j : j + 7 : 2] for i in range(3) for j in range(3)], axis=-1)
    hidden = jnp.tanh(taps @ params["kernel"] + params["kernel bias"])
    return hidden.reshape(len(images), -1) @ params["out"] + params["out bias"]


READERS: dict[str, tuple[Apply, dict[str, tuple[int, ...]]]] = {
    "fully connected": (perceptron, {"hidden": (64, 12), "hidden bias": (12,), "out": (12, 10), "out bias": (10,)}),
    "convolutional": (convolution, {"kernel": (9, 5), "kernel bias": (5,), "out": (80, 10), "out bias": (10,)}),
}
"""Name → function and shapes; 910 and 860 parameters."""


def random_params(shapes: dict[str, tuple[int, ...]], rng: np.random.Generator) -> Params:
    """Normal weights of variance 1 / inputs, and biases of zero."""
    return {
        name: rng.normal(size=shape) / np.sqrt(shape[0]) if len(shape) > 1 else np.zeros(shape)
        for name, shape in shapes.items()
    }
