"""The metric α̂ (paper 3, Eq. 3): in its several forms, beside the α-norm, and in several units.

Also the ratio of Eq. 6 in the slices of trained networks.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from capcore.spectra import DensityOptions, SpectraOptions
from capcore.spectra.metrics import SpectrumMetrics
from chapters.shared.resnets import StoredNetwork
from chapters.spectra_metrics.study import log_ratio

ROUNDING = 1e-12


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
    rows = []
    for shape in shapes:
        weights, n = rng.normal(size=shape), max(shape)
        largest = np.log10(np.linalg.eigvalsh(weights.T @ weights / n)[-1])
        norm = np.log10(np.linalg.svd(weights, compute_uv=False)[0])
        rows.append((abs(largest - norm), abs(largest - 2 * norm + np.log10(n))))
    plain, squared = np.max(rows, axis=0)
    return float(plain), float(squared)


UNITS = {
    "1/N (draft)": DensityOptions("slices"),
    "no 1/N": DensityOptions("slices", divide_by="nothing"),
    "WeightWatcher": DensityOptions("slices", divide_by="nothing", scale="weightwatcher"),
}


def by_unit(networks: Mapping[str, StoredNetwork]) -> dict[str, dict[str, np.ndarray]]:
    """``sum`` or ``mean`` → unit → (n_networks,) α̂ over slices. WeightWatcher's unit is √(taps/2) times the weights."""
    options = {unit: SpectraOptions(density=density, alternatives=()) for unit, density in UNITS.items()}
    models = {unit: [net.report(option).model for net in networks.values()] for unit, option in options.items()}
    return {
        kind: {unit: np.array([getattr(model, f"{kind}_alpha_hat") for model in row]) for unit, row in models.items()}
        for kind in ("sum", "mean")
    }


def slice_ratios(networks: Mapping[str, StoredNetwork], largest: float) -> dict[str, np.ndarray]:
    """Of all spectra with α up to ``largest``: ``alpha``, ``n_tail``, and paper 3, Eq. 6, in two units, each (n,).

    ``printed``: ‖W‖²_F without and λ_max with 1/N; ``x_min``: the same, with the unit of the weights such that the
    fitted law begins at λ = 1.
    """
    rows = []
    for network in networks.values():
        report = network.report(SpectraOptions(density=UNITS["no 1/N"], alternatives=()))
        for row, density in zip(report.spectra, report.densities, strict=True):
            if row.ok and row.alpha <= largest:
                n, values = max(row.rows, row.columns), density.eigenvalues
                ratios = log_ratio(values, 1.0, n), log_ratio(values, row.x_min / n, row.x_min)
                rows.append((row.alpha, row.n_tail, *ratios))
    return dict(zip(("alpha", "n_tail", "printed", "x_min"), np.array(rows, float).reshape(-1, 4).T, strict=True))


def near(ratios: Mapping[str, np.ndarray], unit: str, tolerance: float) -> float:
    """Share of spectra whose ratio in a unit is within ``tolerance`` of α, relatively.

    >>> near({"alpha": np.array([2.0, 2.0]), "W": np.array([2.1, 1.0])}, "W", 0.14)
    0.5
    """
    return float(np.mean(np.abs(ratios[unit] / ratios["alpha"] - 1) <= tolerance))
