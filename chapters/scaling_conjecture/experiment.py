"""What residual networks of scale L^-a learn, over a, depth and kind of block: the stored experiment.

Every arm is judged at its best learning rate: the same grid for all, extended while its best end is still the best.
``python -m chapters run residual_scale`` makes it again, in about a quarter of an hour on one core.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from chapters.gaussian_prediction.experiment import plain
from chapters.kit.witness import CHAOTIC, Witness
from chapters.scaling_conjecture.signals import BLOCKS
from chapters.scaling_conjecture.tasks import Task, digits_task, transport_task
from chapters.shared.training import Runs, train

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
FACTOR = 4.0
"""Between learning rates, also of those that are tried beyond the grid."""


def search(run: Callable[..., Runs], rates: Sequence[float], extensions: int, factor: float, digits: int = 3) -> Runs:
    """Runs at every rate, ascending, and at further ones while the best is at the end of the grid.

    Parameters
    ----------
    run : learning rates → runs, such as ``train`` with all else given.
    extensions : most further rates; none where every rate diverged. factor : between these.
    digits : of further rates, significant ones.
    """
    runs = run(learning_rates=sorted(rates))
    for _ in range(extensions):
        best = runs.best
        if not at_edge(runs) or not np.isfinite(np.median(runs.final[best])):
            break
        rate = runs.learning_rates[best] * factor ** (-1 if best == 0 else 1)
        further = run(learning_rates=[float(f"{rate:.{digits}g}")])
        tried = np.concatenate([runs.learning_rates, further.learning_rates])
        order = np.argsort(tried)
        losses = np.concatenate([runs.losses, further.losses])[order]
        params = jax.tree.map(lambda a, b, k=order: jnp.concatenate([a, b])[k], runs.params, further.params)
        runs = Runs(tried[order], runs.seeds, losses, params)
    return runs


def at_edge(runs: Runs) -> bool:
    """Whether the best rate is the lowest or the highest that was tried."""
    return runs.best in (0, len(runs.learning_rates) - 1)


def starts(initial: Callable[[jax.Array], Any], seeds: Sequence[int]) -> Any:
    """The parameters from which ``train`` starts, each array with a first axis of seeds."""
    return jax.vmap(lambda seed: initial(jax.random.split(jax.random.key(seed))[0]))(jnp.array(seeds))


def train_arm(name: str, task: Task, settings: Mapping[str, Any] = SETTINGS) -> dict[str, Any]:
    """Best loss of every seed, the learning rates tried, and how far the layers move their input; plain types.

    ``name`` is digits or transport: whose settings. ``moved`` is the mean of |x_L − x_0|²/|x_0|² over 256 inputs, one
    number per seed, at the start and after training; ``null`` where it is not finite.
    """
    seeds, own = settings["seeds"], settings[name]
    options = {"batch_size": own.get("batch_size", 64), "optimiser": settings["optimiser"]}
    run = partial(train, task.initial, task.loss, task.data, seeds=seeds, n_steps=own["n_steps"], **options)
    runs = search(run, settings["rates"], settings["extensions"], FACTOR, digits=4)
    rates, losses, best = plain(runs.learning_rates), plain(runs.final), runs.best
    trained = jax.tree.map(lambda p: p[best], runs.params)
    return {
        "rates": rates,
        "losses": losses,
        "best": losses[best],
        "rate": rates[best],
        "at_edge": at_edge(runs),
        "moved": {"start": _moved(task, starts(task.initial, seeds)), "trained": _moved(task, trained)},
    }


def make_task(
    name: str, kind: str, n_layers: int, exponent: float, *, settings: Mapping[str, Any] = SETTINGS, **options: Any
) -> Task:
    """The task of the experiment, at its settings, for blocks and a scale of one's own."""
    own = {key: value for key, value in settings[name].items() if key not in ("batch_size", "n_steps")} | options
    return (digits_task if name == "digits" else transport_task)(kind, n_layers, exponent, **own)


def arms(settings: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], tuple[str, str, int, float], dict[str, Any]]]:
    """Keys of the results, and arguments and options of :func:`make_task`; in the order of the run."""
    for kind, depth, a in product(BLOCKS, settings["depths"], settings["exponents"]):
        yield ("digits", kind, str(depth), str(a)), ("digits", kind, depth, a), {}
    extra = settings["normalised"]
    for a in extra["exponents"]:
        yield ("normalised", str(a)), ("digits", "two-layer", extra["n_layers"], a), {"normalised": True}
    for depth in settings["zero_start"]:
        yield ("zero_start", str(depth)), ("digits", "two-layer", depth, 0.0), {"zero_start": True}
    for kind, depths in settings["transport_depths"].items():
        for depth, a in product(depths, settings["exponents"]):
            yield ("transport", kind, str(depth), str(a)), ("transport", kind, depth, a), {}
    far = settings["other_distances"]
    for distance, a in product(far["distances"], settings["exponents"]):
        key, task = ("distances", str(distance), str(a)), ("transport", "two-layer", far["n_layers"], a)
        yield key, task, {"distance": distance}


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Nested by the keys of :func:`arms`, each arm as :func:`train_arm` returns it."""
    values: dict[str, Any] = {}
    for keys, task, options in tqdm(list(arms(settings)), unit="arm", disable=not progress):
        place = values
        for key in keys[:-1]:
            place = place.setdefault(key, {})
        place[keys[-1]] = train_arm(task[0], make_task(*task, settings=settings, **options), settings)
    return values


def _moved(task: Task, params: Any) -> list[float | None]:
    if callable(task.data):
        count = 256 // len(task.data(jax.random.key(0))[0])
        inputs = jnp.concatenate([task.data(jax.random.key(k))[0] for k in range(count)])
    else:
        inputs = jnp.asarray(task.data[0][:256])

    def one(own: Any) -> jax.Array:
        start, end = task.ends(own, inputs)
        return jnp.mean(jnp.sum((end - start) ** 2, axis=-1) / jnp.sum(start**2, axis=-1))

    return list(plain(np.asarray(jax.vmap(one)(params), dtype=float), 4))
