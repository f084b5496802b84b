"""Tasks of d components with a law: identical ones, a single one to predict, and components that are correlated.

In the first two the target has one direction in the space of components. The optimum is then the one-dimensional model
along that direction and zero across it, and across it only the first layer's kernel can move anything: every direction
across adds the capacity of layer 1 taken alone, with the covariance along that direction. This holds where every bond
of the one-dimensional optimum has the rank that d components can attain; with more channels than that the optimum
is singular, and capacity across the direction depends on weights that do not reach the coefficients.

Mixing x = M z within every position turns K̃ into (I⊗M)K̃. Loss and κ stay, at corresponding targets. The capacity of a
position stays if M is a rotation, and changes otherwise, as it does when single inputs are rescaled. Whitening
within positions, C₀^(−½)x, gives the sources up to a rotation, so the capacity of a position after it depends
on no choice of coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from capcore.allocation import CapacityAllocation
from capcore.architectures.hierarchical import Hierarchical
from capcore.constraints import ConstraintSpace
from capcore.multivariate import Independent, Mixed
from capcore.optimum import Problem
from capcore.processes import Process
from capcore.validation import finite_number, positive_integer
from chapters.shared.survey import Case, allocate_quietly, case


@dataclass(frozen=True, eq=False)
class Toy:
    """A task of d components beside the task of one component that it comes down to.

    Attributes
    ----------
    together : the optimum with d components. alone : that of the one component.
    across : (n_inputs,) what the d − 1 other directions add by the law above.
    """

    together: Case
    alone: Case
    across: np.ndarray

    @property
    def loss_gap(self) -> float:
        """Relative difference of the two losses; 0 where the target is attained and both are rounding."""
        if self.alone.attained:
            return 0.0
        return abs(self.together.fit.loss / self.alone.fit.loss - 1)

    @property
    def predicted(self) -> np.ndarray:
        """(n_inputs,) the law above: capacity of the one component's model, and what the other directions add."""
        return self.alone.allocation.per_input + self.across

    @property
    def per_component(self) -> np.ndarray:
        """(d,) capacity of each component over all positions; they sum to κ."""
        return per_component(self.together.allocation)


def per_component(allocation: CapacityAllocation) -> np.ndarray:
    """(d,) capacity of each component over all positions; they sum to κ."""
    return allocation.space.per_input().reshape(-1, allocation.input_dim).sum(axis=0)


def identical_components(process: Process, input_dim: int, channels: int, n_layers: int, kernel_size: int = 2) -> Toy:
    """``input_dim`` components with the same autocovariance, equal weights.

    >>> from capcore.processes import PowerLaw
    >>> bool(identical_components(PowerLaw(), 3, 1, 4).loss_gap < 1e-9)
    True
    """
    return _toy(Independent([process] * input_dim), 0, channels, n_layers, kernel_size)


def single_component(
    components: Sequence[Process], which: int, channels: int, n_layers: int, kernel_size: int = 2
) -> Toy:
    """All weight on one component, number ``which`` from 0; the others are independent of what is predicted.

    Raises ``ValueError`` for a component that does not exist.
    """
    d = len(components)
    if positive_integer(which, "which", 0) >= d:
        raise ValueError(f"which: found {which}, expected a component from 0 to {d - 1}.")
    return _toy(Independent(components, np.eye(d)[which]), which, channels, n_layers, kernel_size)


def _toy(process: Independent, which: int, channels: int, n_layers: int, kernel_size: int) -> Toy:
    """The task beside that of component ``which`` alone."""
    one = Hierarchical(channels, n_layers, kernel_size)
    arch = Hierarchical(channels, n_layers, kernel_size, input_dim=process.input_dim)
    alone = case(one, process.components[which])
    tangents = one.tangents(alone.fit.params)["layer 1"]
    across = np.zeros(one.n_inputs)
    for j, component in enumerate(process.components):
        if j != which:
            columns = component.covariance(one.n_inputs) @ tangents
            across += ConstraintSpace.from_columns(columns, equilibrated=True).per_input()
    return Toy(case(arch, process), alone, across)


def spread_over_weights(toy: Toy, arch: Hierarchical, n_draws: int = 5, seed: int = 0) -> float:
    """Largest change in the capacity of a position over weights that all give the same optimal coefficients.

    Parameters
    ----------
    toy : of :func:`identical_components`, with one component's model at its optimum. arch : the model of d components.

    The coefficients are made from those of one component, so that they are collapsed exactly and not to rounding.
    """
    problem: Problem = toy.together.problem
    direction = np.full(arch.input_dim, arch.input_dim**-0.5)
    collapsed = np.outer(toy.alone.fit.coefficients, direction).reshape(-1)
    rng = np.random.default_rng(seed)
    draws = [arch.best_start(collapsed, rng) for _ in range(positive_integer(n_draws, "n_draws"))]
    return float(np.ptp([allocate_quietly(arch, w, problem).per_input for w in draws], axis=0).max())


def equicorrelation(input_dim: int, correlation: float) -> np.ndarray:
    """(d, d) symmetric mixing matrix that gives unit-variance sources the same correlation in every pair.

    Raises ``ValueError`` unless −1/(d−1) < correlation < 1.

    >>> (equicorrelation(2, 0.8) @ equicorrelation(2, 0.8)).round(12).tolist()
    [[1.0, 0.8], [0.8, 1.0]]
    """
    d = positive_integer(input_dim, "input_dim")
    least = -1 / (d - 1) if d > 1 else -np.inf
    expected = f"a number strictly between {least:.3g} and 1, for {d} component(s)"
    if not least < finite_number(correlation, "correlation", expected) < 1:
        raise ValueError(f"correlation: found {correlation!r}, expected {expected}.")
    covariance = np.full((d, d), float(correlation))
    np.fill_diagonal(covariance, 1.0)
    return symmetric_power(covariance, 0.5)


def symmetric_power(matrix: np.ndarray, power: float) -> np.ndarray:
    """(d, d) power of a symmetric positive definite matrix."""
    values, vectors = eigh(matrix)
    return (vectors * values**power) @ vectors.T


def whitened(process: Mixed) -> Mixed:
    """The process C₀^(−½)x, whose components are uncorrelated within a position, with the same target."""
    root = symmetric_power(process.autocovariance(1)[0], 0.5)
    mixing = np.linalg.solve(root, process.mixing)
    return Mixed(process.components, mixing, root @ process.weights)


def correlated_cases(
    arch: Hierarchical, components: Sequence[Process], correlations: Sequence[float], whiten: bool = False
) -> dict[float, Case]:
    """Correlation → the optimum when the components are mixed so, with the target that the independent ones have."""
    sources = Independent(components)
    found = {}
    for correlation in correlations:
        mixing = equicorrelation(arch.input_dim, correlation)
        process = Mixed(components, mixing, np.linalg.solve(mixing.T, sources.weights))
        found[correlation] = case(arch, whitened(process) if whiten else process)
    return found
