"""α̂ of networks in several units of the weights, as a sum and as a mean: what is left of their order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from capcore.spectra import DensityOptions, SpectraOptions
from chapters.spectra_metrics.log_stable_rank import log_ratio
from chapters.spectra_resnets.stored_spectra import StoredNetwork

UNITS = {
    "1/N (paper)": DensityOptions(),
    "no 1/N": DensityOptions(divide_by="nothing"),
    "WeightWatcher": DensityOptions(divide_by="nothing", scale="weightwatcher"),
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
    """Of all spectra with α up to ``largest``: ``alpha``, ``n_tail``, and the ratio of Eq. 6 in four units, each (n,).

    ``printed``: ‖W‖²_F without and λ_max with 1/N; ``W``: both without; ``W/√N``: both with; ``x_min``: as printed,
    with the unit of the weights such that the fitted law begins at λ = 1.
    """
    columns: dict[str, list[float]] = {name: [] for name in ("alpha", "n_tail", "printed", "W", "W/√N", "x_min")}
    for network in networks.values():
        report = network.report(SpectraOptions(density=UNITS["no 1/N"], alternatives=()))
        for row, density in zip(report.spectra, report.densities, strict=True):
            if not row.ok or row.alpha > largest:
                continue
            n, values = max(row.rows, row.columns), density.eigenvalues
            columns["alpha"].append(row.alpha)
            columns["n_tail"].append(row.n_tail)
            columns["printed"].append(log_ratio(values, 1.0, n))
            columns["W"].append(log_ratio(values))
            columns["W/√N"].append(log_ratio(values, n, n))
            columns["x_min"].append(log_ratio(values, row.x_min / n, row.x_min))
    return {name: np.array(values) for name, values in columns.items()}


def with_alpha_up_to(ratios: Mapping[str, np.ndarray], largest: float) -> dict[str, np.ndarray]:
    """Those of the spectra of ``slice_ratios`` with α up to ``largest``.

    >>> with_alpha_up_to({"alpha": np.array([1.5, 2.5]), "W": np.array([1.2, 0.9])}, 2.0)["W"].tolist()
    [1.2]
    """
    return {name: values[ratios["alpha"] <= largest] for name, values in ratios.items()}


def near(ratios: Mapping[str, np.ndarray], unit: str, tolerance: float) -> float:
    """Share of spectra whose ratio in a unit is within ``tolerance`` of α, relatively.

    >>> near({"alpha": np.array([2.0, 2.0]), "W": np.array([2.1, 1.0])}, "W", 0.14)
    0.5
    """
    return float(np.mean(np.abs(ratios[unit] / ratios["alpha"] - 1) <= tolerance))
