"""What ranks small convolutional networks before they are trained?  42 of them on each of six real series.

A network has tanh units, kernel 2, 3 or 5, two to six layers, dilations that stay 1, double, or leave no overlap, and 2
or 4 channels; it sees 3 to 125 values. It forecasts the next change of a series from the changes before, of mean 0 and
variance 1 where it is trained: on 1,600 values by Adam, full batch, with weight decay. Of 1,000 steps the one counts
that has the least error on the 400 values that follow. The next 500 are held out. Four seeds; their mean error counts.

What is known before, all of the process that the 2,000 values show (``estimate_process``, 125 lags): the *twin*, the
mean squared error of the best linear stack with the same skeleton; the *best linear* one of all linear models that see
as much, by Levinson's recursion; the *receptive field*, which ranks alike; the *capacity* κ of the twin; the *weights*.

The criteria, committed before the run:

rank : Spearman's correlation over the 42 networks of a series between held-out errors and what was known, both larger
    for the worse (receptive field, capacity and weights with the opposite sign). Mean over series with Student's 95 %
    interval. It ranks if the lower end is at least .5, it does not if the upper end is below, undecided otherwise. The
    correlation of two seeds' errors with those of the other two tells what could be seen.
saturated : κ equals the receptive field. The twin is then any linear model of that receptive field, and κ and the twin
    say nothing that it does not. The same correlations over the other networks alone. The theory says more than the
    receptive field if the paired difference of correlations, twin less best linear, has an interval above 0 there; no
    if below; undecided otherwise, with its half width as the least difference that this test sees.
beaten : In how many of the networks is the held-out error, mean of the seeds, below that of the linear model that
    ``cc.design`` recommends for the same 2,000 values, of at most 32 weights and 64 inputs?

``python -m chapters run small_networks`` makes it again, in some minutes on one core. It needs the packages whose
series it takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

from capcore import Hierarchical, fit
from capcore.checks.arguments import quiet
from capcore.processes.time_series import estimate_process
from capcore.processes.toeplitz import levinson_durbin
from chapters.design_certificate.real_series import NEEDS, forecast, recommended, series
from chapters.gaussian_prediction.experiment import plain
from chapters.kit.witness import CHAOTIC, Witness

SKELETONS = {
    2: [(1, 2), (1, 4), (2, 2), (2, 3), (2, 4), (2, 5), (2, 6)],
    3: [(1, 2), (1, 4), (2, 3), (2, 5), (3, 2), (3, 3), (3, 4)],
    5: [(1, 2), (1, 4), (2, 3), (2, 4), (5, 2), (5, 3), (2, 5)],
}
"""Kernel → (dilation over that of the layer below, layers)."""
SETTINGS: dict[str, Any] = {
    "series": [
        "electricity demand, half-hourly",
        "sunspots, monthly",
        "sea temperature, half-hourly",
        "Australian temperature, daily",
        "wind power, hourly",
        "membrane current",
    ],
    "networks": [
        f"kernel {k}, {layers} layers, dilation ×{growth}, {channels} channels"
        for k, shapes in SKELETONS.items()
        for growth, layers in shapes
        for channels in (2, 4)
    ],
    "seeds": [0, 1, 2, 3],
    "steps": 1000,
}
QUICK: dict[str, Any] = {"series": ["membrane current"], "networks": SETTINGS["networks"][:2], "steps": 4}
WITNESS = Witness(
    ["networks"], fixed={"series": ["membrane current", "electricity demand, half-hourly"]}, needs=NEEDS, **CHAOTIC
)
PACKAGES = ("jax", "optax", "pmdarima")
LAGS, N_TRAIN, N_CHOICE, N_TEST = 125, 1600, 400, 500
RATE, DECAY = 0.01, 1e-3
LINEAR = 64, 32  # inputs and weights at most of the linear model
Weights = list[jax.Array]


def skeleton(name: str) -> Hierarchical:
    """The linear stack with the kernels, dilations and channels of a network.

    >>> skeleton("kernel 3, 2 layers, dilation ×3, 4 channels").n_inputs
    9
    """
    kernel, layers, growth, channels = (int("".join(filter(str.isdigit, part))) for part in name.split(","))
    return Hierarchical(channels, layers, kernel_size=kernel, dilations=[growth**i for i in range(layers)])


def first_weights(sizes: Sequence[tuple[int, int, int]], rng: np.random.Generator) -> Weights:
    """Kernels and biases of layers of (in, taps, out)."""
    kernels = [rng.normal(size=(i * k, o)) / np.sqrt(i * k) for i, k, o in sizes]
    return [jnp.asarray(np.vstack([kernel, np.zeros((1, kernel.shape[1]))]), jnp.float32) for kernel in kernels]


def applied(dilations: Sequence[int], weights: Weights, x: Any) -> Any:
    """(T,) forecasts of the value after each of x (T, c)."""
    for layer, (kernel, dilation) in enumerate(zip(weights, dilations, strict=True)):
        taps = (len(kernel) - 1) // x.shape[1]
        x = jnp.tanh(x) if layer else x
        padded = jnp.pad(x, ((dilation * (taps - 1), 0), (0, 0)))
        past = [padded[dilation * (taps - 1 - i) :][: len(x)] for i in range(taps)]
        x = jnp.concatenate(past, axis=1) @ kernel[:-1] + kernel[-1]
    return x[:, 0]


@partial(jax.jit, static_argnums=(0, 1))
def trained(dilations: tuple[int, ...], steps: int, weights: Weights, x: Any, y: Any, known: Any, chosen: Any) -> Any:
    """Forecasts (T,) of the step with least error where ``chosen``, trained where ``known``: both (T,) of 0 and 1."""
    rule = optax.adam(optax.cosine_onecycle_schedule(steps, RATE, pct_start=0.3))

    def loss(weights: Weights) -> tuple[Any, Any]:
        forecasts = applied(dilations, weights, x)
        error, decay = (forecasts - y) ** 2, sum(jnp.sum(each**2) for each in weights)
        return error @ known / known.sum() / 2 + DECAY * decay / 2, (error @ chosen, forecasts)

    def step(state: Any, _: None) -> Any:
        weights, memory, least, best = state
        (_, (error, forecasts)), slope = jax.value_and_grad(loss, has_aux=True)(weights)
        update, memory = rule.update(slope, memory)
        best = jnp.where(error < least, forecasts, best)
        return (optax.apply_updates(weights, update), memory, jnp.minimum(error, least), best), None

    begin = weights, rule.init(weights), jnp.inf, jnp.zeros(len(y), jnp.float32)
    return jax.lax.scan(step, begin, None, length=steps)[0][3]


def changes(name: str) -> np.ndarray:
    """(2,626) changes of a series, of mean 0 and variance 1 but for those that are held out."""
    steps = np.diff(series(name))[-LAGS - N_TRAIN - N_CHOICE - N_TEST - 1 :]
    return (steps - steps[:-N_TEST].mean()) / steps[:-N_TEST].std()


def of_networks(names: Sequence[str], network: str, settings: Mapping[str, Any]) -> np.ndarray:
    """(series, seeds) held-out mean squared errors of one network."""
    arch, seeds = skeleton(network), settings["seeds"]
    values = np.array([changes(name) for name in names], np.float32)
    x, y = values[:, :-1, None], values[:, 1:]
    known, chosen = np.zeros((2, y.shape[1]), np.float32)
    known[LAGS : LAGS + N_TRAIN] = chosen[LAGS + N_TRAIN : -N_TEST] = 1
    begins = [first_weights(arch.kernel_shapes, np.random.default_rng(seed)) for seed in seeds]
    stacked = jax.tree.map(lambda *each: jnp.stack(each), *begins)
    one = partial(trained, tuple(arch.dilations), settings["steps"])
    some = jax.vmap(one, in_axes=(0, None, None, None, None))
    found = [some(stacked, *each, known, chosen) for each in zip(x, y, strict=True)]
    return np.mean(np.square(np.array(found)[:, :, -N_TEST:] - y[:, None, -N_TEST:]), axis=2)


def before(network: str, process: Any, errors: np.ndarray) -> dict[str, float]:
    """What is known of a network before; ``errors`` of the best linear models of 0, 1, … lags."""
    arch = skeleton(network)
    with quiet():
        found = fit(arch, process)
    return {
        "twin": found.variance + found.loss,
        "best linear": float(errors[arch.n_inputs]),
        "receptive field": arch.n_inputs,
        "capacity": arch.generic_capacity(),
        "weights": arch.n_params,
    }


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """``networks``: series → network → errors by seed, and what was known before; ``linear``: series → error."""
    table: dict[str, Any] = {name: {} for name in settings["series"]}
    known, linear = {}, {}
    for name in table:
        values = changes(name)
        with quiet():
            process = estimate_process(values[:-N_TEST], LAGS)
        known[name] = process, levinson_durbin(process.autocovariance(LAGS + 1)).variances
        model = recommended(values[:-N_TEST], *LINEAR)
        missed = values[-N_TEST:] - forecast(model, values[:-N_TEST], values[-N_TEST:])
        linear[name] = {"error": np.mean(missed**2), "weights": model.n_params, "model": model.words}
    for network in tqdm(settings["networks"], "networks", disable=not progress):
        for name, errors in zip(table, of_networks([*table], network, settings), strict=True):
            table[name][network] = {"errors": errors, **before(network, *known[name])}
    return plain({"networks": table, "linear": linear})
