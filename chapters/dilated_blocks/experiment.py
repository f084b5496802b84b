"""Dilated blocks, tiled or with every layer repeated (paper 1, Appendix C): exact capacities and long fits.

Twenty-four layers are hard to fit: it takes more than a thousand Gauss–Newton steps with geodesic acceleration. Where a
run stands before that says little, so every run is summarised at several stages: its loss, how much of it could still
go, and where its capacity lies.

``python -m chapters run dilated_blocks`` makes it again, in about half an hour on two cores.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from capcore import ConstraintSpace, Hierarchical, Problem
from capcore.architectures.generic import exact_rank
from capcore.fitting.gauss_newton import decompose_jacobian, decompose_kernel, minimise_gauss_newton
from capcore.fitting.lbfgs import minimise_lbfgs
from capcore.processes import FAMILIES, Process
from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.profiles import share
from chapters.shared.swept import values_of

SETTINGS: dict[str, Any] = {
    "paper": {
        "n_dilations": 8,
        "n_blocks": 3,
        "channels": 4,
        "seeds": {family: [0] for family in FAMILIES} | {"PowerLaw": [0, 1, 2]},
        "stages": [50, 100, 200, 300, 500, 700, 1000, 1500],
        "lbfgs_stages": [100, 500, 2000],
    },
    "small": {
        "n_dilations": 5,
        "n_blocks": 3,
        "channels": 2,
        "seeds": {"PowerLaw": [0, 1]},
        "stages": [25, 50, 100, 200, 400],
        "lbfgs_stages": [100, 1000],
    },
}
QUICK: dict[str, Any] = {
    "small": {**SETTINGS["small"], "n_dilations": 2, "stages": [3, 6], "lbfgs_stages": [3]},
    "paper": {**SETTINGS["small"], "n_dilations": 2, "seeds": {"AR1": [0]}, "stages": [2, 4], "lbfgs_stages": [2]},
}
WITNESS = Witness(
    ["small.seeds"],
    fixed={"paper.seeds": {}, "small.stages": [25, 50]},  # later ones magnify the rounding of the code, too
    partial=["converged", "params", "stop_params", "l-bfgs-b", "reach"],
    **CHAOTIC,
)
ORDERS = ("tiled", "repeated")
COURSE = ("iterations", "loss", "reach", "total", "near", "far", "converged")
SETTLED = 1e-3  # of the loss: what a step may still take off it


def dilation_orders(n_dilations: int, n_blocks: int) -> dict[str, list[int]]:
    """Name → dilations, layer 1 first: blocks 1, 2, 4, … tiled, each layer repeated, and tiled from the coarsest down.

    >>> dilation_orders(2, 2)
    {'tiled': [1, 2, 1, 2], 'repeated': [1, 1, 2, 2], 'reversed': [2, 1, 2, 1]}
    """
    block = [2**i for i in range(n_dilations)]
    repeated = np.repeat(block, n_blocks).tolist()
    return {"tiled": block * n_blocks, "repeated": repeated, "reversed": block[::-1] * n_blocks}


def dilated_models(channels: int, n_dilations: int, n_blocks: int) -> dict[str, Hierarchical]:
    """Order → model with two taps per layer and these channels; see :func:`dilation_orders`."""
    return {name: Hierarchical(channels, dilations=d) for name, d in dilation_orders(n_dilations, n_blocks).items()}


def exact_capacities(channels: Sequence[int], n_dilations: int, n_blocks: int) -> dict[str, list[int]]:
    """Order → exact generic κ for each number of channels, by elimination modulo a prime.

    >>> exact_capacities([1, 2], 5, 3)
    {'tiled': [16, 56], 'repeated': [16, 48]}
    """
    models = [dilated_models(c, n_dilations, n_blocks) for c in channels]
    return {order: [exact_rank(made[order]) for made in models] for order in ORDERS}


def follow(
    arch: Hierarchical, process: Process, seed: int, stages: Sequence[int], method: str = "gauss-newton"
) -> dict[str, Any]:
    """Fit from one random start, and look at it after each number of iterations in ``stages`` (increasing).

    Gauss–Newton rebalances the layers as it goes and accelerates its steps; it has arrived where no more than a
    thousandth of the loss is within :func:`reach` at the end of a stage, or its own tests say so. A run that has
    stopped for good keeps its last values.

    Returns
    -------
    iterations, loss, reach : lists of one entry per stage; reach is the share of the loss still within :func:`reach`.
    total : numerical κ. near, far : shares of it on the nearest and the most distant third of the inputs.
    converged : whether the minimiser had stopped for good. params : the last ones.

    >>> from capcore.processes import PowerLaw
    >>> course = follow(Hierarchical(2, dilations=[1, 2, 1, 2]), PowerLaw(), 0, [5, 200])
    >>> course["total"], bool(course["loss"][1] < course["loss"][0])
    ([7, 7], True)
    """
    problem = Problem.of(arch, process)
    params, converged, third = arch.init(np.random.default_rng(seed)), False, max(1, arch.n_inputs // 3)
    rows: list[tuple[float, ...]] = []
    for done, stage in pairwise([0, *stages]):
        if not converged and method == "gauss-newton":
            params = arch.rebalance(params)
            options: dict[str, Any] = {"acceleration": True, "rebalance": arch.rebalance}
            end = minimise_gauss_newton(arch, problem.target, problem.root, params, stage - done, **options)
            params, converged = end.params, end.converged
        elif not converged:
            params = minimise_lbfgs(arch, problem.target, problem.covariance, params, stage - done).params
        space = ConstraintSpace.from_columns(problem.covariance @ arch.jacobian(params))
        left, profile = reach(arch, problem, params), space.per_input()
        near, far = (float(share(profile, part)) for part in (slice(0, third), slice(arch.n_inputs - third, None)))
        rows.append((stage, problem.loss(arch.coefficients(params)), left, space.dimension, near, far))
        converged |= left <= SETTLED
    courses = dict(zip(COURSE, map(list, zip(*rows, strict=True)), strict=False))
    return {**courses, "converged": converged, "params": params.tolist()}


def reachable_share(arch: Any, target: np.ndarray, root: np.ndarray, params: np.ndarray) -> float:
    """Share of the loss that a linearised step no longer than half the parameters would remove: 0 at an optimum.

    Unlike the relative offset of Bates & Watts it vanishes at singular optima, too.

    >>> from capcore.architectures.linear import Linear
    >>> reachable_share(Linear(np.eye(2)[:, :1]), np.array([1.0, 1.0]), np.eye(2), np.array([1.0]))
    0.0
    """
    residual = root @ (arch.coefficients(params) - target)
    local = decompose_jacobian(arch, root, params)
    projected = local.vectors.T @ residual
    return local.reachable(projected) / float(residual @ residual) if projected.any() else 0.0


def reach(arch: Hierarchical, problem: Problem, params: np.ndarray) -> float:
    """Share of the loss that is still within reach, by linearisation: near 1 far from an optimum, 0 at one.

    The larger of two. Along directions with singular values of RJ above about a millionth of the largest, all of it;
    among 24 random layers, whose product is nearly zero, that tells the plateau at the start from an optimum. Along
    all directions, what a step no longer than half the parameters takes off
    (:func:`reachable_share`); that tells directions that vanish at a singular optimum,
    and need endless steps, from those that are only slow.

    >>> from capcore.processes import PowerLaw
    >>> arch = Hierarchical(2, dilations=[1, 2, 1, 2])
    >>> 0 <= reach(arch, Problem.of(arch, PowerLaw()), np.ones(arch.n_params)) <= 1
    True
    """
    residual = problem.root @ (arch.coefficients(params) - problem.target)
    if not residual.any():
        return 0.0
    clear = decompose_kernel(arch, problem.root, params)
    share_of_clear = clear.reachable(clear.vectors.T @ residual) / float(residual @ residual)
    return max(share_of_clear, reachable_share(arch, problem.target, problem.root, params))


def one_course(
    channels: int = 2,
    n_dilations: int = 5,
    n_blocks: int = 3,
    order: str = "tiled",
    process: str = "PowerLaw",
    seed: int = 0,
    stages: Sequence[int] = (25, 50, 100, 200, 400),
    method: str = "gauss-newton",
) -> dict[str, Any]:
    """:func:`follow` for one model."""
    return follow(dilated_models(channels, n_dilations, n_blocks)[order], FAMILIES[process](), seed, stages, method)


def run(settings: dict[str, Any], sweep: Callable, progress: bool = False, workers: int = 1) -> dict[str, Any]:
    """Size → family → order → runs by seed (see ``COURSE``), L-BFGS-B runs, and the best parameters; plain types.

    Parameters
    ----------
    sweep : that of the engine. Each course is one of its runs.
    """
    jobs = [
        (
            size,
            {name: chosen[name] for name in ("channels", "n_dilations", "n_blocks")}
            | {"order": order, "process": family, "seed": seed, "method": method}
            | {"stages": chosen["stages" if method == "gauss-newton" else "lbfgs_stages"]},
        )
        for size, chosen in settings.items()
        for family, seeds in chosen["seeds"].items()
        for order in ORDERS
        for seed, method in [*((seed, "gauss-newton") for seed in seeds), (0, "l-bfgs-b")]
        if method == "gauss-newton" or family == "PowerLaw"
    ]
    courses = values_of(one_course, [setting for _, setting in jobs], sweep, progress=progress, workers=workers)
    values: dict[str, Any] = {}
    for (size, job), row in zip(jobs, courses, strict=True):
        course = {name: row[name] for name in COURSE}
        case = values.setdefault(size, {}).setdefault(job["process"], {}).setdefault(job["order"], {"runs": []})
        if job["method"] == "l-bfgs-b":
            case["l-bfgs-b"], case["stop_params"] = course, row["params"]
            continue
        if job["process"] == "PowerLaw" and all(course["loss"][-1] < run["loss"][-1] for run in case["runs"]):
            case["params"] = row["params"]
        case["runs"].append(course)
    return values
