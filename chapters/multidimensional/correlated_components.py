"""Correlated components: what mixing within positions changes, and what it does not.

Mixing x = M z within every position turns K̃ into (I⊗M)K̃. Loss and κ stay, at corresponding targets. The capacity of a
position stays if M is a rotation, and changes otherwise, as it does when single inputs are rescaled. Whitening
within positions, C₀^(−½)x, gives the sources up to a rotation, so the capacity of a position after it depends
on no choice of coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from capcore.architectures.hierarchical import Hierarchical
from capcore.multivariate import Independent, Mixed
from capcore.processes import Process
from capcore.validation import finite_number, positive_integer
from chapters.shared.survey import Case, case


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
