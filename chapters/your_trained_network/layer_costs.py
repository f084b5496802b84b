"""Are the layers with the least marginal capacity those that can be frozen or pruned at the least cost?

:mod:`~chapters.your_trained_network.layer_questions` says what was asked, before the run.
``python -m chapters run layer_costs`` makes it again, in about two minutes on one core.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from capcore.networks.linearised import optimum
from capcore.networks.losses import losses_of, slopes_of
from chapters.kit.witness import CHAOTIC, Witness
from chapters.your_trained_network import small_networks as small
from chapters.your_trained_network.real_data import Split

SETTINGS: dict[str, Any] = {
    "data": ["diabetes", "breast cancer", "digits"],
    "n_splits": 10,
    "width": 8,
    "depth": 5,
    "decay": 0.3,
    "steps": 2000,
    "further": 500,
    "rate": 0.01,
}
QUICK: dict[str, Any] = {"data": ["breast cancer"], "n_splits": 2, "steps": 30, "further": 10}
WITNESS = Witness(["data"], fixed={"n_splits": 1}, **CHAOTIC)
PACKAGES = ("jax", "scikit-learn", "matplotlib")


class Stack(NamedTuple):
    """Tanh layers of one width, and a linear one. n_inputs, width, depth, outputs : whole numbers."""

    n_inputs: int
    width: int
    depth: int
    outputs: int

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Rows and columns of each matrix."""
        w = self.width
        return [(self.n_inputs, w), *[(w, w)] * (self.depth - 1), (w, self.outputs)]

    @property
    def parts(self) -> list[slice]:
        """Where each layer's matrix and bias are among the parameters, the linear one last."""
        return small.layer_slices(self.shapes)

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """(p,) first weights, of variance 1/inputs; biases are 0."""
        each = [[rng.normal(size=rows * k) / np.sqrt(rows), np.zeros(k)] for rows, k in self.shapes]
        return np.concatenate([part for pair in each for part in pair])

    def apply(self, w: Any, x: Any, kept: Any = None) -> Any:
        """(n, K) outputs; kept : (depth,) 1 for a layer, 0 for the identity in its place; all by default."""
        kept = jnp.ones(self.depth) if kept is None else kept
        for i, (matrix, bias) in enumerate(small.matrices(w, self.shapes)):
            found = x @ matrix + bias
            if i < self.depth:
                found = jnp.tanh(found)
            x = kept[i] * found + (1 - kept[i]) * x if 0 < i < self.depth else found
        return x


@cache
def _trainer(stack: Stack, loss: str, steps: int, rate: float) -> Callable[..., Any]:
    """Compiled training of B networks on all examples by Adam; its rate falls as a cosine to 0."""

    def objective(w: Any, kept: Any, x: Any, y: Any, decay: Any) -> Any:
        return small.mean_loss(stack.apply(w, x, kept), y, jnp.full(len(x), 1 / len(x)), loss) + decay / 2 * (w @ w)

    slope = jax.vmap(jax.grad(objective), (0, 0, None, None, None))

    @jax.jit
    def run(w: Any, free: Any, kept: Any, x: Any, y: Any, decay: Any) -> Any:
        def step(state: Any, now: Any) -> Any:
            w, moments = state
            moments, way, _ = small.adam(moments, free * slope(w, kept, x, y, decay))
            return (w - now * way, moments), None

        return jax.lax.scan(step, (w, (0 * w, 0 * w, 0.0)), small.cosine(rate, steps))[0][0]

    return run


def trained(
    stack: Stack, data: Split, w: np.ndarray, free: np.ndarray, kept: np.ndarray, decay: float, steps: int, rate: float
) -> np.ndarray:
    """Networks (B, p) trained from w (B, p).

    free : (B, p), 1 for parameters that learn. kept : (B, depth), 0 for layers that are the identity. decay : λ/N.
    """
    single = (jnp.asarray(each, dtype=jnp.float32) for each in (w, free, kept, data.x, data.y, decay))
    return np.asarray(_trainer(stack, data.loss, steps, rate)(*single), dtype=float)


def losses(stack: Stack, data: Split, w: np.ndarray, kept: np.ndarray) -> dict[str, np.ndarray]:
    """Mean losses (B,) of networks on the "training" examples and on the "tests"."""
    found, of_all = {}, jax.vmap(stack.apply, (0, None, 0))
    for name, x, y in (("training", data.x, data.y), ("tests", data.x_test, data.y_test)):
        with jax.enable_x64(True):
            each = np.asarray(of_all(jnp.asarray(w), jnp.asarray(x), jnp.asarray(kept)))
        found[name] = np.array([losses_of(one, y, data.loss).mean() for one in each])
    return found


def scores(stack: Stack, data: Split, w: np.ndarray, start: np.ndarray, decay: float) -> dict[str, np.ndarray]:
    """What may tell a layer's cost, each (depth,).

    "marginal" and "independent": its capacity given all others, and by itself, by Gauss–Newton at the trained weights;
    "magnitude": mean square of its weights; "movement": of their way from the start; "gradient": of the gradients of
    all examples.
    """
    slopes, at = small.jacobian(stack, w, data.x), small.outputs(stack, w[None], data.x)[0]
    errors = slopes_of(at, data.y, data.loss)[0]
    gradients = np.einsum("nkp,nk->np", slopes, errors)

    def total(columns: np.ndarray) -> float:
        part = slopes[:, :, columns]
        slope = -np.einsum("nkp,nk->p", part, errors)  # as if the gradient were 0: the weights stay where they are
        return optimum(part, at, data.y, np.full(len(columns), decay), slope, data.loss).total

    every = np.arange(w.size)
    whole, parts = total(every), [every[part] for part in stack.parts[: stack.depth]]
    return {
        "marginal": np.array([whole - total(np.setdiff1d(every, part)) for part in parts]),
        "independent": np.array([total(part) for part in parts]),
        "magnitude": np.array([np.mean(w[part] ** 2) for part in parts]),
        "movement": np.array([np.mean((w - start)[part] ** 2) for part in parts]),
        "gradient": np.array([np.mean(gradients[:, part] ** 2) for part in parts]),
    }


def compared(data: Split, settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Scores of the layers, and what freezing or pruning each of them costs on training examples and on tests."""
    stack = Stack(data.x.shape[1], settings["width"], settings["depth"], data.y.shape[1])
    start, n, depth = stack.start(np.random.default_rng([seed, 2])), len(data.x), stack.depth
    decay, rate = settings["decay"] / n, settings["rate"]
    free = np.ones((depth + 1, start.size))
    for i, part in enumerate(stack.parts[:depth]):
        free[i + 1, part] = 0
    whole = np.ones((depth + 1, depth))
    first = trained(stack, data, np.tile(start, (depth + 1, 1)), free, whole, decay, settings["steps"], rate)
    kept = np.ones((depth, depth))
    kept[np.arange(1, depth), np.arange(1, depth)] = 0  # the first of these stays whole
    again = np.tile(first[0], (depth, 1))
    second = trained(stack, data, again, np.ones_like(again), kept, decay, settings["further"], rate / 10)
    frozen, pruned = losses(stack, data, first, whole), losses(stack, data, second, kept)
    found = scores(stack, data, first[0], start, settings["decay"])
    return {
        "baseline": round(data.baseline, 5),
        "scores": {name: [float(f"{value:.5g}") for value in each] for name, each in found.items()},
        "freezing": {name: (each[1:] - each[0]).round(5).tolist() for name, each in frozen.items()},
        "pruning": {name: (each[1:] - each[0]).round(5).tolist() for name, each in pruned.items()},
    }


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """``data``: name of a data set → :func:`compared` of each split."""
    bar = tqdm(settings["data"], unit="data set", disable=not progress)
    return {
        "data": {name: [compared(Split(name, i), settings, i) for i in range(settings["n_splits"])] for name in bar}
    }
