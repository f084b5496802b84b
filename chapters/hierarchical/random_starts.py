"""Gauss–Newton from random starts: where it ends, with and without rebalanced layers, and how many iterations it needs.

A hierarchical model does not change when the channels of a hidden layer are mixed and mixed back. Along such
directions the loss is flat, and a run that drifts to badly conditioned parameters makes so little progress along the
others that it seems to have arrived. Rebalancing removes that: it changes the parameters, not the model. The
tensor-train start of :func:`capcore.fitting.optimum.fit` is the optimum itself as soon as κ = n, so only random starts
can tell whether wider models are easier to optimise (paper 1, section 5.1.2).

``python -m chapters run random_starts`` makes it again, in about five minutes on one core.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from capcore import Hierarchical, Problem
from capcore.fitting.optimum import FitResult, fit
from capcore.processes import FAMILIES, Process
from chapters.hierarchical.lbfgs_sweep import iterations_to
from chapters.kit.witness import CHAOTIC, Witness

SETTINGS: dict[str, Any] = {
    "families": list(FAMILIES),
    "channels": [1, 2, 3, 4, 5, 6, 7],
    "n_layers": 6,
    "kernel_size": 2,
    "n_starts": 10,
    "max_iterations": 1000,
    "seed": 0,
}
QUICK: dict[str, Any] = {"channels": [2], "n_layers": 3, "n_starts": 1, "max_iterations": 20}
WITNESS = Witness(["families channels"], fixed={"n_starts": 2}, **CHAOTIC)
ROUNDING = 1e-26
"""In units of the process's variance: the square of rounding, (1e-15)², times a condition below 1e4."""


class Starts(NamedTuple):
    """One model and one process from many random starts; the reference starts from the tensor-train SVD of A*.

    Attributes
    ----------
    reference : the default fit. plain : the runs without rebalancing. rebalanced : those with it, from the same starts.
    target : (n,) A*.
    """

    reference: FitResult
    plain: list[FitResult]
    rebalanced: list[FitResult]
    target: np.ndarray

    def gaps(self, fits: list[FitResult]) -> np.ndarray:
        """(n_starts,) largest difference in a coefficient from the reference, relative to the largest of A*."""
        differences = [np.abs(fitted.coefficients - self.reference.coefficients).max() for fitted in fits]
        return np.array(differences) / np.abs(self.target).max()

    def summary(self) -> dict[str, list[float]]:
        """Losses, gaps and iterations of every start, both ways, as plain lists."""
        result = {"reference": [self.reference.loss]}
        for name, fits in (("plain", self.plain), ("rebalanced", self.rebalanced)):
            result[f"{name}_loss"] = [fitted.loss for fitted in fits]
            result[f"{name}_gap"] = self.gaps(fits).tolist()
            result[f"{name}_iterations"] = [fitted.n_iterations for fitted in fits]
        return result


def from_random_starts(arch: Hierarchical, process: Process, n_starts: int, seed: int, max_iterations: int) -> Starts:
    """Fit ``arch`` from random starts with and without rebalancing, at most ``max_iterations`` each.

    Start i comes from the generator seeded by (seed, i), so that fewer starts are the first of more.

    >>> from capcore.processes import PowerLaw
    >>> starts = from_random_starts(Hierarchical(channels=2, n_layers=4), PowerLaw(), 2, 0, 1000)
    >>> bool(starts.gaps(starts.rebalanced).max() < 1e-6)
    True
    """
    problem = Problem.of(arch, process)
    starts = [np.random.default_rng([seed, i]) for i in range(n_starts)]
    params = [arch.init(rng) for rng in starts]

    def ends(**options: Any) -> list[FitResult]:
        options["max_iterations"] = max_iterations
        return [fit(arch, problem, start=start, rng=rng, **options) for start, rng in zip(params, starts, strict=True)]

    return Starts(fit(arch, problem), ends(rebalance=False), ends(rebalance=True), problem.target)


def run(settings: dict[str, Any] = SETTINGS, progress: bool = False) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Family → channels → :meth:`Starts.summary`: the long experiment, in plain types."""
    cases = [(family, c) for family in settings["families"] for c in settings["channels"]]
    values: dict[str, dict[str, dict[str, list[float]]]] = {family: {} for family in settings["families"]}
    for family, c in tqdm(cases, unit="case", disable=not progress):
        arch = Hierarchical(c, settings["n_layers"], settings["kernel_size"])
        limits = {"seed": settings["seed"], "max_iterations": settings["max_iterations"]}
        values[family][str(c)] = from_random_starts(arch, FAMILIES[family](), settings["n_starts"], **limits).summary()
    return values


def iterations_from_random_starts(
    models: Mapping[str, Hierarchical], process: Process, seeds: Sequence[int] = range(8), **options: Any
) -> dict[str, np.ndarray]:
    """Label → (n_seeds,) iterations until the loss is rounding; one more than were made where it never is.

    Parameters
    ----------
    models : label → model. process : what they predict. seeds : one random start of each model per seed.
    options : of :func:`~capcore.fitting.optimum.fit`, such as ``rebalance`` and ``max_iterations``.

    >>> from capcore.processes import PowerLaw
    >>> models = {f"c = {c}": Hierarchical(c, n_layers=4) for c in (4, 16)}
    >>> narrow, wide = iterations_from_random_starts(models, PowerLaw(), range(2)).values()
    >>> bool(narrow.min() > wide.max())
    True
    """
    losses = {}
    for label, arch in models.items():
        problem = Problem.of(arch, process)
        level = ROUNDING * float(problem.covariance[0, 0])
        runs = [fit(arch, problem, start="random", rng=seed, **options) for seed in seeds]
        losses[label] = np.array([iterations_to(run.history, level) for run in runs])
    return losses


def agreement(values: dict[str, Any], fewest_channels: int = 2) -> tuple[int, float]:
    """How many models were tried, and the largest relative gap in a coefficient between any two ways to an optimum.

    ``values`` are those of ``stored("random_starts")``: rebalanced runs against the default fit, over all families and
    widths from ``fewest_channels`` on; AR(1) is left out, since one channel attains its target.
    """
    gaps = [
        max(case["rebalanced_gap"])
        for family, cases in values.items()
        for c, case in cases.items()
        if family != "AR1" and int(c) >= fewest_channels
    ]
    return len(gaps), max(gaps)
