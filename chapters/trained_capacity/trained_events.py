"""What foretells the cost of an event to a trained network?  Events planted k samples back, before training again.

A TCN with ReLU units that sees 1,024 values, a GRU and a causal transformer that sees 64 forecast the changes from
step to step of two real series: the half-hourly electricity demand that pmdarima ships, and the current through a
membrane that Matplotlib ships, the nearest to sound that is at hand. They are trained on 2,000 values by Adam, with
weight decay. An event adds βx_{t−1−k} to what they are to forecast and leaves their inputs alone; k is one of twelve
lags. Its size β²⟨x²⟩ is a fifth of the error that the network has on 1,000 held-out values.

The network is trained again from where it is, with a third of the steps and at a fifth of the rate: with the event, and
with its opposite. Half of the difference of both forecasts is what was learnt of the event. Its *cost* is the share
of its error that stays, ⟨(βx_{t−1−k} − learnt)²⟩/⟨(βx_{t−1−k})²⟩ on held-out values: 0 where it is learnt, 1 where it
is missed. It is what the mean of both errors exceeds that without an event by, but for what training on changes anyway.
That excess is stored, too ("extra"), with training again as long without an event.

What foretells it, at the weights before: *capacity*, zᵀSz of the whitened input k, with the Gauss–Newton response
S = J(JᵀJ + λ)⁻¹Jᵀ to targets; the *missed share* ‖(1 − S)z‖²/‖z‖² of z = x_{t−1−k}; both on the training values. Beside
them the mean square by which forecasts change where the input is replaced by its mean (*occlusion*), the mean size of
their derivative by it (*gradient*), its mean square weighted by the leverages S_tt (*leverage*), and the *lag* itself.

The criteria, which were committed before the run (pilots with another seed had chosen to forecast
changes, this measure of cost, rates, steps and weight decay):

rank : Does it rank the costs? Spearman's correlation over the twelve lags, for each network, series and seed; mean over
    seeds, then Student's interval over the six pairs of network and series. Yes if its lower end is at least 0.8, no if
    its upper end is below, undecided otherwise. Capacity counts as 1 − zᵀSz; occlusion, gradient and leverage with the
    opposite sign. A network whose worst event costs less than 5 % of its size has nothing to rank and is counted apart.
better : Paired differences of the missed share's correlation with those of capacity, occlusion, gradient, leverage and
    lag. Yes if the interval is above 0, no if below, undecided otherwise.
amount : The cost is the missed share within a quarter of it or within 2 % of the event's size. Share of lags and seeds
    for each pair; yes if the lower end of its interval over pairs is at least 0.9, no if the upper end is below.

``python -m chapters run trained_events`` makes it again, in about fifteen minutes on one core. It needs pmdarima.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from matplotlib.cbook import get_sample_data
from tqdm import tqdm

from chapters.kit.witness import CHAOTIC, Witness
from chapters.trained_capacity.directions import whitened
from chapters.trained_capacity.forecasters import FORECASTERS, N_INPUTS, SIDE_BY_SIDE, first_params
from chapters.trained_capacity.networks import Apply, Params

SETTINGS: dict[str, Any] = {
    "networks": ["TCN", "GRU", "transformer"],
    "series": ["demand", "membrane current"],
    "seeds": [0, 1],
    "lags": {
        "TCN": [1, 5, 16, 31, 47, 64, 100, 160, 256, 335, 512, 900],
        "GRU": [1, 2, 4, 7, 11, 16, 23, 31, 47, 64, 90, 120],
        "transformer": [1, 2, 4, 7, 11, 16, 21, 27, 33, 40, 47, 60],
    },
    "steps": {"TCN": 1500, "GRU": 400, "transformer": 400},
    "size": 0.2,
}
QUICK: dict[str, Any] = {"networks": ["TCN"], "series": ["membrane current"], "seeds": [9], "steps": {"TCN": 4}}
DEMAND = find_spec("pmdarima")
WITNESS = Witness(["networks series seeds"], needs=[Path((DEMAND and DEMAND.origin) or "pmdarima")], **CHAOTIC)
PACKAGES = ("jax", "optax", "pmdarima")
FIRST, N_TRAIN, N_TEST = 1023, 2000, 1000
"""Index of the first forecast that counts, and how many count in training and on held-out values."""
TRAIN, TEST = slice(-N_TRAIN - N_TEST, -N_TEST), slice(-N_TEST, None)
RATES, DECAY = (0.01, 0.002), 1e-3
"""Largest rates of Adam, which rise and fall once, at first and again; weight decay beside the mean of ½(error)²."""
N_PROBED = 100
"""Forecasts, evenly spaced in training, of which derivatives by the inputs and occlusions are taken."""


@cache
def series(name: str) -> np.ndarray:
    """(4,024) changes from step to step, of mean 0 and variance 1 where the networks are trained.

    >>> series("membrane current").shape
    (4024,)
    """
    if name == "demand":
        values = import_module("pmdarima.datasets").load_taylor()
    else:
        values = np.fromfile(get_sample_data("membrane.dat", asfileobj=False), np.float32)[::2]
    changes = np.diff(values.astype(float))[: FIRST + N_TRAIN + N_TEST + 1]
    known = changes[: FIRST + N_TRAIN]
    return (changes - known.mean()) / known.std()


def data(network: str, name: str, lags: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values (T,), the next ones (T,), and events (12, T); they begin where the first forecast sees all its inputs."""
    values, begin = series(name), FIRST + 1 - N_INPUTS[network]
    events = np.array([np.concatenate([np.zeros(lag), values[: len(values) - lag]]) for lag in lags])
    return values[begin:-1], values[begin + 1 :], events[:, begin:-1]


@partial(jax.jit, static_argnums=(0, 4))
def trained(network: str, params: Params, x: Any, targets: Any, steps: int, rate: float) -> tuple[Params, Any]:
    """Parameters trained for each row of the targets (m, T) from the same start, and their forecasts (m, T)."""
    apply = FORECASTERS[network][0]
    rule = optax.adam(optax.cosine_onecycle_schedule(steps, 1.0, pct_start=0.3))

    def loss(params: Params, y: Any) -> Any:
        weights = sum(jnp.sum(each**2) for each in params.values())
        return jnp.mean((apply(params, x) - y)[TRAIN] ** 2) / 2 + DECAY * weights / 2

    def one(y: Any) -> Any:
        def step(state: Any, _: None) -> Any:
            params, memory = state
            update, memory = rule.update(jax.grad(loss)(params, y), memory)
            return (jax.tree.map(lambda a, b: a + rate * b, params, update), memory), None

        (end, _), _ = jax.lax.scan(step, (params, rule.init(params)), None, length=steps)
        return end, apply(end, x)

    return jax.lax.map(one, targets, batch_size=SIDE_BY_SIDE[network])


@partial(jax.jit, static_argnums=0)
def _jacobian(apply: Apply, params: Params, x: Any) -> Any:
    """(N, p) derivatives of the forecasts in training by the parameters."""
    vector, shaped = ravel_pytree(params)
    along = partial(jax.jvp, lambda v: apply(shaped(v), x)[TRAIN], (vector,))
    return jax.lax.map(lambda tangent: along((tangent,))[1], jnp.eye(vector.size), batch_size=8).T


@partial(jax.jit, static_argnums=0)
def _probed(apply: Apply, params: Params, x: Any, places: Any, lags: Any) -> tuple[Any, Any]:
    """(m, 12) derivatives of forecasts at some places by the values at the lags, and changes where those are 0."""

    def one(place: Any) -> Any:
        slopes = jax.grad(lambda x: apply(params, x)[place])(x)[place - lags]
        without = jax.lax.map(lambda lag: apply(params, x.at[place - lag].set(0))[place], lags)
        return slopes, without - apply(params, x)[place]

    return jax.lax.map(one, places)


@jax.enable_x64(True)
def foretelling(network: str, params: Params, x: np.ndarray, events: np.ndarray, lags: list[int]) -> dict[str, Any]:
    """What is known of each lag before, and the total of S."""
    apply = FORECASTERS[network][0]
    jacobian = np.asarray(_jacobian(apply, params, x))
    sizes, axes = np.linalg.eigh(jacobian.T @ jacobian + DECAY * N_TRAIN * np.eye(jacobian.shape[1]))
    half = jacobian @ (axes / np.sqrt(sizes))  # S is its product with its transpose
    z, leverage = events[:, TRAIN].T, np.sum(half**2, axis=1)
    inputs = np.lib.stride_tricks.sliding_window_view(x, N_INPUTS[network])[:N_TRAIN, ::-1]
    places = np.arange(len(x) - N_TRAIN - N_TEST, len(x) - N_TEST, N_TRAIN // N_PROBED)
    slopes, changes = _probed(apply, params, x, places, np.array(lags))
    return {
        "total": leverage.sum(),
        "capacity": np.sum((half.T @ whitened(inputs)[:, lags]) ** 2, axis=0),
        "missed": np.sum((z - half @ (half.T @ z)) ** 2, axis=0) / np.sum(z**2, axis=0),
        "occlusion": np.mean(np.square(changes), axis=0),
        "gradient": np.mean(np.abs(slopes), axis=0),
        "leverage": leverage @ z**2 / leverage.sum(),
    }


def costs(network: str, name: str, seed: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Of one trained network: what each lag has before, and what events there cost after, as shares of their size."""
    lags, steps = settings["lags"][network], settings["steps"][network]
    x, y, events = (each.astype(np.float32) for each in data(network, name, lags))
    start = jax.tree.map(np.float32, first_params(network, seed))
    ends, before = trained(network, start, x, y[None], 3 * steps, RATES[0])
    params, error = jax.tree.map(lambda each: each[0], ends), np.mean(np.square(before[0] - y)[TEST])
    planted = np.sqrt(settings["size"] * error / np.mean(x[TEST] ** 2)) * events
    targets = np.concatenate([y[None], y + planted, y - planted])
    after = np.asarray(trained(network, params, x, targets, steps, RATES[1])[1], float)
    learnt, left = (after[1:13] - after[13:]) / 2, np.mean(np.square(after - targets)[:, TEST], axis=1)

    def stays(part: slice) -> np.ndarray:
        return np.mean(np.square(planted - learnt)[:, part], axis=1) / np.mean(np.square(planted)[:, part], axis=1)

    found = {
        "error": error,
        "variance": np.mean(y[TEST] ** 2),
        **foretelling(network, jax.tree.map(np.float64, params), x.astype(float), events.astype(float), lags),
        "cost": stays(TEST),
        "cost in training": stays(TRAIN),
        "extra": ((left[1:13] + left[13:]) / 2 - left[0]) / np.mean(np.square(planted)[:, TEST], axis=1),
    }
    rounded = {key: np.vectorize(lambda value: float(f"{value:.5g}"))(values) for key, values in found.items()}
    return {key: values.tolist() for key, values in rounded.items()}


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """All that is stored: network → series → seed → values."""
    table: dict[str, Any] = {network: {name: {} for name in settings["series"]} for network in settings["networks"]}
    cells = [*product(settings["networks"], settings["series"], settings["seeds"])]
    for network, name, seed in tqdm(cells, "networks", disable=not progress):
        table[network][name][str(seed)] = costs(network, name, seed, settings)
    return table
