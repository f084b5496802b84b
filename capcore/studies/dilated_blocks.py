"""Dilated blocks, tiled or with every layer repeated (paper 1, Appendix C): exact capacities and long fits.

Twenty-four layers are hard to fit. Where a run stands after so many iterations says little unless it is known how far
it is from an optimum, so every run is summarised at several stages: its loss, its relative offset, and where its
capacity lies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore.architectures.dilated import Dilated
from capcore.constraints import ConstraintSpace
from capcore.gauss_newton import minimise_gauss_newton
from capcore.generic import exact_rank
from capcore.lbfgs import minimise_lbfgs
from capcore.optimum import Problem, fit
from capcore.processes import FAMILIES, Process
from capcore.studies.profiles import share
from capcore.validation import positive_integer

SETTINGS: dict[str, Any] = {
    "paper": {
        "n_dilations": 8,
        "n_blocks": 3,
        "channels": 4,
        "seeds": {
            "PowerLaw": [0, 1, 2],
            "FractionalGaussianNoise": [0],
            "AR1": [0],
            "DampedCosine": [0],
            "RationalQuadratic": [0],
        },
        "stages": [25, 50, 100, 200, 300],
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
MODULES = (
    "capcore.studies.dilated_blocks",
    "capcore.studies.profiles",
    "capcore.architectures.dilated",
    "capcore.architectures.hierarchical",
    "capcore.architectures.stack",
    "capcore.gauss_newton",
    "capcore.lbfgs",
    "capcore.optimum",
    "capcore.constraints",
    "capcore.generic",
    "capcore.processes",
    "capcore.toeplitz",
)
COMMAND = "python -m experiments.dilated_blocks"
ORDERS = ("tiled", "repeated")


def dilation_orders(n_dilations: int, n_blocks: int) -> dict[str, list[int]]:
    """Name → dilations, layer 1 first: blocks 1, 2, 4, … tiled, each layer repeated, and tiled from the coarsest down.

    >>> dilation_orders(2, 2)
    {'tiled': [1, 2, 1, 2], 'repeated': [1, 1, 2, 2], 'reversed': [2, 1, 2, 1]}
    """
    block = [2**i for i in range(positive_integer(n_dilations, "n_dilations"))]
    times = positive_integer(n_blocks, "n_blocks")
    return {"tiled": block * times, "repeated": np.repeat(block, times).tolist(), "reversed": block[::-1] * times}


def dilated_models(channels: int, n_dilations: int, n_blocks: int) -> dict[str, Dilated]:
    """Order → model with two taps per layer and these channels; see :func:`dilation_orders`."""
    return {name: Dilated(channels, dilations=d) for name, d in dilation_orders(n_dilations, n_blocks).items()}


def exact_capacities(channels: Sequence[int], n_dilations: int, n_blocks: int) -> dict[str, list[int]]:
    """Order → exact generic κ for each number of channels, by elimination modulo a prime.

    >>> exact_capacities([1, 2], 5, 3)
    {'tiled': [16, 56], 'repeated': [16, 48], 'reversed': [16, 56]}
    """
    found: dict[str, list[int]] = {}
    for c in channels:
        for name, arch in dilated_models(c, n_dilations, n_blocks).items():
            found.setdefault(name, []).append(exact_rank(arch))
    return found


def near_third(n_inputs: int) -> slice:
    """The most recent third of the inputs: lags 0–254 of 766."""
    return slice(0, max(1, n_inputs // 3))


def far_third(n_inputs: int) -> slice:
    """The most distant third of the inputs: lags 511–765 of 766."""
    return slice(n_inputs - max(1, n_inputs // 3), n_inputs)


@dataclass
class Course:
    """A run at several stages; lists of one entry per stage, in the order of ``iterations``.

    Attributes
    ----------
    loss, offset : loss and relative offset (1 far from an optimum, 0 at one).
    total : numerical κ. near, far : shares of it on the nearest and the most distant third of the inputs.
    converged : whether the minimiser had stopped for good. params : (n_params,) the last ones.
    """

    iterations: list[int] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    offset: list[float] = field(default_factory=list)
    total: list[int] = field(default_factory=list)
    near: list[float] = field(default_factory=list)
    far: list[float] = field(default_factory=list)
    converged: bool = False
    params: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)

    def plain(self) -> dict[str, Any]:
        """Everything but the parameters, as plain types."""
        return {name: value for name, value in vars(self).items() if name != "params"}


def follow(
    arch: Dilated, process: Process | Problem, seed: int, stages: Sequence[int], method: str = "gauss-newton"
) -> Course:
    """Fit from one random start, and look at it after each number of iterations in ``stages`` (increasing).

    Gauss–Newton rebalances the layers as it goes. A run that has stopped for good keeps its last values.

    >>> from capcore.processes import PowerLaw
    >>> course = follow(Dilated(2, dilations=[1, 2, 1, 2]), PowerLaw(), 0, [5, 200])
    >>> course.total, bool(course.loss[1] < course.loss[0])
    ([7, 7], True)
    """
    problem = Problem.of(arch, process)
    course = Course(params=arch.init(np.random.default_rng(seed)))
    done = 0
    for stage in stages:
        if not course.converged:
            steps = positive_integer(stage - done, "stages: the step to the next one")
            if method == "gauss-newton":
                course.params = arch.rebalance(course.params)
                end = minimise_gauss_newton(
                    arch, problem.target, problem.root, course.params, steps, rebalance=arch.rebalance
                )
                course.converged = end.converged
            else:
                end = minimise_lbfgs(arch, problem.target, problem.covariance, course.params, steps)
            course.params = end.params
        done = stage
        _look(course, arch, problem, stage)
    return course


def _look(course: Course, arch: Dilated, problem: Problem, stage: int) -> None:
    result = fit(arch, problem, start=course.params, max_iterations=0, method="gauss-newton")
    space = ConstraintSpace.from_columns(problem.covariance @ arch.jacobian(course.params))
    profile = space.per_input()
    course.iterations.append(stage)
    course.loss.append(result.loss)
    course.offset.append(result.relative_offset)
    course.total.append(space.dimension)
    course.near.append(float(share(profile, near_third(arch.n_inputs))))
    course.far.append(float(share(profile, far_third(arch.n_inputs))))


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """Size → family → order → runs by seed (:class:`Course`), L-BFGS-B runs, and the best parameters; plain types."""
    found: dict[str, Any] = {}
    for size, chosen in settings.items():
        models = dilated_models(chosen["channels"], chosen["n_dilations"], chosen["n_blocks"])
        cases = [(family, order) for family in chosen["seeds"] for order in ORDERS]
        found[size] = {family: {} for family in chosen["seeds"]}
        for family, order in tqdm(cases, unit="case", disable=not progress):
            arch, problem = models[order], Problem.of(models[order], FAMILIES[family]())
            runs = [follow(arch, problem, seed, chosen["stages"]) for seed in chosen["seeds"][family]]
            case: dict[str, Any] = {"runs": [each.plain() for each in runs]}
            if family == "PowerLaw":
                case["params"] = min(runs, key=lambda each: each.loss[-1]).params.tolist()
                stop = follow(arch, problem, 0, chosen["lbfgs_stages"], "l-bfgs-b")
                case["l-bfgs-b"], case["stop_params"] = stop.plain(), stop.params.tolist()
            found[size][family][order] = case
    return found
