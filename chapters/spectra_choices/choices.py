"""Mean exponents of the shipped ResNets under every combination of the choices that a paper leaves open.

A metric of a network is α or α̂, of slices, pooled slices, unfolded kernels or exact operators, in some units, fitted to
some tail, averaged or summed, with the first and the last layer or without. Each combination gives each network a
number, and those a rank correlation with the networks' errors.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

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


def fits(network: StoredNetwork, matrices: str, tail: str) -> pd.DataFrame:
    """A row for each spectrum with a fit, in the units of the weights. Operators have Clauset's tail only.

    ``layer``; ``alpha``, ``log_max`` : exponent and log₁₀ λ_max. ``log_n`` : log₁₀ N. ``log_tool`` : log₁₀ of
    WeightWatcher's factor on λ, NaN without one.
    """
    if matrices == "operator":
        operators = [row for row in network.operator.values() if row["status"] == "ok"]
        rows = [(row["name"], row["alpha"], row["log_spectral"], max(row["rows"], row["columns"])) for row in operators]
    else:
        densities = network.densities(DensityOptions(matrices, divide_by="nothing"))
        fitted = fit_tails([density.eigenvalues for density in densities], TAILS[tail])
        rows = [
            (density.layer, fit.alpha, np.log10(density.eigenvalues[0]), max(density.shape))
            for density, fit in zip(densities, fitted, strict=True)
            if fit.ok
        ]
    table = pd.DataFrame(rows, columns=["layer", "alpha", "log_max", "side"])
    factors = [_tool_factor(network, layer, matrices) for layer in table["layer"]]
    return table.assign(log_n=np.log10(table["side"]), log_tool=np.log10(factors))


def value(table: pd.DataFrame, metric: str, units: str, over: str, ends: str) -> float:
    """One number for a network, from its :func:`fits`.

    metric : ``α`` or ``α̂``. units : of :data:`UNITS`, for α̂. over : ``spectra`` for their mean, ``layers`` for the
    mean of the layers' means, ``sum``. ends : ``all layers`` or ``inner layers``.
    """
    used = table if ends == "all layers" else table[~table["layer"].isin(ENDS)]
    shift = {"1/N": -used["log_n"], "tool": used["log_tool"]}.get(units, 0.0)
    terms = used["alpha"] if metric == "α" else used["alpha"] * (used["log_max"] + shift)
    if over == "sum":
        return float(terms.sum())
    return float(terms.mean() if over == "spectra" else terms.groupby(used["layer"], sort=False).mean().mean())


def universes(
    networks: Mapping[str, StoredNetwork], keys: Iterable[str]
) -> dict[tuple[str, str, str, str, str, str], np.ndarray]:
    """Choices → the networks' metric (n,). What is moot is "–"; combinations that do not differ are there once."""
    keys, values = list(keys), {}
    for matrices in MATRICES:
        for tail in TAILS if matrices != "operator" else ("Clauset",):
            fitted = [fits(networks[key], matrices, tail) for key in keys]
            for metric, units, over, ends in _combinations(matrices):
                row = [value(one, metric, units, over, ends) for one in fitted]
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
    kernel = network.checkpoint.tensors[layer].shape[2:]
    return 1.0 if not kernel else float(np.prod(kernel)) / 2 if matrices == "slices" else 0.5
