"""How well conditioned a fit is: the matrix that decides how fast gradient methods converge.

To first order, gradient descent on ‖R(A(W) − A*)‖² shrinks the residual R(A − A*) by the matrix M = R JJᵀ Rᵀ, Σ = RᵀR:
fast along its large eigenvalues, slowly along its small ones. Damped Gauss–Newton inverts M, so that the
condition number costs it digits and not iterations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigvalsh

from capcore.architectures.base import Architecture
from capcore.architectures.hierarchical import Hierarchical
from capcore.optimum import FitResult, Problem
from capcore.processes import Process
from chapters.hierarchical.channel_sweep import Sweep


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
