"""The shipped ResNets' mean exponents and errors, and their rank correlation under every combination of choices.

The combinations share their networks, so that the share of them with one sign measures how far a finding hangs on the
choices, and is no evidence of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from capcore.spectra.metrics import fit_tails
from capcore.spectra.options import DensityOptions, SpectraOptions
from chapters.shared.rank_statistics import spearman
from chapters.shared.resnets import StoredNetwork

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


def summary(networks: Mapping[str, StoredNetwork], keys: Iterable[str]) -> pd.DataFrame:
    """A row for each network, as numbers.

    ``family``, ``error`` in percent, NaN where none is published, ``layers``, ``weights``, and means over spectra of α,
    by slices and pooled, and of α̂ (slices, 1/N).
    """
    rows = {}
    for key in keys:
        network = networks[key]
        models = {
            name: network.report(SpectraOptions(DensityOptions(name), alternatives=())).model
            for name in ("slices", "pooled")
        }
        rows[key] = {
            "family": network.source.family,
            "error": network.error,
            "layers": len(network.deviations),
            "weights": models["slices"].n_weights,
            "α, slices": models["slices"].mean_alpha,
            "α, pooled": models["pooled"].mean_alpha,
            "α̂": models["slices"].mean_alpha_hat,
        }
    return pd.DataFrame(rows).T.rename_axis("network")


def correlations(metrics: Mapping[tuple[str, ...], np.ndarray], outcome: np.ndarray) -> dict[tuple[str, ...], float]:
    """Choices → Spearman's ρ of the networks' metric (n,) with one outcome (n,), such as the test error."""
    return {key: round(spearman(values, outcome), 9) for key, values in metrics.items()}


def by_choice(correlations: Mapping[tuple[str, ...], float], choices: Sequence[str]) -> dict[tuple[str, str], float]:
    """(choice, level) → median correlation over the combinations with that level; "–" is no level.

    >>> by_choice({("mean", "–"): 1.0, ("sum", "–"): -1.0, ("sum", "1/N"): 0.0}, ["layers", "units"])
    {('layers', 'mean'): 1.0, ('layers', 'sum'): -0.5, ('units', '1/N'): 0.0}
    """
    levels = [(place, key[place]) for place in range(len(choices)) for key in correlations if key[place] != "–"]
    return {
        (choices[place], level): float(np.median([rho for key, rho in correlations.items() if key[place] == level]))
        for place, level in dict.fromkeys(levels)
    }


def sign_agreement(metrics: Mapping[tuple[str, ...], np.ndarray], outcome: np.ndarray) -> tuple[float, float]:
    """Share of combinations of choices with a positive ρ, and how often networks in random order agree as much.

    The second is the share of all orders of the outcome for which as many combinations or more have one sign, whichever
    that is: combinations share their networks, so that they agree easily.

    metrics : choices → (n,). outcome : (n,), n of at most 8.

    >>> first, second = np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 3.0])
    >>> sign_agreement({("first",): first, ("second",): second}, first)
    (1.0, 0.6666666666666666)
    """
    ranks = np.array([rankdata(values) - (len(outcome) + 1) / 2 for values in metrics.values()])
    target = rankdata(outcome) - (len(outcome) + 1) / 2
    orders = np.array(list(permutations(range(len(target)))))
    products = np.round(ranks @ target[orders].T, 9)  # (n_combinations, n_orders): the signs of ρ
    positive, negative = (products > 0).mean(axis=0), (products < 0).mean(axis=0)
    agreed = np.maximum(positive, negative)
    return float(positive[0]), float(np.mean(agreed >= agreed[0] - 1e-12))
