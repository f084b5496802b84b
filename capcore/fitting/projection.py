"""Fits of models that are linear in some parameters: those are eliminated by a projection, which is exact.

If the coefficients are A = Bw + A₂(W₂), the best w for any W₂ is a least-squares solution. What is left of the loss is
‖(I − P) R (A₂(W₂) − A*)‖², with P the projection onto the columns of RB. It is the loss of the other branch alone under
the Schur complement Σ − ΣB(BᵀΣB)⁻¹BᵀΣ in the place of Σ, so that any method for one branch fits both (variable
projection: Golub & Pereyra 1973).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lstsq, qr, svd

from capcore.architectures.columns import equilibrate, rank_tolerance
from capcore.architectures.linear import Linear
from capcore.architectures.sum import Sum
from capcore.checks.memory import fit_bytes, fit_too_large, fits
from capcore.fitting.gauss_newton import Minimum
from capcore.fitting.optimum import FitResult, _summary
from capcore.processes import Process
from capcore.processes.problem import Problem

PROJECTION = "projection"
NOTHING = 1e-12  # of the largest singular value: what a projection leaves of directions that it removes is rounding


def has_linear_part(arch: object) -> bool:
    """Whether the model, or a branch of a sum, is linear in its parameters.

    >>> from capcore.architectures import AutoRegressiveTaps, Hierarchical
    >>> has_linear_part(Sum(Hierarchical(1, 2), AutoRegressiveTaps(2))), has_linear_part(Hierarchical(1, 2))
    (True, False)
    """
    branches = (arch.one, arch.other) if isinstance(arch, Sum) else (arch,)
    return any(isinstance(branch, Linear) for branch in branches)


def least_squares(columns: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """w that minimises ‖columns · w − values‖, the shortest for columns of unit length, and a basis of their span."""
    lengths = np.linalg.norm(columns, axis=0)
    u, s, vt = svd(equilibrate(columns), full_matrices=False, check_finite=False)
    rank = int(np.count_nonzero(s > rank_tolerance(columns.shape, float(s[0]))))
    weights = vt[:rank].T @ (u[:, :rank].T @ values / s[:rank])
    return weights / np.where(lengths > 0, lengths, 1.0), u[:, :rank]


def without(problem: Problem, basis: np.ndarray, size: int) -> Problem:
    """The problem that is left for the first ``size`` coefficients, once those along ``basis`` (n, p) are free.

    >>> from capcore.architectures import AutoRegressiveTaps
    >>> from capcore.processes import PowerLaw
    >>> posed = Problem.of(AutoRegressiveTaps(4), PowerLaw())
    >>> left = without(posed, np.eye(4)[:, :2], 4)
    >>> round(left.loss(np.zeros(4)) - left.loss(np.array([1.0, 1.0, 0.0, 0.0])), 12)
    0.0
    """
    _, span = least_squares(problem.root @ basis, problem.root @ problem.target)
    root = problem.root - span @ (span.T @ problem.root)
    if size == problem.target.size:
        return Problem(problem.target, root.T @ root, root, problem.variance)
    whole = root @ problem.target
    target = lstsq(root[:, :size], whole, NOTHING, check_finite=False)[0]
    missed = float(np.sum(np.square(whole - root[:, :size] @ target)))
    (upper,) = qr(root[:, :size], mode="r", check_finite=False)
    return Problem(target, upper[:size].T @ upper[:size], upper[:size], problem.variance + missed)


def fit_by_projection(
    arch: Any, process: Process | Problem, fit: Callable[..., Any], rng: Any = None, **options: Any
) -> FitResult:
    """The optimum of a model with a linear part.

    Parameters
    ----------
    arch : Linear or Sum
        The model.
    process : Process or Problem
        What it predicts.
    fit : callable
        ``fit(branch, problem, rng=…, …)``, which fits the other branch of a sum.
    rng : numpy.random.Generator or int, optional
        Passed to it.
    **options : object
        Passed to it.

    Raises
    ------
    ValueError
        If no part of the model is linear.
    TooLargeError
        If the matrices would not fit into memory.

    Examples
    --------
    >>> from capcore.architectures import NearAndPools
    >>> from capcore.processes import PowerLaw
    >>> round(fit_by_projection(NearAndPools(2, 2), PowerLaw(), fit=None).relative_offset, 9)
    0.0
    """
    if not has_linear_part(arch):
        raise ValueError(f"method: found {PROJECTION!r} for {arch!r}, expected a model with a linear part. Use 'auto'.")
    if not fits(fit_bytes(arch)):
        raise fit_too_large(arch)
    problem = Problem.of(arch, process)
    branches = [] if isinstance(arch, Linear) else [arch.one, arch.other]
    curved = [branch for branch in branches if not isinstance(branch, Linear)]
    if not curved:
        basis = arch.jacobian(np.zeros(arch.n_params))
        params, _ = least_squares(problem.root @ basis, problem.root @ problem.target)
        converged, message = True, "projected: the model is linear in its parameters"
    else:
        first = isinstance(arch.one, Linear)
        linear, other = (arch.one, arch.other) if first else (arch.other, arch.one)
        basis = arch.extended(linear.basis)
        size = other.n_inputs * other.input_dim
        left, whole = (without(problem, each, size) for each in (basis, np.zeros((len(basis), 1))))
        found = fit(other, left, rng=rng, **options)
        if options.get("start", "auto") == "auto":  # then no worse than the other branch alone
            begin = fit(other, whole, rng=rng, **options).params
            found = min(found, fit(other, left, rng=rng, **{**options, "start": begin}), key=lambda each: each.loss)
        rest = problem.target - arch.extended(other.coefficients(found.params))
        weights, _ = least_squares(problem.root @ basis, problem.root @ rest)
        params = np.concatenate([weights, found.params] if first else [found.params, weights])
        converged, message = found.converged, f"linear branch projected; the other: {found.message}"
    history = [problem.loss(np.zeros(problem.target.size)), problem.loss(arch.coefficients(params))]
    return _summary(arch, problem, Minimum(params, history, converged, message), PROJECTION, history[-1:])
