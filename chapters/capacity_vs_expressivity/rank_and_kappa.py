"""How the rank of the parameter Jacobian on data and paper 1's κ are related, for models where both exist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from capcore.allocation import allocate
from capcore.architectures import Hierarchical
from capcore.constraints import ConstraintSpace
from capcore.optimum import fit
from capcore.processes import PowerLaw
from capcore.validation import positive_integer


@dataclass(frozen=True)
class Comparison:
    """One linear model: κ from Σ, and from examples.

    Attributes
    ----------
    kappa : by :func:`capcore.allocation.allocate`. rank : of the parameter Jacobian on normal examples.
    per_input_gap : largest difference of κ per input between 𝒦 and the column space of XᵀD, for examples X whose sample
        covariance is Σ.
    sampled_gap : the same with examples drawn from it.
    """

    kappa: int
    rank: int
    per_input_gap: float
    sampled_gap: float


def exact_examples(covariance: np.ndarray, n_examples: int, rng: np.random.Generator) -> np.ndarray:
    """(n_examples, n) rows with XᵀX/n_examples equal to ``covariance`` (n, n), otherwise random.

    >>> x = exact_examples(np.diag([4.0, 1.0]), 5, np.random.default_rng(0))
    >>> (x.T @ x / 5).round(12).tolist()
    [[4.0, 0.0], [0.0, 1.0]]
    """
    n = len(covariance)
    if positive_integer(n_examples, "n_examples") < n:
        raise ValueError(f"n_examples: found {n_examples}, expected at least {n}, one for each input.")
    orthonormal = np.linalg.qr(rng.normal(size=(n_examples, n)))[0]
    return np.sqrt(n_examples) * orthonormal @ np.linalg.cholesky(covariance).T


def compare(channels: int, n_examples: int, rng: np.random.Generator, n_layers: int = 6) -> Comparison:
    """A hierarchical model at its optimum for a power law, seen through Σ and through examples."""
    arch, process = Hierarchical(channels=channels, n_layers=n_layers), PowerLaw()
    params = fit(arch, process).params
    allocation = allocate(arch, params, process)
    tangents = np.hstack(list(arch.tangents(params).values()))
    drawn = rng.multivariate_normal(np.zeros(len(tangents)), allocation.covariance, n_examples, method="cholesky")
    exact = exact_examples(allocation.covariance, n_examples, rng)
    gaps = [
        float(np.abs(ConstraintSpace.from_columns(x.T @ (x @ tangents)).per_input() - allocation.per_input).max())
        for x in (exact, drawn)
    ]
    return Comparison(allocation.total, ConstraintSpace.from_columns(drawn @ tangents).dimension, *gaps)


def rank_by_examples(channels: int, counts: Sequence[int], rng: np.random.Generator, n_layers: int = 6) -> list[int]:
    """Rank of the parameter Jacobian on as many normal examples as ``counts`` says: min(examples, κ)."""
    arch, process = Hierarchical(channels=channels, n_layers=n_layers), PowerLaw()
    params = fit(arch, process).params
    tangents = np.hstack(list(arch.tangents(params).values()))
    covariance = allocate(arch, params, process).covariance
    drawn = rng.multivariate_normal(np.zeros(len(tangents)), covariance, max(counts), method="cholesky")
    return [ConstraintSpace.from_columns(drawn[:count] @ tangents).dimension for count in counts]
