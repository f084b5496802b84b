"""One process, several models: what a larger model buys (paper 1, Figure 4), and how well conditioned its fit is.

To first order, gradient descent on ‖R(A(W) − A*)‖² shrinks the residual R(A − A*) by the matrix M = R JJᵀ Rᵀ, Σ = RᵀR:
fast along its large eigenvalues, slowly along its small ones. Damped Gauss–Newton inverts M, so that the
condition number costs it digits and not iterations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from capcore.allocation import CapacityAllocation
from capcore.architectures.base import Architecture
from capcore.architectures.hierarchical import Hierarchical
from capcore.generic import exact_rank
from capcore.optimum import FitResult, Problem, fit
from capcore.processes import Process
from capcore.validation import finite_number
from chapters.shared.survey import allocate_quietly, attains

FACTOR = 10.0
"""Losses within this factor of each other count as the same."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """The same process fitted by several models, in the order given.

    Attributes
    ----------
    models, fits : label → model, and its fit. problem : what they were fitted to.
    """

    models: Mapping[str, Hierarchical]
    fits: Mapping[str, FitResult] = field(repr=False)
    problem: Problem = field(repr=False)

    @property
    def width(self) -> np.ndarray:
        """(m,) channels per hidden layer, averaged over the layers; 1 where there is no hidden layer."""
        return np.array([np.mean(arch.channels) if arch.channels else 1.0 for arch in self.models.values()])

    @property
    def n_params(self) -> np.ndarray:
        """(m,) number of parameters."""
        return np.array([arch.n_params for arch in self.models.values()])

    @property
    def capacity(self) -> np.ndarray:
        """(m,) exact generic capacity κ."""
        return np.array([arch.generic_capacity() for arch in self.models.values()])

    @property
    def loss(self) -> np.ndarray:
        """(m,) loss where each fit stopped."""
        return np.array([result.loss for result in self.fits.values()])

    @property
    def excess(self) -> np.ndarray:
        """(m,) the same, with exact zeros where the target is attained to rounding."""
        return np.where(attains(self.loss, self.problem), 0.0, self.loss)

    @property
    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Widths and losses, as ``plot_losses`` takes them."""
        return self.width, self.loss

    def allocations(self) -> dict[str, CapacityAllocation]:
        """Label → capacity allocation where the fit stopped; compare ``total`` and ``generic_total`` of each."""
        return {
            label: allocate_quietly(arch, self.fits[label].params, self.problem) for label, arch in self.models.items()
        }


def sweep(models: Mapping[str, Hierarchical], process: Process, *, seed: int = 0, **options: Any) -> Sweep:
    """Fit every model to the process, each from the same seed. ``options`` go to :func:`~capcore.optimum.fit`.

    >>> from capcore.processes import PowerLaw
    >>> models = {f"c = {c}": Hierarchical(c, n_layers=3) for c in (1, 2)}
    >>> optima = sweep(models, PowerLaw())
    >>> optima.capacity.tolist(), bool(optima.loss[0] > optima.loss[1])
    ([4, 8], True)
    """
    problem = Problem.of(next(iter(models.values())), process)
    return Sweep(models, {label: fit(arch, problem, rng=seed, **options) for label, arch in models.items()}, problem)


def first_within(losses: object, benchmark: float, factor: float = FACTOR) -> int | None:
    """Index of the first loss of at most ``factor`` times the benchmark; None if there is none.

    >>> first_within([1e-3, 1e-8, 1e-12], 2e-13)
    2
    """
    reached = np.flatnonzero(np.asarray(losses) <= factor * finite_number(benchmark, "benchmark"))
    return int(reached[0]) if reached.size else None


def transition(width: object, losses: object, benchmark: float, factor: float = FACTOR) -> int:
    """Channels of that model, rounded; twice those of the widest where no model gets there.

    >>> transition([1, 8, 64], [1e-3, 1e-8, 1e-12], 2e-13), transition([1, 8], [1e-3, 1e-8], 2e-13)
    (64, 16)
    """
    widths, first = np.asarray(width), first_within(losses, benchmark, factor)
    return round(float(2 * widths.max() if first is None else widths[first]))


def exact_capacities(models: Mapping[str, Hierarchical]) -> tuple[np.ndarray, np.ndarray]:
    """(m,) exact κ of each model by two routes: the closed form, and elimination modulo a prime.

    >>> closed, eliminated = exact_capacities({f"c = {c}": Hierarchical(c, n_layers=4) for c in (1, 2, 3)})
    >>> closed.tolist() == eliminated.tolist()
    True
    """
    closed = np.array([arch.generic_capacity() for arch in models.values()])
    return closed, np.array([exact_rank(arch) for arch in models.values()])


def residual_condition(arch: Architecture, params: np.ndarray, process: Process | Problem) -> float:
    """Largest eigenvalue of M = R JJᵀ Rᵀ divided by its κ-th, κ being the exact generic capacity.

    The other eigenvalues are zero: directions of the residual that no parameter can change. What is too small
    for double precision counts as machine epsilon, so that the number is at most 1/ε.

    >>> from capcore.architectures import Linear
    >>> from capcore.processes import FractionalGaussianNoise
    >>> round(residual_condition(Linear(np.diag([1.0, 2.0])), np.ones(2), FractionalGaussianNoise(0.5)), 9)
    4.0
    """
    problem = Problem.of(arch, process)
    values = eigvalsh(problem.root @ arch.tangent_kernel(params) @ problem.root.T)[::-1]
    smallest = max(values[arch.generic_capacity() - 1], np.finfo(float).eps * values[0])
    return float(values[0] / smallest)


def conditions_of_sweep(found: Sweep, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(m,) condition numbers of the models of a sweep: at random parameters, and where their fits stopped."""
    begins = [
        residual_condition(arch, arch.init(np.random.default_rng(seed)), found.problem)
        for arch in found.models.values()
    ]
    ends = [residual_condition(arch, found.fits[label].params, found.problem) for label, arch in found.models.items()]
    return np.array(begins), np.array(ends)


def conditions_in_balance(
    arch: Hierarchical, fits: Sequence[FitResult], process: Process | Problem, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(m,) condition numbers where fits ended: with their parameters, and for the same models in balance."""
    ends = [residual_condition(arch, found.params, process) for found in fits]
    balanced = [residual_condition(arch, arch.rebalance(found.params, rng), process) for found in fits]
    return np.array(ends), np.array(balanced)
