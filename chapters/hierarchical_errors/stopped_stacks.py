"""Two dilated stacks stopped at one loss after another: what a run shows when it is stopped there.

The stacks have the same layers in another order, *tiled* as in WaveNet or *repeated* (paper 1, Appendix C), smaller
than the paper's so that a run takes a minute. L-BFGS-B and Gauss–Newton start from the same parameters. A run is
stopped by its number of iterations, read off a run to the end, so that it stands exactly where that one passed.

``python -m chapters run stopped_stacks`` makes it again, in about ten minutes on one core.
"""

from typing import Any

import numpy as np
from tqdm import tqdm

from capcore import Hierarchical, PowerLaw, Problem
from capcore.fitting.optimum import FitResult, fit
from chapters.kit.witness import Witness
from chapters.linear_systems.errors import complement
from chapters.shared.survey import allocate_quietly

SETTINGS: dict[str, Any] = {
    "channels": 3,
    "n_dilations": 6,
    "n_blocks": 3,
    "seed": 0,
    "levels": [10 ** (-exponent / 2) for exponent in range(2, 23)],
    "max_iterations": {"l-bfgs-b": 10_000, "gauss-newton": 1_000},
}
QUICK: dict[str, Any] = {"n_dilations": 2, "levels": [0.1], "max_iterations": {"l-bfgs-b": 20, "gauss-newton": 10}}
WITNESS = Witness(
    [""],
    fixed={"max_iterations": {"l-bfgs-b": 23, "gauss-newton": 26}, "levels": [0.1]},
    elsewhere={"": 0.01},
    reason="Twenty iterations from a random start magnify rounding.",
)


def stacks(settings: dict[str, Any] = SETTINGS) -> dict[str, Hierarchical]:
    """Order → stack with two taps per layer; dilations 1, 2, 4, … block after block, or each of them at once.

    >>> [stack.dilations for stack in stacks(SETTINGS | QUICK).values()]
    [[1, 2, 1, 2, 1, 2], [1, 1, 1, 2, 2, 2]]
    """
    block, times = [2**i for i in range(settings["n_dilations"])], settings["n_blocks"]
    orders = {"tiled": block * times, "repeated": sorted(block * times)}
    return {order: Hierarchical(settings["channels"], dilations=dilations) for order, dilations in orders.items()}


def stop(stack: Hierarchical, problem: Problem, settings: dict[str, Any], method: str, most: int) -> FitResult:
    """The run from the random start of ``settings``, stopped after at most ``most`` iterations."""
    start = stack.init(np.random.default_rng(settings["seed"]))
    return fit(stack, problem, start=start, method=method, max_iterations=most)


def look(stack: Hierarchical, problem: Problem, fitted: FitResult) -> dict[str, Any]:
    """What a run shows where it stands, of plain types.

    ``excess`` is the part of the squared error beyond what capacity allows at an optimum, x_i² ≤ (1 − κ_i)‖X‖².
    """
    space = allocate_quietly(stack, fitted.params, problem).space
    squares = np.square(fitted.coefficients - problem.target)
    limit = np.square(complement(space)).sum(axis=1) * squares.sum()
    return {
        "iterations": fitted.n_iterations,
        "loss": float(f"{fitted.loss:.3g}"),
        "converged": fitted.converged,
        "excess": round(float(np.maximum(squares - limit, 0).sum() / squares.sum()), 4),
        "total": space.dimension,
        "per_input": space.per_input().round(4).tolist(),
    }


def course(stack: Hierarchical, settings: dict[str, Any], method: str) -> list[dict[str, Any]]:
    """What the run shows where it first reaches each level that it reaches, and where it ends (:func:`look`)."""
    problem = Problem.of(stack, PowerLaw())
    end = stop(stack, problem, settings, method, settings["max_iterations"][method])
    passed = [int(np.argmax(end.history <= level)) for level in settings["levels"] if end.history[-1] <= level]
    stops = [stop(stack, problem, settings, method, most) for most in sorted(set(passed))]
    return [look(stack, problem, stop) for stop in [*stops, end]]


def run(settings: dict[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """``levels`` of the loss; ``stacks``: order → dilations, exact generic capacity, and :func:`course` by method."""
    made = stacks(settings)
    values: dict[str, Any] = {
        order: {"dilations": list(stack.dilations), "total": stack.generic_capacity(), "runs": {}}
        for order, stack in made.items()
    }
    jobs = [(order, method) for order in made for method in settings["max_iterations"]]
    for order, method in tqdm(jobs, unit="run", disable=not progress):
        values[order]["runs"][method] = course(made[order], settings, method)
    return {"levels": list(settings["levels"]), "stacks": values}
