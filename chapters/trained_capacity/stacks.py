"""Does the linear stack predict where trained stacks put their capacity?  Questions 1 of ``questions``.

The same stack, linear, tanh and gated, on the same windows; every optimum found from several starts, one of them the
linear stack's optimum. ``python -m chapters run trained_stacks`` makes it again, in about twelve minutes on one core.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from chapters.kit.witness import CHAOTIC, Witness
from chapters.trained_capacity.directions import whitened
from chapters.trained_capacity.networks import Params, stack, stack_params
from chapters.trained_capacity.optimum import Optimum, Response, Task, jacobian, settle
from chapters.trained_capacity.sources import PROCESSES, volume, windows

SETTINGS: dict[str, Any] = {
    "n_inputs": 16,
    "channels": 2,
    "n_examples": 2000,
    "decay": 1e-4,
    "processes": ["power law", "fractional Gaussian noise", "rational quadratic", "damped cosine"],
    "tasks": ["linear", "warped"],
    "units": {"tanh": [0, 1, 2], "gated": [0, 1, 2]},
    "n_starts": 4,
    "n_random": 40,
}
QUICK: dict[str, Any] = {
    "n_examples": 200,
    "processes": ["power law"],
    "tasks": ["warped"],
    "units": {"tanh": [0], "gated": [0]},
    "n_starts": 1,
    "n_random": 3,
}
WITNESS = Witness(["processes tasks units"], **CHAOTIC)
PACKAGES = ("jax",)
CONVERGED = 1e-6  # norm of the gradient of the summed loss, beyond which a run is left out
DISTINCT = 1e-6  # relative difference of losses


def grown(linear: Params, units: str, rng: np.random.Generator) -> Params:
    """A start beside the linear optimum: the same weights, gates of random ones."""
    if units == "tanh":
        return linear
    last = f"layer {len(linear) // 2}"
    found = {}
    for name, value in linear.items():
        gate = 0.3 * rng.normal(size=np.shape(value))
        found[name] = value if name in (last, last.replace("layer", "bias")) else np.concatenate([value, gate], axis=-1)
    return found


def optima(task: Task, units: str, linear: Params, settings: Mapping[str, Any], seed: int) -> list[Optimum]:
    """Distinct optima, the lowest loss first, from the linear stack's optimum and from random starts."""
    rng = np.random.default_rng([seed, 5])
    depth = int(np.log2(settings["n_inputs"]))
    starts = [grown(linear, units, rng)]
    starts += [stack_params(units, settings["channels"], depth, rng) for _ in range(settings["n_starts"])]
    found: list[Optimum] = []
    for each in sorted((settle(task, start) for start in starts), key=lambda optimum: optimum.loss):
        new = not found or each.loss - found[-1].loss > DISTINCT * each.loss
        if new and each.gradient < CONVERGED and each.lowest > 0:
            found.append(each)
    return found


def profile(task: Task, params: Params) -> dict[str, Any]:
    """Total, and "linear" per whitened input."""
    response = Response(task, params)
    linear = response.capacity(whitened(task.inputs))[:, 0]
    return {"total": response.total, "linear": linear.round(4).tolist()}


def by_linear_theory(task: Task, settings: Mapping[str, Any], seed: int) -> tuple[Params, dict[str, Any]]:
    """The linear stack's optimum, of two starts, its profile, and how profiles at random weights go with it."""
    rng = np.random.default_rng([seed, 6])
    depth = int(np.log2(settings["n_inputs"]))
    draws = [stack_params("linear", settings["channels"], depth, rng) for _ in range(settings["n_random"])]
    ends = [settle(task, draw, newton=3) for draw in draws[:2]]
    best = min(ends, key=lambda optimum: optimum.loss)
    profile = leverages(task, best.params)
    chance = [float(np.corrcoef(leverages(task, draw), profile)[0, 1]) for draw in draws]
    return best.params, {"profile": profile.round(5).tolist(), "random": np.round(chance, 4).tolist()}


def leverages(task: Task, params: Params) -> np.ndarray:
    """(n,) paper 1's capacity per whitened input of a linear stack: leverages of C^(1/2) ∂A/∂W."""
    sizes, axes = np.linalg.eigh(np.cov(task.inputs.T, bias=True))
    root = (axes * np.sqrt(sizes)) @ axes.T
    of_rows = jacobian(Task(task.apply, np.vstack([root, 0 * root]), task.targets, task.decay), params)
    left, sizes, _ = np.linalg.svd(of_rows[: len(root)] - of_rows[len(root) :], full_matrices=False)
    return np.sum(left[:, sizes > 1e-7 * sizes[0]] ** 2, axis=1)


def case(x: np.ndarray, target: np.ndarray, units: list[str], settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The linear stack's optimum and every optimum of the others, on one sample."""
    decay = settings["decay"] * len(x)
    linear = Task(stack("linear"), x, target, decay)
    params, found = by_linear_theory(linear, settings, seed)
    for name in units:
        task = Task(stack(name), x, target, decay)
        found[name] = [profile(task, each.params) for each in optima(task, name, params, settings, seed)]
    return found


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """ "cases": list of :func:`case` with what they are of; "series", beside several: one of a measured series."""
    seeds = sorted({seed for each in settings["units"].values() for seed in each})
    places = [(name, task, seed) for name in settings["processes"] for task in settings["tasks"] for seed in seeds]
    cases = []
    for name, task, seed in tqdm(places, unit="sample", disable=not progress):
        units = [each for each, chosen in settings["units"].items() if seed in chosen]
        rng = np.random.default_rng([seed, 4])
        data = windows(PROCESSES[name], task, settings["n_examples"], settings["n_inputs"], rng)
        cases.append({"process": name, "task": task, "seed": seed, **case(*data, units, settings, seed)})
    found: dict[str, Any] = {"cases": cases}
    if len(cases) > 1:
        found["series"] = case(*volume(settings["n_inputs"]), ["tanh", "gated"], settings, 0)
    return found
