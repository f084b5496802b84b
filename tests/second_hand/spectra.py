"""Paper 3: power laws fitted to the eigenvalues of weight matrices."""

from collections.abc import Callable

import numpy as np

Array = np.ndarray


def eigenvalues(matrix: Array, divide: bool = True) -> Array:
    """Eigenvalues of Eq. 2, WᵀW/N with N the longer side, ascending."""
    values = np.linalg.svd(matrix, compute_uv=False)[::-1] ** 2
    return values / max(matrix.shape) if divide else values


def alpha(values: Array) -> float:
    """Exponent of Eq. 1 by Clauset's method: likelihood above every lower end, and the lower end of least distance.

    The distance compares the fitted law at each eigenvalue with the share of the tail below it.
    """
    best = (np.inf, np.nan)
    for start in range(len(values) - 1):
        tail = values[start:]
        exponent = 1 + len(tail) / np.log(tail / tail[0]).sum()
        distance = abs(1 - (tail / tail[0]) ** (1 - exponent) - np.arange(len(tail)) / len(tail)).max()
        best = min(best, (distance, exponent))
    return float(best[1])


def alpha_hat(matrices: list[Array]) -> float:
    """Eq. 3: sum of α log₁₀ λ_max."""
    spectra = map(eigenvalues, matrices)
    return sum(alpha(values) * np.log10(values[-1]) for values in spectra)


def gaussian_in_range(draws: int = 2_000) -> float:
    """Abstract's range: share of 16 × 16 Gaussian matrices with α in [2, 5]."""
    rng = np.random.default_rng(16)
    found = [alpha(eigenvalues(rng.standard_normal((16, 16)))) for _ in range(draws)]
    return float(np.mean([2 <= a <= 5 for a in found]))


def stable_rank_gap(entries: Callable[[np.random.Generator, float], Array], draws: int = 20) -> float:
    """Eq. 6: largest relative gap of the mean log‖W‖²_F / log λ_max from the mean α, μ = 0.5, 1, 1.5, sides of 300."""
    gaps = []
    for mu in (0.5, 1.0, 1.5):
        rng, ratios, alphas = np.random.default_rng(int(10 * mu)), [], []
        for _ in range(draws):
            values = eigenvalues(entries(rng, mu))
            ratios.append(np.log(300 * values.sum()) / np.log(values[-1]))
            alphas.append(alpha(values))
        gaps.append(abs(np.mean(ratios) / np.mean(alphas) - 1))
    return float(max(gaps))


def lomax_gap() -> float:
    """Eq. 6 for entries (1 − u)^(−1/μ) − 1."""
    return stable_rank_gap(lambda rng, mu: (1 - rng.random((300, 300))) ** (-1 / mu) - 1)


def symmetric_gap() -> float:
    """Eq. 6 for entries ±(1 − u)^(−1/μ)."""

    def entries(rng: np.random.Generator, mu: float) -> Array:
        return (1 - rng.random((300, 300))) ** (-1 / mu) * rng.choice([-1, 1], (300, 300))

    return stable_rank_gap(entries)


def pure_gap() -> float:
    """Eq. 6 for an exact power law of a million eigenvalues, M = N: largest relative gap from α = 1.25, 1.5, 1.75."""
    gaps = []
    for a in (1.25, 1.5, 1.75):
        logs = -np.log((np.arange(10**6) + 0.5) / 10**6) / (a - 1)
        frobenius = np.log(1e6) + logs[0] + np.log(np.exp(logs - logs[0]).sum())
        gaps.append(abs(frobenius / logs[0] / a - 1))
    return max(gaps)


def rescaling_gap() -> float:
    """Eq. 3 for nine slices of a kernel multiplied by 10: change of the sum against 2 Σα."""
    slices = list(np.random.default_rng(0).standard_normal((9, 24, 16)))
    change = alpha_hat([10 * part for part in slices]) - alpha_hat(slices)
    return abs(change - 2 * sum(alpha(eigenvalues(part)) for part in slices))
