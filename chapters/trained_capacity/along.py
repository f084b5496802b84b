"""Capacity along training: the derivative of the outputs after t steps by the targets, from the same first weights.

This is the definition of S for a run that has not ended: shift the targets, train again for as long, and see how far
the outputs follow. The derivative is carried along with the steps of gradient descent with momentum, for each
direction of the targets. ``python -m chapters run capacity_along_training`` makes it again, in about twenty minutes
on one core.
"""

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from chapters.kit.witness import CHAOTIC, Witness
from chapters.trained_capacity.digits import reading
from chapters.trained_capacity.directions import as_they_are, bands, cosines, polynomials, whitened
from chapters.trained_capacity.networks import Apply, Params, stack, stack_params
from chapters.trained_capacity.optimum import Task
from chapters.trained_capacity.sources import interacting

SETTINGS: dict[str, Any] = {
    "digits": {"n_images": 600, "decay": 1.0, "seeds": [0, 1, 2], "rate": 0.1, "n_steps": 800},
    "orders": {
        "n_examples": 256,
        "channels": 3,
        "decay": 0.05,
        "seeds": [0, 1, 2, 3, 4],
        "rate": 0.01,
        "n_steps": 8000,
    },
    "n_snapshots": 30,
}
QUICK: dict[str, Any] = {
    "digits": {"n_images": 40, "decay": 1.0, "seeds": [0], "rate": 0.1, "n_steps": 4},
    "orders": {"n_examples": 64, "channels": 2, "decay": 0.05, "seeds": [0], "rate": 0.1, "n_steps": 4},
    "n_snapshots": 3,
}
WITNESS = Witness(["orders.seeds"], fixed={"digits.seeds": [], "until": 30}, partial=["digits"], **CHAOTIC)
PACKAGES = ("jax", "scikit-learn")
MOMENTUM = 0.9
MAPS = ("pixels", "whitened modes", "modes")


def snapshots(n_steps: int, count: int) -> list[int]:
    """Steps at which to look, evenly spaced in their logarithms, the last one n_steps.

    >>> snapshots(100, 5)
    [1, 3, 10, 32, 100]
    """
    return sorted({round(each) for each in np.geomspace(1, n_steps, count)})


def _slope(apply: Apply, params: Params, inputs: Any, targets: Any, decay: float) -> Any:
    """Gradient of the loss, its mean over the examples."""

    def loss(params: Params) -> Any:
        weights = sum(jnp.sum(each**2) for each in params.values())
        return (jnp.sum((apply(params, inputs) - targets) ** 2) + decay * weights) / (2 * len(inputs))

    return jax.grad(loss)(params)


def _step(apply: Apply, state: Any, inputs: Any, targets: Any, decay: float, rate: float) -> Any:
    """A step; state is (params, velocity)."""
    params, velocity = state
    slope = _slope(apply, params, inputs, targets, decay)
    velocity = jax.tree.map(lambda v, each: MOMENTUM * v - rate * each, velocity, slope)
    return jax.tree.map(jnp.add, params, velocity), velocity


@partial(jax.jit, static_argnums=0)
def _advance(
    apply: Apply, state: Any, tangents: Any, inputs: Any, targets: Any, shifts: Any, decay: float, rate: float, n: int
) -> Any:
    """n steps of the state, and of its derivatives (m, …) by the shifts (m, N, K)."""

    def steps(state: Any, targets: Any) -> Any:
        return jax.lax.fori_loop(0, n, lambda _, now: _step(apply, now, inputs, targets, decay, rate), state)

    def one(tangent: Any, shift: Any) -> Any:
        return jax.jvp(steps, (state, targets), (tangent, shift))

    return jax.vmap(one, out_axes=(None, 0))(tangents, shifts)


@partial(jax.jit, static_argnums=0)
def _moved(apply: Apply, params: Params, tangents: Any, inputs: Any) -> Any:
    return jax.vmap(lambda tangent: jax.jvp(lambda p: apply(p, inputs), (params,), (tangent,))[1])(tangents)


@jax.enable_x64(True)
def responses(
    task: Task, start: Params, shifts: np.ndarray, rate: float, steps: list[int]
) -> tuple[np.ndarray, list[float]]:
    """(len(steps), m, m) inner products of the shifts with the moves that they cause, and the root mean squared errors.

    shifts : (m, N, K) directions of the targets.
    """
    params = jax.tree.map(jnp.asarray, start)
    state = params, jax.tree.map(jnp.zeros_like, params)
    tangents = jax.tree.map(lambda leaf: jnp.zeros((len(shifts), *leaf.shape)), state)
    data = task.inputs, task.targets, shifts, task.decay, rate
    flat = shifts.reshape(len(shifts), -1)
    found, losses, before = [], [], 0
    for step in steps:
        state, tangents = _advance(task.apply, state, tangents, *data, step - before)
        moved = np.asarray(_moved(task.apply, state[0], tangents[0], task.inputs))
        found.append(flat @ moved.reshape(len(shifts), -1).T)
        losses.append(float(jnp.sqrt(jnp.mean((task.apply(state[0], task.inputs) - task.targets) ** 2))))
        before = step
    return np.array(found), losses


def of_digits(settings: Mapping[str, Any], seed: int, noise: float, steps: list[int]) -> dict[str, np.ndarray]:
    """Capacity of pixels and cosine modes, as they are and whitened, at each snapshot; all ten outputs together."""
    task, start = reading("fully connected", settings["n_images"], settings["decay"], seed, noise)
    pixels, modes = whitened(task.inputs), cosines()
    left = np.linalg.svd(pixels, full_matrices=False)[0]
    kept = left[:, : np.linalg.matrix_rank(pixels)].T  # orthonormal, so that every linear function is a mixture
    mixtures = {
        "pixels": kept @ pixels,
        "whitened modes": kept @ pixels @ modes,
        "modes": kept @ as_they_are(task.inputs @ modes),
    }
    total = 0.0
    for output in np.eye(task.targets.shape[1]):
        products, errors = responses(task, start, kept[:, :, None] * output, settings["rate"], steps)
        total = total + products
    capacities = {name: np.einsum("im,tij,jm->tm", each, total, each) for name, each in mixtures.items()}
    return capacities | {"error": np.array(errors)}


def of_orders(settings: Mapping[str, Any], seed: int, steps: list[int]) -> dict[str, Any]:
    """Capacity of each order of interaction of eight independent inputs, at each snapshot.

    "rest" is what remains, which holds much of the space of all functions on so few examples.
    """
    rng = np.random.default_rng([seed, 12])
    u, targets = interacting(settings["n_examples"], 8, rng)
    task = Task(stack("tanh"), u, targets, settings["decay"])
    parts = polynomials(u)
    basis = np.hstack(list(parts.values()))
    whole = np.hstack([basis, np.linalg.svd(basis)[0][:, basis.shape[1] :]])
    start = stack_params("tanh", settings["channels"], 3, rng)
    products, _ = responses(task, start, whole.T[:, :, None], settings["rate"], steps)
    own = np.diagonal(products, axis1=1, axis2=2)
    ends = np.cumsum([0, *(each.shape[1] for each in parts.values())])
    found = {name: own[:, i:j] for (i, j), name in zip(pairwise([*ends, None]), (*parts, "rest"), strict=True)}
    return {"orders": {name: each.sum(axis=1).round(4).tolist() for name, each in found.items()}}


def half_times(course: np.ndarray, steps: list[int]) -> np.ndarray:
    """(m,) steps at which each column of (len(steps), m) first has half of its last value, between snapshots.

    >>> half_times(np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]), [1, 2, 3]).tolist()
    [2.0, 1.0]
    """
    times = []
    for values in course.T:
        half = values[-1] / 2
        i = int(np.argmax(values >= half))
        times.append(np.interp(half, values[i - 1 : i + 1], steps[i - 1 : i + 1]) if i else steps[0])
    return np.array(times)


def by_band(modes: np.ndarray) -> np.ndarray:
    """(…, 4) mean over the modes of each band of frequencies of (…, 64)."""
    return np.stack([modes[..., bands() == band].mean(axis=-1) for band in range(4)], axis=-1)


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """ "digits": kind of labels → list over seeds; "orders": list over seeds; "steps" of both."""
    images, orders = settings["digits"], settings["orders"]
    found: dict[str, Any] = {"digits": {}, "orders": [], "steps": {}}
    for name, each in (("digits", images), ("orders", orders)):
        steps = snapshots(each["n_steps"], settings["n_snapshots"])
        found["steps"][name] = [step for step in steps if step <= settings.get("until", step)]
    for kind, noise in (("true", 0.0), ("shuffled", 1.0)):
        seeds = tqdm(images["seeds"], desc=kind, disable=not progress)
        runs = [of_digits(images, seed, noise, found["steps"]["digits"]) for seed in seeds]
        found["digits"][kind] = {
            "maps": {name: np.mean([each[name] for each in runs], axis=0).round(2).tolist() for name in MAPS},
            "bands": [{name: by_band(each[name]).round(4).tolist() for name in MAPS[1:]} for each in runs],
            "error": np.mean([each["error"] for each in runs], axis=0).round(4).tolist(),
        }
    for seed in tqdm(orders["seeds"], desc="orders", disable=not progress):
        found["orders"].append(of_orders(orders, seed, found["steps"]["orders"]))
    return found
