"""What residual networks of scale L^-a learn, over a, depth and kind of block: the stored experiment.

Every arm is judged at its best learning rate: the same grid for all, extended while its best end is still the best.
``python -m chapters run residual_scale`` makes it again, in about a quarter of an hour on one core.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from chapters.kit.witness import CHAOTIC, Witness
from chapters.scaling_conjecture.signals import BLOCKS
from chapters.scaling_conjecture.tasks import Task, digits_task, transport_task
from chapters.shared.training import train

SETTINGS: dict[str, Any] = {
    "exponents": [0.0, 0.25, 0.5, 0.75, 1.0],
    "depths": [8, 64, 512],
    "rates": [4e-4, 1.6e-3, 6.4e-3],
    "extensions": 3,
    "optimiser": "adam",
    "seeds": [0, 1, 2],
    "digits": {"width": 32, "batch_size": 32, "n_steps": 160},
    "transport": {"width": 8, "positions": 32, "batch": 8, "n_steps": 200, "distance": 4},
    "transport_depths": {"tanh": [8, 64], "relu": [8, 64], "two-layer": [8, 64, 512]},
    "other_distances": {"n_layers": 64, "distances": [2, 8]},
    "zero_start": [8, 64, 512],
    "normalised": {"n_layers": 512, "exponents": [0.0, 0.25]},
}
QUICK: dict[str, Any] = {
    "exponents": [0.5],
    "depths": [2],
    "rates": [1e-3],
    "extensions": 0,
    "seeds": [0],
    "digits": {"width": 8, "batch_size": 8, "n_steps": 2},
    "transport": {"width": 4, "positions": 8, "batch": 2, "n_steps": 2, "distance": 2},
    "transport_depths": {"tanh": [2]},
    "other_distances": {"n_layers": 2, "distances": [2]},
    "zero_start": [2],
    "normalised": {"n_layers": 2, "exponents": [0.25]},
}
WITNESS = Witness(
    ["exponents transport_depths", "zero_start"],
    fixed={
        "depths": [],
        "transport_depths": {"tanh": [8], "relu": [8], "two-layer": [8]},
        "zero_start": [8],
        "normalised.exponents": [],
        "other_distances.distances": [],
    },
    **CHAOTIC,
)
PACKAGES = ("jax", "optax", "scikit-learn")
TASKS = ("digits", "transport")


@dataclass(frozen=True, eq=False)
class Search:
    """What an arm reached.

    Attributes
    ----------
    rates : (r,) learning rates tried, rising. losses : (r, s) final loss of every seed; infinite where it diverged.
    params : those of the best rate, each array with leading axis (s,).
    """

    rates: np.ndarray
    losses: np.ndarray
    params: Any

    @property
    def best(self) -> int:
        """Index of the rate with the lowest median loss."""
        return int(np.argmin(np.median(self.losses, axis=1)))

    @property
    def at_edge(self) -> bool:
        """Whether the best rate is the lowest or the highest that was tried."""
        return self.best in (0, len(self.rates) - 1)


def search(
    task: Task,
    rates: Sequence[float],
    seeds: Sequence[int],
    n_steps: int,
    *,
    batch_size: int = 64,
    optimiser: str = "adam",
    extensions: int = 3,
    progress: str = "",
) -> Search:
    """Train at every rate, and at further ones while the best is at the end of the grid.

    Parameters
    ----------
    rates : rising; the grid goes on by the factor between its first two. extensions : most further rates on each side.
        Nothing is extended where every rate diverged, or where there is one rate only.
    """
    grid = np.asarray(rates, dtype=float)
    left = {-1: extensions} if len(grid) > 1 else {-1: 0}
    left[1] = left[-1]
    options: dict[str, Any] = {"batch_size": batch_size, "optimiser": optimiser, "progress": progress}

    def runs(these: Sequence[float]) -> dict[float, tuple[np.ndarray, Any]]:
        new = train(task.initial, task.loss, task.data, learning_rates=these, seeds=seeds, n_steps=n_steps, **options)
        return {r: (new.final[k], jax.tree.map(lambda p, k=k: p[k], new.params)) for k, r in enumerate(these)}

    done = runs(grid.tolist())
    while True:
        tried = sorted(done)
        losses = np.array([done[rate][0] for rate in tried])
        best = int(np.argmin(np.median(losses, axis=1)))
        side = -1 if best == 0 else 1 if best == len(tried) - 1 else 0
        if not side or not left[side] or not np.isfinite(np.median(losses[best])):
            return Search(np.array(tried), losses, done[tried[best]][1])
        left[side] -= 1
        done |= runs([tried[best] * float(grid[1] / grid[0]) ** side])


def train_arm(name: str, task: Task, settings: Mapping[str, Any] = SETTINGS) -> dict[str, Any]:
    """Best loss of every seed, the learning rates tried, and how far the layers move their input; plain types.

    ``name`` is digits or transport: whose settings. ``moved`` is the mean of |x_L − x_0|²/|x_0|² over 256 inputs, one
    number per seed, at the start and after training; ``null`` where it is not finite.
    """
    own = settings[name]
    searched = search(
        task,
        settings["rates"],
        settings["seeds"],
        own["n_steps"],
        batch_size=own.get("batch_size", 64),
        optimiser=settings["optimiser"],
        extensions=settings["extensions"],
    )
    losses = [[float(f"{x:.6g}") if np.isfinite(x) else None for x in row] for row in searched.losses]
    sample = _inputs(task)
    fresh = jax.vmap(lambda seed: task.initial(jax.random.split(jax.random.key(seed))[0]))(jnp.array(settings["seeds"]))
    return {
        "rates": [float(f"{rate:.6g}") for rate in searched.rates],
        "losses": losses,
        "best": losses[searched.best],
        "rate": float(f"{searched.rates[searched.best]:.6g}"),
        "at_edge": searched.at_edge,
        "moved": {"start": _moved(task, fresh, sample), "trained": _moved(task, searched.params, sample)},
    }


def arms(settings: Mapping[str, Any] = SETTINGS) -> Iterator[tuple[tuple[str, ...], str, Callable[[], Task]]]:
    """Keys of the results, name of the task, and what makes it; in the order of the run."""
    for kind in BLOCKS:
        for depth in settings["depths"]:
            for a in settings["exponents"]:
                make = partial(digits_task, kind, depth, a, settings["digits"]["width"])
                yield ("digits", kind, str(depth), str(a)), "digits", make
    extra = settings["normalised"]
    for a in extra["exponents"]:
        make = partial(digits_task, "two-layer", extra["n_layers"], a, settings["digits"]["width"], normalised=True)
        yield ("normalised", str(a)), "digits", make
    for depth in settings["zero_start"]:
        make = partial(digits_task, "two-layer", depth, 0.0, settings["digits"]["width"], zero_start=True)
        yield ("zero_start", str(depth)), "digits", make
    own = settings["transport"]
    shape = {name: own[name] for name in ("width", "positions", "batch")}
    for kind, depths in settings["transport_depths"].items():
        for depth in depths:
            for a in settings["exponents"]:
                make = partial(transport_task, kind, depth, a, distance=own["distance"], **shape)
                yield ("transport", kind, str(depth), str(a)), "transport", make
    far = settings["other_distances"]
    for distance in far["distances"]:
        for a in settings["exponents"]:
            make = partial(transport_task, "two-layer", far["n_layers"], a, distance=distance, **shape)
            yield ("distances", str(distance), str(a)), "transport", make


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Nested by the keys of :func:`arms`, each arm as :func:`train_arm` returns it."""
    values: dict[str, Any] = {}
    for keys, name, make in tqdm(list(arms(settings)), unit="arm", disable=not progress):
        place = values
        for key in keys[:-1]:
            place = place.setdefault(key, {})
        place[keys[-1]] = train_arm(name, make(), settings)
    return values


def _inputs(task: Task, count: int = 256) -> jax.Array:
    if callable(task.data):
        marks = task.data(jax.random.key(0))[0]
        return jnp.concatenate([task.data(jax.random.key(k))[0] for k in range(count // len(marks))])
    return jnp.asarray(task.data[0][:count])


def _moved(task: Task, params: Any, inputs: jax.Array) -> list[float | None]:
    def one(own: Any) -> jax.Array:
        start, end = task.ends(own, inputs)
        return jnp.mean(jnp.sum((end - start) ** 2, axis=-1) / jnp.sum(start**2, axis=-1))

    values = np.asarray(jax.vmap(one)(params), dtype=float)
    return [float(f"{x:.4g}") if np.isfinite(x) else None for x in values]


def make_task(name: str, kind: str, n_layers: int, exponent: float) -> Task:
    """The task of the experiment, at its settings, for blocks and a scale of one's own."""
    own = SETTINGS[name]
    if name == "digits":
        return digits_task(kind, n_layers, exponent, own["width"])
    shape = {key: own[key] for key in ("width", "distance", "positions", "batch")}
    return transport_task(kind, n_layers, exponent, **shape)
