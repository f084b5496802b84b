"""What residual networks of scale L^-a learn, over a, depth and kind of block: two tasks, and the stored experiment.

The networks x ← x + s f(x) have the blocks whose scale s = L^-a the scaling conjecture of paper 2 is about (§2, Eq. 5):

``tanh``
    f(x) = tanh(Wx), weights of variance 1/n.
``relu``
    f(x) = max(Wx, 0), variance 2/n. Its mean is not zero, so that a depth of L adds a drift of order L s.
``two-layer``
    f(x) = V max(Wx, 0), variances 2/n and 1/n: mean zero over V, and |f(x)|² = |x|² in expectation.

n counts what W sums over: the channels, times the taps in a convolution.

Only the blocks are trained. Embedding and read-out are drawn and stay, so that what the blocks do not learn is not
learned elsewhere; the state is brought to unit mean square before it is read, so that its size alone spoils nothing.
Every arm is judged at its best learning rate: the same grid for all, extended while its best end is still the best.
``python -m chapters run residual_scale`` makes it again, in about a quarter of an hour on one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

from capcore.validation import finite_array, finite_number, one_of, positive_integer
from chapters.scaling_conjecture.signals import BLOCKS
from chapters.shared.data import digits
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
PACKAGES = ("numpy", "scipy", "jax", "optax", "scikit-learn")
TASKS = ("digits", "transport")
Weights = dict[str, jax.Array]
Batch = tuple[jax.Array, ...]
READOUT_GAIN = 2.0  # of the digits' read-out: logits large enough for losses near zero


def draw_blocks(key: jax.Array, kind: str, n_layers: int, width: int, taps: int = 1, shared: bool = False) -> Weights:
    """Independent normal weights of all layers, (L, taps · width, width) each; one layer's for all if ``shared``.

    Raises ``ValueError`` for an unknown kind, counts below one, and an even number of taps.

    >>> {name: w.shape for name, w in draw_blocks(jax.random.key(0), "two-layer", 8, 4, taps=3).items()}
    {'W': (8, 12, 4), 'V': (8, 4, 4)}
    """
    one_of(kind, "kind", BLOCKS)
    depth, n = positive_integer(n_layers, "n_layers"), positive_integer(width, "width")
    if positive_integer(taps, "taps") % 2 == 0:
        raise ValueError(f"taps: found {taps}, expected an odd number, the same on both sides.")
    drawn = 1 if shared else depth
    first, second = jax.random.split(key)
    gain = 1 if kind == "tanh" else 2
    weights = {"W": sqrt(gain / (taps * n)) * jax.random.normal(first, (drawn, taps * n, n))}
    if kind == "two-layer":
        weights["V"] = sqrt(1 / n) * jax.random.normal(second, (drawn, n, n))
    return {name: jnp.broadcast_to(w, (depth, *w.shape[1:])) for name, w in weights.items()}


def block(kind: str, weights: Weights, x: jax.Array, taps: int = 1) -> jax.Array:
    """f(x) of one layer; x : (…, n), or (…, positions, n) on a ring of positions where there are several taps.

    Tap j of W, its rows j n … (j + 1) n − 1, reads the position j − (taps − 1)/2 further on.
    """
    n = x.shape[-1]
    seen = [x @ weights["W"][j * n : (j + 1) * n] for j in range(taps)]
    h = sum(jnp.roll(part, taps // 2 - j, axis=-2) for j, part in enumerate(seen)) if taps > 1 else seen[0]
    if kind == "tanh":
        return jnp.tanh(h)
    h = jax.nn.relu(h)
    return h @ weights["V"] if kind == "two-layer" else h


def through_blocks(
    weights: Weights, x: jax.Array, scale: Any, kind: str, taps: int = 1, normalised: bool = False
) -> jax.Array:
    """x_L after the blocks; shapes as in :func:`block`.

    Parameters
    ----------
    scale : s, a number or (L,). normalised : x ← (x + s f(x)) / √(1 + s²). For ``two-layer`` and ``relu`` this is
        the same function but for one factor, and cannot overflow.

    >>> weights = draw_blocks(jax.random.key(0), "tanh", 8, 4)
    >>> bool((through_blocks(weights, jnp.ones(4), 0.0, "tanh") == 1).all())
    True
    """
    depth = weights["W"].shape[0]
    scales = jnp.broadcast_to(jnp.asarray(scale, dtype=x.dtype), (depth,))

    def layer(state: jax.Array, now: tuple[Weights, jax.Array]) -> tuple[jax.Array, None]:
        own, s = now
        state = state + s * block(kind, own, state, taps)
        return (state / jnp.sqrt(1 + s**2) if normalised else state), None

    return jax.lax.scan(layer, x, (weights, scales))[0]


@dataclass(frozen=True)
class Task:
    """What ``train`` needs, and the network's state for looking inside.

    Attributes
    ----------
    initial : random key → parameters. loss : (parameters, batch) → scalar. data : arrays, or random key → batch.
    ends : (parameters, inputs) → x_0 and x_L. trivial : loss of the best answer that does not look at the input.
    """

    initial: Callable[[jax.Array], Any]
    loss: Callable[[Any, Batch], jax.Array]
    data: list[np.ndarray] | Callable[[jax.Array], Batch]
    ends: Callable[[Any, jax.Array], tuple[jax.Array, jax.Array]]
    trivial: float


def residual_scale(n_layers: int, exponent: float) -> float:
    """L^-a, the factor of every block.

    >>> residual_scale(256, 0.5)
    0.0625
    """
    a = finite_number(exponent, "exponent")
    return float(positive_integer(n_layers, "n_layers")) ** -a


def digits_task(
    kind: str, n_layers: int, exponent: float, width: int = 32, *, normalised: bool = False, zero_start: bool = False
) -> Task:
    """Cross-entropy (nats) of a dense residual network on the training digits.

    Parameters
    ----------
    kind : see ``tasks``. exponent : a of the scale L^-a. zero_start : a scale for every block
        that starts at zero and is trained (ReZero), in place of L^-a.

    >>> round(digits_task("tanh", 8, 0.5).trivial, 2)
    2.3
    """
    scale = residual_scale(n_layers, exponent)
    train = digits()
    n_in, n_out = train.x.shape[1], 10

    def initial(key: jax.Array) -> Any:
        inner, outer, middle = jax.random.split(key, 3)
        return {
            "embedding": jax.random.normal(inner, (n_in, width)) / sqrt(n_in),
            "readout": READOUT_GAIN * jax.random.normal(outer, (width, n_out)) / sqrt(width),
            "blocks": draw_blocks(middle, kind, n_layers, width),
            "scale": jnp.zeros(n_layers) if zero_start else jnp.asarray(scale),
        }

    def ends(params: Any, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        start = x @ jax.lax.stop_gradient(params["embedding"])
        s = params["scale"] if zero_start else jax.lax.stop_gradient(params["scale"])
        return start, through_blocks(params["blocks"], start, s, kind, normalised=normalised)

    def loss(params: Any, batch: Batch) -> jax.Array:
        logits = _unit(ends(params, batch[0])[1]) @ jax.lax.stop_gradient(params["readout"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch[1]).mean()

    return Task(initial, loss, [train.x, train.y], ends, float(np.log(n_out)))


def transport_task(
    kind: str,
    n_layers: int,
    exponent: float,
    width: int = 8,
    *,
    distance: int = 4,
    positions: int = 32,
    batch: int = 16,
) -> Task:
    """Mean squared error of a convolutional residual network that must show every mark ``distance`` places further on.

    Marks are independent signs on a ring of ``positions``, freshly drawn for every batch; blocks see three neighbouring
    positions, and a position's output is read from its own channels. Answering zero has loss 1.

    Raises ``ValueError`` where no path of L layers is that long, or where the ring is shorter the other way round.
    """
    scale, reach = residual_scale(n_layers, exponent), positive_integer(distance, "distance")
    if reach > n_layers:
        raise ValueError(f"distance: found {reach}, expected at most the number of layers, {n_layers}.")
    if reach > positive_integer(positions, "positions") // 2:
        raise ValueError(f"distance: found {reach}, expected at most half of the {positions} positions.")

    def initial(key: jax.Array) -> Any:
        inner, outer, middle = jax.random.split(key, 3)
        return {
            "embedding": jax.random.normal(inner, (1, width)),
            "readout": jax.random.normal(outer, (width, 1)) / sqrt(width),
            "blocks": draw_blocks(middle, kind, n_layers, width, taps=3),
            "scale": jnp.asarray(scale),
        }

    def data(key: jax.Array) -> Batch:
        marks = jax.random.rademacher(key, (batch, positions)).astype(jnp.float32)
        return marks, jnp.roll(marks, reach, axis=-1)

    def ends(params: Any, marks: jax.Array) -> tuple[jax.Array, jax.Array]:
        start = marks[..., None] @ jax.lax.stop_gradient(params["embedding"])
        s = jax.lax.stop_gradient(params["scale"])
        return start, through_blocks(params["blocks"], start, s, kind, taps=3)

    def loss(params: Any, batch: Batch) -> jax.Array:
        shown = _unit(ends(params, batch[0])[1]) @ jax.lax.stop_gradient(params["readout"])
        return jnp.mean((shown[..., 0] - batch[1]) ** 2)

    return Task(initial, loss, data, ends, 1.0)


def _unit(x: jax.Array) -> jax.Array:
    """``x`` at unit mean square over its last axis; the size is a constant small enough not to matter."""
    return x / jnp.sqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-12)


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

    Raises ``ValueError`` for rates that do not rise.
    """
    grid = finite_array(rates, "rates", 1)
    if (np.diff(grid) <= 0).any():
        raise ValueError(f"rates: found {grid.tolist()}, expected rising numbers.")
    left = {-1: positive_integer(extensions, "extensions", 0)} if len(grid) > 1 else {-1: 0}
    left[1] = left[-1]
    options: dict[str, Any] = {"batch_size": batch_size, "optimiser": optimiser, "progress": progress}

    def runs(these: Sequence[float]) -> dict[float, tuple[np.ndarray, Any]]:
        found = train(task.initial, task.loss, task.data, learning_rates=these, seeds=seeds, n_steps=n_steps, **options)
        return {r: (found.final[k], jax.tree.map(lambda p, k=k: p[k], found.params)) for k, r in enumerate(these)}

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
    found = search(
        task,
        settings["rates"],
        settings["seeds"],
        own["n_steps"],
        batch_size=own.get("batch_size", 64),
        optimiser=settings["optimiser"],
        extensions=settings["extensions"],
    )
    losses = [[float(f"{x:.6g}") if np.isfinite(x) else None for x in row] for row in found.losses]
    sample = _inputs(task)
    fresh = jax.vmap(lambda seed: task.initial(jax.random.split(jax.random.key(seed))[0]))(jnp.array(settings["seeds"]))
    return {
        "rates": [float(f"{rate:.6g}") for rate in found.rates],
        "losses": losses,
        "best": losses[found.best],
        "rate": float(f"{found.rates[found.best]:.6g}"),
        "at_edge": found.at_edge,
        "moved": {"start": _moved(task, fresh, sample), "trained": _moved(task, found.params, sample)},
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
    found: dict[str, Any] = {}
    for keys, name, make in tqdm(list(arms(settings)), unit="arm", disable=not progress):
        place = found
        for key in keys[:-1]:
            place = place.setdefault(key, {})
        place[keys[-1]] = train_arm(name, make(), settings)
    return found


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
    one_of(name, "task", TASKS)
    own = SETTINGS[name]
    if name == "digits":
        return digits_task(kind, n_layers, exponent, own["width"])
    shape = {key: own[key] for key in ("width", "distance", "positions", "batch")}
    return transport_task(kind, n_layers, exponent, **shape)
