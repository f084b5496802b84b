"""Mean exponents of the shipped ResNets under every combination of the choices that a paper leaves open.

A metric of a network is α or α̂, of slices, pooled slices, unfolded kernels or exact operators, in some units, fitted to
some tail, averaged or summed, with the first and the last layer or without. Each combination gives each network a
number, and those a rank correlation with the networks' errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from capcore.spectra.metrics import fit_tails
from capcore.spectra.options import DensityOptions, SpectraOptions
from chapters.spectra_resnets.networks import StoredNetwork

CHOICES = ("metric", "matrices", "units", "tail", "over", "ends")
"""What is chosen, in the order of :func:`universes`' keys."""
TAILS: Mapping[str, SpectraOptions] = {
    "Clauset": SpectraOptions(),
    "at least 8": SpectraOptions(min_tail=8),
    "upper half": SpectraOptions(tail_share=0.5),
}
MATRICES = ("slices", "pooled", "unfolded", "operator")
ENDS = ("conv1.weight", "linear.weight", "fc.weight")
"""Names of the first and of the last layer."""
UNITS = ("1/N", "as stored", "tool")
"""Divided by the larger side; as the weights are; times WeightWatcher's factors, of slices and pooled slices only."""


@dataclass(frozen=True)
class Fits:
    """Fits of one network's spectra in the units of its weights.

    ``layer`` (n,) : number of each spectrum's layer. ``alpha`` (n,), ``log_max`` (n,) : exponent and log₁₀ λ_max.
    ``log_n`` (n,) : log₁₀ N of each. ``log_tool`` (n,) : log₁₀ of WeightWatcher's factor on λ, NaN without one.
    ``ends`` (n,) : whether of the first or the last layer.
    """

    layer: np.ndarray
    alpha: np.ndarray
    log_max: np.ndarray
    log_n: np.ndarray
    log_tool: np.ndarray
    ends: np.ndarray

    def value(self, metric: str, units: str, over: str, ends: str) -> float:
        """One number for the network.

        metric : ``α`` or ``α̂``. units : of :data:`UNITS`, for α̂. over : ``spectra`` for their mean, ``layers`` for the
        mean of the layers' means, ``sum``. ends : ``all layers`` or ``inner layers``.
        """
        used = np.ones(len(self.alpha), bool) if ends == "all layers" else ~self.ends
        shift = {"1/N": -self.log_n, "as stored": 0.0, "tool": self.log_tool}.get(units, 0.0)
        terms = (self.alpha if metric == "α" else self.alpha * (self.log_max + shift))[used]
        if over == "sum":
            return float(terms.sum())
        if over == "spectra":
            return float(terms.mean())
        layers = self.layer[used]
        return float(np.mean([terms[layers == number].mean() for number in np.unique(layers)]))


def fits(network: StoredNetwork, matrices: str, tail: str) -> Fits:
    """The ``Fits`` of a network. Operators have Clauset's tail only."""
    names = list(network.deviations)
    outer = [names.index(name) for name in ENDS if name in names]
    if matrices == "operator":
        rows = [row for row in network.operator.values() if row["status"] == "ok"]
        layers = np.array([names.index(row["name"]) for row in rows])
        alpha, log_max = (np.array([row[name] for row in rows]) for name in ("alpha", "log_spectral"))
        sides = np.array([max(row["rows"], row["columns"]) for row in rows])
        tool = np.full(len(rows), np.nan)
    else:
        densities = network.densities(options=DensityOptions(matrices, divide_by="nothing")).densities
        fitted = fit_tails([density.eigenvalues for density in densities], TAILS[tail])
        pairs = [(density, fit) for density, fit in zip(densities, fitted, strict=True) if fit.ok]
        layers = np.array([names.index(density.layer) for density, _ in pairs])
        alpha = np.array([fit.alpha for _, fit in pairs])
        log_max = np.log10([density.eigenvalues[0] for density, _ in pairs])
        sides = np.array([max(density.shape) for density, _ in pairs])
        tool = np.array([_tool_factor(network, density.layer, matrices) for density, _ in pairs])
    return Fits(layers, alpha, log_max, np.log10(sides), np.log10(tool), np.isin(layers, outer))


def universes(
    networks: Mapping[str, StoredNetwork], keys: Iterable[str]
) -> dict[tuple[str, str, str, str, str, str], np.ndarray]:
    """Choices → the networks' metric (n,). What is moot is "–"; combinations that do not differ are there once."""
    keys, values = list(keys), {}
    for matrices in MATRICES:
        for tail in TAILS if matrices != "operator" else ("Clauset",):
            fitted = [fits(networks[key], matrices, tail) for key in keys]
            for metric, units, over, ends in _combinations(matrices):
                row = [one.value(metric, units, over, ends) for one in fitted]
                values[metric, matrices, units, tail, over, ends] = np.array(row)
    return values


def _combinations(matrices: str) -> list[tuple[str, str, str, str]]:
    means = ("spectra", "layers") if matrices == "slices" else ("layers",)
    units = UNITS if matrices in ("slices", "pooled") else UNITS[:2]
    ends = ("all layers", "inner layers")
    exponents = [("α", "–", over, end) for over in means for end in ends]
    weighted = [("α̂", unit, over, end) for unit in units for over in (*means, "sum") for end in ends]
    return exponents + weighted


def _tool_factor(network: StoredNetwork, layer: str, matrices: str) -> float:
    """Factor on eigenvalues, the square of :meth:`~capcore.spectra.options.DensityOptions.factor`."""
    if matrices not in ("slices", "pooled"):
        return float("nan")
    kernel = network.tensors[layer].shape[2:]
    return 1.0 if not kernel else float(np.prod(kernel)) / 2 if matrices == "slices" else 0.5
