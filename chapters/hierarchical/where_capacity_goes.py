"""Capacity per input for many dilated stacks: the data of the explorer on this chapter and on the first page.

Depths, channels (alike in all gaps, or a list), five processes and three orders of the dilations; at the optimum, and
where L-BFGS-B, the paper's optimiser, stops. Whatever the order, the lags are told apart by their binary digits, so
that every stack is a tensor train in these digits; the optimum is sought from the TT-SVD of the target in that order.
Coarsest dilation first is the paper's model read from the other end: the same coefficients, other layers.

``python -m chapters run where_capacity_goes`` makes it again, in about five minutes on one core.
"""

from typing import Any

import numpy as np
from tqdm import tqdm

from capcore import Hierarchical, Problem
from capcore.fitting.optimum import FitResult, fit
from capcore.processes import FAMILIES
from chapters.hierarchical.study import digits
from chapters.kit.witness import CHAOTIC, Witness
from chapters.shared.layers import exact_layer_totals
from chapters.shared.survey import allocate_quietly, attains

SETTINGS: dict[str, Any] = {
    "families": list(FAMILIES),
    "depths": [3, 4, 5, 6],
    "lists": [[2, 4, 6, 4, 2], [4, 2, 2, 2, 2], [2, 4, 2, 2, 2], [2, 2, 4, 2, 2], [2, 2, 2, 4, 2], [2, 2, 2, 2, 4]],
    "orders": ["fine first", "coarse first", "alternating"],
    "max_iterations": 2000,
    "ftol": 1e-12,
    "seed": 0,
}
QUICK: dict[str, Any] = {"families": ["PowerLaw", "AR1"], "depths": [3], "lists": [[2, 1]], "max_iterations": 5}
WITNESS = Witness(["families depths orders"], **CHAOTIC)


def run(settings: dict[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """The results, in plain types.

    Returns
    -------
    ``families``, ``depths``, ``orders`` : as asked for. ``lists`` : channels that differ from gap to gap, fine first.
    ``models`` : :func:`name_of` → :func:`describe`, with ``optimum`` : for each family a :func:`summary`, and
    ``lbfgs`` : the same where L-BFGS-B stops, and after how many iterations.
    """
    named = {
        name_of(channels, order, depth): stack(channels, order, depth)
        for depth in settings["depths"]
        for order in settings["orders"]
        for channels in [*range(1, full_width(depth) + 1), *lists_for(settings["lists"], order, depth)]
    }
    stopping = {"method": "l-bfgs-b", "max_iterations": settings["max_iterations"], "ftol": settings["ftol"]}
    models: dict[str, dict[str, Any]] = {}
    for name, arch in tqdm(named.items(), desc="stacks", disable=not progress):
        optima, stops = [], []
        for family in settings["families"]:
            problem = Problem.of(arch, FAMILIES[family]())
            start = digit_start(arch, problem.target, settings["seed"])
            optima.append(summary(arch, problem, fit(arch, problem, start=start)))
            stopped = fit(arch, problem, rng=settings["seed"], **stopping)
            stops.append([*summary(arch, problem, stopped, 2), stopped.n_iterations])
        models[name] = {**describe(arch), "optimum": optima, "lbfgs": stops}
    return {key: settings[key] for key in ("families", "depths", "orders", "lists")} | {"models": models}


def name_of(channels: int | list[int], order: str, depth: int) -> str:
    """What a stack is called in the results.

    >>> name_of([2, 1], "fine first", 3)
    '3 fine first 2,1'
    """
    return f"{depth} {order} {channels if isinstance(channels, int) else ','.join(map(str, channels))}"


def dilations_in(order: str, depth: int) -> list[int]:
    """The dilations 1, 2, 4, … of the layers, layer 1 first.

    >>> dilations_in("alternating", 5)
    [1, 16, 2, 8, 4]
    """
    fine = [2**l for l in range(depth)]
    if order == "alternating":
        return [dilation for pair in zip(fine, fine[::-1], strict=True) for dilation in pair][:depth]
    return fine if order == "fine first" else fine[::-1]


def lists_for(lists: list[list[int]], order: str, depth: int) -> list[list[int]]:
    """Those that fit the depth; none but in the paper's order.

    >>> lists_for([[2, 1], [4]], "fine first", 3), lists_for([[2, 1], [4]], "alternating", 3)
    ([[2, 1]], [])
    """
    return [dilations for dilations in lists if len(dilations) == depth - 1 and order == "fine first"]


def stack(channels: int | list[int], order: str, depth: int) -> Hierarchical:
    """A stack of so many layers with two taps each."""
    return Hierarchical(channels, depth, dilations=dilations_in(order, depth))


def full_width(depth: int) -> int:
    """The least number of channels, alike in all gaps, at which κ is the number of inputs.

    >>> full_width(3), full_width(6)
    (2, 8)
    """
    return 2 ** (depth // 2)


def digit_start(arch: Hierarchical, target: np.ndarray, seed: int) -> np.ndarray:
    """(n_params,) parameters from the TT-SVD of the target, its digits taken in the order of the dilations."""
    fine = Hierarchical(arch.channels, arch.n_layers)
    lags = digits(arch.kernel_sizes) @ np.array(arch.dilations)
    return fine.best_start(target[lags], np.random.default_rng(seed))


def describe(arch: Hierarchical) -> dict[str, Any]:
    """What no process changes: dilations, parameters, generic κ, and what each layer adds to those on one side of it.

    >>> described = describe(stack(1, "fine first", 3))
    >>> described["n_params"], described["generic_total"], described["forward"], described["backward"]
    (6, 4, [2, 1, 1], [1, 1, 2])
    """
    totals = exact_layer_totals(arch)
    return {
        "dilations": arch.dilations,
        "n_params": arch.n_params,
        "generic_total": arch.generic_capacity(),
        "forward": totals["forward"].tolist(),
        "backward": totals["backward"].tolist(),
    }


def summary(arch: Hierarchical, problem: Problem, optimum: FitResult, n_digits: int = 3) -> list[Any]:
    """Where a fit ended: its κ, its loss, and the capacity per input.

    The loss has ``n_digits`` digits and is 0 where the target is attained to rounding. Capacities are in thousandths,
    lag 0 first, as a text, which takes half the room of a list; an empty one where every input has 1.
    """
    alloc = allocate_quietly(arch, optimum.params, problem)
    thousandths = np.rint(1000 * alloc.per_input).astype(int)
    loss = 0.0 if attains(optimum.loss, problem) else float(f"{optimum.loss:.{n_digits}g}")
    return [alloc.total, loss, "" if np.all(thousandths == 1000) else " ".join(map(str, thousandths))]
