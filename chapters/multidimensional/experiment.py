"""Capacity per position with d components per position: the long experiment behind Figures 12 and 13 of paper 1.

The components are independent members of one family whose parameter is spread evenly over a range, both ends
included; a single component has the middle of the range. The paper says "similar autocorrelations" and names none.
The ranges were fixed before any capacity was computed.

``python -m chapters run multidimensional`` makes it again, in about ten minutes on one core.
"""

from typing import Any

import numpy as np
from tqdm import tqdm

from capcore import ConstraintSpace, Hierarchical, Independent, Problem, join
from capcore.fitting.optimum import fit
from capcore.processes import FAMILIES, Process
from chapters.kit.witness import CHAOTIC, Witness

RANGES: dict[str, tuple[str, float, float]] = {
    "PowerLaw": ("exponent", 0.3, 0.9),
    "FractionalGaussianNoise": ("hurst", 0.6, 0.9),
    "AR1": ("phi", 0.5, 0.9),
    "DampedCosine": ("period", 5.0, 11.0),
    "RationalQuadratic": ("scale", 0.5, 1.5),
}
"""Family → the parameter that differs between components, and its range; other parameters at their defaults."""

# Channels of each model, by d. At d = 1 with those whose parameter counts are nearest to the models at d = 16, and at
# d = 16 with 3 and 7, whose exact κ/d is nearest to those of 1 and 2 channels at d = 1.
PAPER = {"1": [1, 2, 3, 4, 5, 8, 10, 16, 18], "2": [1, 2, 4, 8], "4": [1, 2, 4, 8, 16], "16": [1, 2, 3, 4, 7, 8, 16]}
OTHERS = {"1": [2, 3, 5, 10], "4": [4], "16": [1, 2, 4, 8]}
SETTINGS: dict[str, Any] = {
    "channels": {family: PAPER if family == "PowerLaw" else OTHERS for family in RANGES},
    "ranges": {family: list(range_) for family, range_ in RANGES.items()},
    "random_starts": {"4": [4, 8], "16": [4, 8]},
    "n_layers": 6,
    "kernel_size": 2,
    "max_iterations": 1000,
    "seed": 0,
}
QUICK: dict[str, Any] = {"channels": {"AR1": {"1": [2], "4": [2]}}, "random_starts": {"4": [2]}, "n_layers": 3}
WITNESS = Witness(
    ["channels"],
    fixed={
        "channels": {
            family: {d: [c for c in sizes if int(d) * c < 64] for d, sizes in channels.items()}
            for family, channels in SETTINGS["channels"].items()
        },
        "random_starts": {},
    },
    **CHAOTIC,
)


def spread_components(
    family: str, input_dim: int, low: float | None = None, high: float | None = None
) -> list[Process]:
    """``input_dim`` members of a family, their parameter spread evenly over [low, high], by default its range here.

    Raises ``ValueError`` for parameters that the family refuses.

    >>> [p.exponent for p in spread_components("PowerLaw", 3, 0.25, 0.75)]
    [0.25, 0.5, 0.75]
    """
    name, least, most = RANGES[family]
    low, high = least if low is None else low, most if high is None else high
    if low > high:
        raise ValueError(f"low: found {low:g}, expected at most high = {high:g}.")
    values = np.linspace(low, high, input_dim) if input_dim > 1 else [(low + high) / 2]
    return [FAMILIES[family](**{name: float(value)}) for value in values]


def profile(arch: Hierarchical, params: np.ndarray, problem: Problem) -> tuple[np.ndarray, int]:
    """(n_inputs,) capacity of each position at the given parameters, and the numerical total.

    The same as ``allocate(…).per_input``, without the views of single layers.
    """
    columns = arch.tangents(params).values()
    space = join([ConstraintSpace.from_columns(problem.covariance @ part, equilibrated=True) for part in columns])
    return space.per_input(arch.input_dim), space.dimension


def summarise(arch: Hierarchical, process: Process, max_iterations: int = 1000, seed: int = 0) -> dict[str, Any]:
    """One model at its optimum and at random parameters, in plain types.

    Returns
    -------
    ``per_input`` (n_inputs,), ``total``, ``loss``, ``variance`` (v*), ``relative_offset``,
    ``converged`` at the optimum; ``random_per_input`` at random parameters; ``generic_total``.
    """
    problem = Problem.of(arch, process)
    fitted = fit(arch, problem, rng=seed, max_iterations=max_iterations)
    trained, total = profile(arch, fitted.params, problem)
    untrained, _ = profile(arch, arch.init(np.random.default_rng(seed)), problem)
    return {
        "per_input": trained.tolist(),
        "total": total,
        "generic_total": arch.generic_capacity(),
        "loss": fitted.loss,
        "variance": problem.variance,
        "relative_offset": fitted.relative_offset,
        "converged": fitted.converged,
        "random_per_input": untrained.tolist(),
    }


def rerun(arch: Hierarchical, process: Process, stored: dict[str, Any], seed: int) -> dict[str, float]:
    """The optimum from random parameters against ``stored``, a result of :func:`summarise`.

    Returns
    -------
    ``gap`` : largest difference in the capacity of a position. ``loss_ratio`` : of the losses.
    """
    problem = Problem.of(arch, process)
    fitted = fit(arch, problem, rng=seed, start="random")
    gap = np.abs(profile(arch, fitted.params, problem)[0] - stored["per_input"]).max()
    return {"gap": float(gap), "loss_ratio": fitted.loss / stored["loss"]}


def run(settings: dict[str, Any] = SETTINGS, progress: bool = False) -> dict[str, dict[str, Any]]:
    """The long experiment, in plain types.

    Returns
    -------
    ``optima`` : family → d → channels → :func:`summarise`. ``random_starts`` : d → channels → :func:`rerun`, for
    the first family.
    """

    def model(family: str, d: str, c: int) -> tuple[Hierarchical, Process]:
        arch = Hierarchical(c, settings["n_layers"], settings["kernel_size"], input_dim=int(d))
        return arch, Independent(spread_components(family, int(d), *settings["ranges"][family][1:]))

    cases = [(family, d, c) for family, dims in settings["channels"].items() for d in dims for c in dims[d]]
    optima: dict[str, Any] = {}
    for family, d, c in tqdm(cases, unit="case", disable=not progress):
        result = summarise(*model(family, d, c), settings["max_iterations"], settings["seed"])
        optima.setdefault(family, {}).setdefault(d, {})[str(c)] = result
    first = next(iter(optima))
    again: dict[str, Any] = {d: {} for d in settings["random_starts"]}
    for d, c in [(d, c) for d, channels in settings["random_starts"].items() for c in channels]:
        again[d][str(c)] = rerun(*model(first, d, c), optima[first][d][str(c)], settings["seed"] + 1)
    return {"optima": optima, "random_starts": again}
