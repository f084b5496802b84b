"""Equation 6 of paper 3: log‖W‖²_F / log λ_max against α, where α is known.

In ‖W‖²_F = Σ λ(WᵀW) and λ_max(WᵀW/N) the paper has two units, "up to the 1/N scaling". Both are kept apart here: a
divisor for the numerator and one for the denominator.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from capcore.spectra import fit_power_law
from capcore.validation import finite_number, one_of, positive_integer

ENTRIES = ("positive", "both signs")


def heavy_tailed(mu: float, n: int, entries: str, rng: np.random.Generator) -> np.ndarray:
    """(n, n) independent entries whose size exceeds x with a probability of order x^(−μ).

    entries : ``positive``, (1 − u)^(−1/μ) − 1 with uniform u, as in the authors' experiment; ``both signs``,
    (1 − u)^(−1/μ) with a random sign.

    >>> heavy_tailed(1.0, 2, "both signs", np.random.default_rng(0)).round(1).tolist()
    [[-2.8, 1.4], [1.0, 1.0]]
    """
    exponent = -1 / finite_number(mu, "mu", "a positive tail index")
    size = (1 - rng.random((positive_integer(n, "n"), n))) ** exponent
    if one_of(entries, "entries", ENTRIES) == "positive":
        return size - 1
    return size * rng.choice([-1.0, 1.0], (n, n))


def log_ratio(eigenvalues: np.ndarray, above: float = 1.0, below: float = 1.0) -> float:
    """log(Σλ/above) / log(λ_max/below) of eigenvalues (M,) of WᵀW: Eq. 6 as printed has above = 1 and below = N.

    >>> round(log_ratio(np.array([100.0, 900.0]), below=9.0), 3)
    1.5
    """
    return float(np.log(eigenvalues.sum() / above) / np.log(eigenvalues.max() / below))


def simulated(
    mus: Sequence[float], n: int, n_draws: int, entries: str, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """(n_mus, n_draws) of ``alpha`` as fitted, ``limit`` 1 + μ/2, and the ratio in three units.

    ``printed``: ‖W‖²_F without and λ_max with 1/N. ``W``: both without. ``W/√N``: both with. ``half`` and ``double``:
    as printed, of W multiplied by ½ and 2.
    """
    units = {"printed": (1.0, n), "W": (1.0, 1.0), "W/√N": (n, n), "half": (4.0, 4.0 * n), "double": (0.25, 0.25 * n)}
    shape = (len(mus), positive_integer(n_draws, "n_draws"))
    found = {name: np.empty(shape) for name in ("alpha", "limit", *units)}
    for i, mu in enumerate(mus):
        found["limit"][i] = 1 + mu / 2
        for j in range(n_draws):
            values = np.linalg.svd(heavy_tailed(mu, n, entries, rng), compute_uv=False) ** 2
            found["alpha"][i, j] = fit_power_law(values).alpha
            for name, (above, below) in units.items():
                found[name][i, j] = log_ratio(values, above, below)
    return found


def deviation(found: dict[str, np.ndarray], unit: str = "printed") -> float:
    """Largest over μ of |mean ratio / mean fitted α − 1|."""
    return float(np.max(np.abs(found[unit].mean(axis=1) / found["alpha"].mean(axis=1) - 1)))


def entries_limit(mu: float) -> float:
    """What the printed ratio tends to for large square matrices with independent entries of tail index μ < 2.

    The largest of N² entries is of order N^(2/μ) and alone makes ‖W‖²_F and λ_max(WᵀW), of order N^(4/μ) both: the
    ratio is (4/μ)/(4/μ − 1) = 4/(4 − μ), where α is 1 + μ/2.

    >>> entries_limit(2.0)
    2.0
    """
    return 4 / (4 - finite_number(mu, "mu"))


def pure_ratio(alpha: float, n: int) -> float:
    """The printed ratio for n eigenvalues of X = WᵀW/N, N = n, at the quantiles of λ^(−α) from λ = 1 on.

    λ_max is of order n^(1/(α−1)). So is Σλ for α < 2, and n above that: log(N Σλ)/log λ_max tends to α for α ≤ 2
    and to 2(α − 1) beyond.

    >>> [round(pure_ratio(alpha, 10**6), 2) for alpha in (1.5, 3.0)]
    [1.48, 3.9]
    """
    if finite_number(alpha, "alpha") <= 1:
        raise ValueError(f"alpha: found {alpha!r}, expected more than 1: below, there is no such density.")
    logs = -np.log((np.arange(positive_integer(n, "n")) + 0.5) / n) / (alpha - 1)
    total = logs[0] + np.log(np.exp(logs - logs[0]).sum())
    return float((np.log(n) + total) / logs[0])
