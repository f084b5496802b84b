"""The metric α̂ (paper 3, Eq. 3): by a plain calculation, in its several forms, beside the α-norm, and in several units.

Also the ratio of Eq. 6 in the slices of trained networks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from capcore.spectra import DensityOptions, SpectraOptions
from capcore.spectra.metrics import SpectrumMetrics
from chapters.spectra_metrics.study import log_ratio
from chapters.spectra_resnets.networks import StoredNetwork

ROUNDING = 1e-12


def plain_exponent(eigenvalues: np.ndarray) -> float:
    """α of the tail closest to its power law, one candidate x_min after another: a second route to the fit.

    eigenvalues : (M,), positive, in any order.

    >>> round(plain_exponent(np.array([1.0, 1.2, 1.5, 2.0, 4.0, 9.0])), 3)
    2.233
    """
    values = np.sort(eigenvalues)
    values = values[values > len(values) * np.finfo(float).eps * values[-1]]
    best, found = np.inf, np.nan
    for start in range(len(values) - 1):
        tail = values[start:]
        if tail[-1] <= tail[0] or (start and values[start] == values[start - 1]):
            continue
        n = len(tail)
        alpha = 1 + n / sum(float(np.log(x / tail[0])) for x in tail)
        distance = max(abs(1 - (tail[j] / tail[0]) ** (1 - alpha) - j / n) for j in range(n))
        if distance < best:
            best, found = distance, alpha
    return float(found)


def plain_alpha_hat(spectra: Sequence[np.ndarray]) -> float:
    """Σ α log₁₀ λ_max over spectra, each (M,), by ``plain_exponent``."""
    return float(sum(plain_exponent(values) * np.log10(values.max()) for values in spectra))


def size(rows: Sequence[SpectrumMetrics]) -> float:
    """Σ |α log₁₀ λ_max| over the spectra with an exponent: what a difference of sums is small against."""
    return float(sum(abs(row.alpha_hat) for row in rows if row.ok))


def forms(rows: Sequence[SpectrumMetrics]) -> dict[str, float]:
    """The sum of paper 3, Eq. 3, as it follows from each of the forms in which α̂ is met.

    ``sum`` over spectra; ``mean`` times the number of exponents; ``layers``: the mean over layers of their sums, times
    the number of layers; ``covariance``: mean α times Σ log λ_max, plus n times the covariance of α and log λ_max.
    """
    fitted = [row for row in rows if row.ok]
    alphas, logs = (np.array([getattr(row, name) for row in fitted]) for name in ("alpha", "log_spectral"))
    names = np.array([row.layer for row in fitted])
    by_layer = [float(np.sum((alphas * logs)[names == name])) for name in dict.fromkeys(names)]
    covariance = float(np.mean((alphas - alphas.mean()) * (logs - logs.mean())))
    return {
        "sum": float(alphas @ logs),
        "mean": float(np.mean(alphas * logs)) * len(fitted),
        "layers": float(np.mean(by_layer)) * len(by_layer),
        "covariance": float(alphas.mean() * logs.sum() + len(fitted) * covariance),
    }


def outside_alpha_norm(rows: Sequence[SpectrumMetrics]) -> int:
    """Spectra that break α log λ_max ≤ log Σ λ^α ≤ α log λ_max + log rank, which holds for any."""
    gaps = [(row.log_alpha_norm - row.alpha_hat, np.log10(row.rank)) for row in rows if row.ok]
    return sum(not -ROUNDING <= gap <= most + ROUNDING for gap, most in gaps)


def spectral_norm_differences(shapes: Sequence[tuple[int, int]], rng: np.random.Generator) -> tuple[float, float]:
    """Largest difference of log₁₀ λ_max of WᵀW/N from log₁₀ ‖W‖₂, and from 2 log₁₀ ‖W‖₂ − log₁₀ N.

    For Gaussian W of the shapes; λ_max from the Gram matrix, ‖W‖₂ as the largest singular value.
    """
    plain, squared = [], []
    for shape in shapes:
        weights, n = rng.normal(size=shape), max(shape)
        largest = np.log10(np.linalg.eigvalsh(weights.T @ weights / n)[-1])
        norm = np.log10(np.linalg.svd(weights, compute_uv=False)[0])
        plain.append(abs(largest - norm))
        squared.append(abs(largest - 2 * norm + np.log10(n)))
    return float(max(plain)), float(max(squared))


UNITS = {
    "1/N (paper)": DensityOptions("slices"),
    "no 1/N": DensityOptions("slices", divide_by="nothing"),
    "WeightWatcher": DensityOptions("slices", divide_by="nothing", scale="weightwatcher"),
}


def by_unit(networks: Mapping[str, StoredNetwork]) -> dict[str, dict[str, np.ndarray]]:
    """``sum`` or ``mean`` → unit → (n_networks,) α̂ over slices. WeightWatcher's unit is √(taps/2) times the weights."""
    found: dict[str, dict[str, np.ndarray]] = {"sum": {}, "mean": {}}
    for unit, density in UNITS.items():
        models = [net.report(SpectraOptions(density=density, alternatives=())).model for net in networks.values()]
        found["sum"][unit] = np.array([model.sum_alpha_hat for model in models])
        found["mean"][unit] = np.array([model.mean_alpha_hat for model in models])
    return found


def slice_ratios(networks: Mapping[str, StoredNetwork], largest: float) -> dict[str, np.ndarray]:
    """Of all spectra with α up to ``largest``: ``alpha``, ``n_tail``, and paper 3, Eq. 6, in two units, each (n,).

    ``printed``: ‖W‖²_F without and λ_max with 1/N; ``x_min``: the same, with the unit of the weights such that the
    fitted law begins at λ = 1.
    """
    columns: dict[str, list[float]] = {name: [] for name in ("alpha", "n_tail", "printed", "x_min")}
    for network in networks.values():
        report = network.report(SpectraOptions(density=UNITS["no 1/N"], alternatives=()))
        for row, density in zip(report.spectra, report.densities, strict=True):
            if not row.ok or row.alpha > largest:
                continue
            n, values = max(row.rows, row.columns), density.eigenvalues
            columns["alpha"].append(row.alpha)
            columns["n_tail"].append(row.n_tail)
            columns["printed"].append(log_ratio(values, 1.0, n))
            columns["x_min"].append(log_ratio(values, row.x_min / n, row.x_min))
    return {name: np.array(values) for name, values in columns.items()}


def near(ratios: Mapping[str, np.ndarray], unit: str, tolerance: float) -> float:
    """Share of spectra whose ratio in a unit is within ``tolerance`` of α, relatively.

    >>> near({"alpha": np.array([2.0, 2.0]), "W": np.array([2.1, 1.0])}, "W", 0.14)
    0.5
    """
    return float(np.mean(np.abs(ratios[unit] / ratios["alpha"] - 1) <= tolerance))
