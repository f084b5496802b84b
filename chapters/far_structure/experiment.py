"""Does the linear far share foretell how well free-running networks keep the autocorrelation at far lags?

Every stack with linear, tanh and gated units, on every series, from five seeds; ``criteria`` says what is asked.
``python -m chapters run far_structure`` makes it again, in about fifteen minutes of one core; a stack with one kind of
units is a run of a sweep.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from capcore.capacity.allocation import allocate
from capcore.checks.arguments import quiet
from capcore.fitting.optimum import fit
from capcore.processes.problem import Problem
from capcore.processes.time_series import estimate_process
from chapters.far_structure.networks import LIMIT, Trained, n_params, train_all
from chapters.far_structure.series import LENGTH, NULLS, SERIES, series
from chapters.far_structure.stacks import N_INPUTS, Stack, alike
from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.swept import values_of

SETTINGS: dict[str, Any] = {
    "series": [*SERIES, *NULLS],
    "units": ["linear", "tanh", "gated"],
    "seeds": [0, 1, 2, 3, 4],
    "steps": 600,
    "n_sequences": 16,
    "burn_in": 400,
    "stacks": None,
}
QUICK: dict[str, Any] = {
    "series": ["volume of trade", "white noise"],
    "units": ["tanh"],
    "seeds": [0, 1],
    "steps": 40,
    "n_sequences": 2,
    "burn_in": 10,
    "stacks": [0, 1],
}
WITNESS = Witness(["series units"], fixed={"stacks": [0]}, partial=["curves"], **CHAOTIC)
PACKAGES = ("jax", "optax", "matplotlib", "scikit-learn")
FAR = slice(N_INPUTS // 2 + 1, N_INPUTS + 1)
"""Lags in the second half of the receptive field."""


def autocorrelation(values: np.ndarray) -> np.ndarray:
    """(…, 65) autocorrelations at lags 0 … 64 of sequences (…, T), each about its own mean.

    >>> autocorrelation(np.tile([1.0, -1.0], 500))[:3].round(3).tolist()
    [1.0, -0.999, 0.998]
    """
    centred = values - values.mean(axis=-1, keepdims=True)
    powers = np.abs(np.fft.rfft(centred, 2 * values.shape[-1])) ** 2
    correlations = np.fft.irfft(powers)[..., : N_INPUTS + 1]
    return np.asarray(correlations / correlations[..., :1])


def far_share(stack: Stack, values: np.ndarray) -> float:
    """Share of κ at lags 33 … 64 of the linear stack that is best for the first 60 % of a series."""
    with quiet():
        problem = Problem.of(stack.arch, estimate_process(values[: round(0.6 * len(values))], N_INPUTS))
        allocation = allocate(stack.arch, fit(stack.arch, problem).params, problem)
    return float(allocation.per_input[N_INPUTS // 2 :].sum() / allocation.total)


def judged(networks: Trained, truth: np.ndarray, burn_in: int) -> dict[str, Any]:
    """What networks (series, seeds) do: test losses and far errors, (series, seeds); NaN where they diverged.

    "curve" is (series, 65), the autocorrelation of what they generate, its mean over the seeds that did not diverge.

    truth : (series, 65) autocorrelations.
    """
    lost = np.abs(networks.values).max(axis=(-1, -2)) >= LIMIT
    curves = autocorrelation(networks.values[..., burn_in:]).mean(axis=-2)
    curves[lost] = np.nan
    gap = curves - truth[:, None]
    left = np.maximum((~lost).sum(axis=1, keepdims=True), 1)
    return {
        "loss": np.where(lost, np.nan, networks.losses[..., 2]),
        "far": np.sqrt(np.mean(gap[..., FAR] ** 2, axis=-1)),
        "curve": np.nansum(curves, axis=1) / left,
    }


def short(value: float) -> float | None:
    """Three significant digits; None for NaN.

    >>> short(0.123456), short(np.nan)
    (0.123, None)
    """
    return None if np.isnan(value) else float(f"{value:.3g}")


def stored_rows(rows: Sequence[Mapping[str, Any]], at: int) -> dict[str, Any]:
    """What is written down of one series, from :func:`judged` of each stack.

    "loss" and "far": lists over seeds of lists over stacks, the latter in units of 1e-4.
    """
    loss, far = (np.array([row[name][at] for row in rows], dtype=float).T for name in ("loss", "far"))
    return {
        "loss": [[short(value) for value in of_seed] for of_seed in loss],
        "far": [[None if np.isnan(share) else round(1e4 * share) for share in of_seed] for of_seed in far.tolist()],
    }


def padded(names: Sequence[str]) -> tuple[np.ndarray, list[int]]:
    """(S, LENGTH) series with zeros at the end, and their lengths."""
    every = [series(name) for name in names]
    return np.array([np.pad(values, (0, LENGTH - len(values))) for values in every]), [len(values) for values in every]


def one_linear(stack: int = 0, series_names: Sequence[str] = ("AR(1)",)) -> dict[str, Any]:
    """:func:`far_share` of a stack, by its number, on each series: "share"."""
    return {"share": [far_share(alike()[stack], series(name)) for name in series_names]}


def one_stack(
    stack: int = 0,
    units: str = "tanh",
    series_names: Sequence[str] = ("AR(1)",),
    seeds: Sequence[int] = (0,),
    steps: int = 600,
    n_sequences: int = 16,
    burn_in: int = 400,
) -> dict[str, Any]:
    """:func:`judged` of the networks of a stack, by its number, with some units, on all series side by side."""
    truth = np.array([autocorrelation(series(name)) for name in series_names])
    shape = n_sequences, burn_in + LENGTH
    networks = train_all(alike()[stack], units, *padded(series_names), list(seeds), steps, shape)
    return {name: values.tolist() for name, values in judged(networks, truth, burn_in).items()}


def run(
    settings: Mapping[str, Any], sweep: Callable[..., Any], progress: bool = False, workers: int = 1
) -> dict[str, Any]:
    """ "stacks": what each is; "series": by name, their autocorrelation and, by stack, what linear theory says;
    "networks": by units and name of the series, :func:`stored_rows`; "curves": of two tanh stacks, those
    with the least and the most far share on a series, what they generate.

    sweep : that of the engine. A stack with one kind of units is one of its runs.
    """
    names, kinds, stacks = settings["series"], settings["units"], alike()
    numbers = range(len(stacks)) if settings["stacks"] is None else settings["stacks"]
    chosen = [stacks[number] for number in numbers]
    rest = {name: settings[name] for name in ("seeds", "steps", "n_sequences", "burn_in")} | {"series_names": names}
    here: dict[str, Any] = {"progress": progress, "workers": workers}
    linear = values_of(one_linear, [{"stack": number, "series_names": names} for number in numbers], sweep, **here)
    jobs = [{"stack": number, "units": kind, **rest} for kind in kinds for number in numbers]
    every = iter(values_of(one_stack, jobs, sweep, **here))
    networks: dict[str, Any] = {}
    curves: dict[str, Any] = {}
    for kind in kinds:
        rows = [next(every) for _ in numbers]
        networks[kind] = {name: stored_rows(rows, at) for at, name in enumerate(names)}
        for at, name in enumerate(names if kind == "tanh" else []):
            curves[name] = {
                str(number): [round(value, 3) for value in rows[number]["curve"][at]]
                for number in ends([row["share"][at] for row in linear])
            }
    return {
        "stacks": [stack_values(stack, kinds) for stack in chosen],
        "series": {
            name: {
                "length": len(series(name)),
                "autocorrelation": [round(float(value), 3) for value in autocorrelation(series(name))],
                "far share": [round(row["share"][at], 3) for row in linear],
            }
            for at, name in enumerate(names)
        },
        "networks": networks,
        "curves": curves,
    }


def ends(shares: Sequence[float]) -> list[int]:
    """The stacks with the least and the most far share, by their number."""
    return [int(np.argmin(shares)), int(np.argmax(shares))]


def stack_values(stack: Stack, kinds: Sequence[str]) -> dict[str, Any]:
    """Kernels, channels, κ, and the parameters with each kind of unit."""
    return {
        "kernels": list(stack.kernels),
        "channels": list(stack.channels),
        "capacity": stack.capacity,
        "parameters": [n_params(stack, kind) for kind in kinds],
    }
