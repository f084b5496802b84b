"""Mean exponents of the shipped ResNets beside their errors: tables, controls, and what agreement is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.validation import finite_array
from chapters.shared.permutations import rank_statistics
from chapters.spectra_resnets.resnet_exponents import percent
from chapters.spectra_resnets.stored_network import StoredNetwork


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
            "zero layers": sum(part.reason == "All weights are zero." for part in network.densities().skipped),
        }
    return pd.DataFrame(rows).T.rename_axis("network")


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`summary` for reading: units, thousands, two digits."""
    digits = {name: table[name].map("{:.2f}".format) for name in ("α, slices", "α, pooled", "α̂")}
    shown = table.assign(error=table["error"].map(percent), weights=table["weights"].map("{:,}".format))
    return shown.assign(**digits).drop(columns="zero layers")


def shuffled_orders(networks: Mapping[str, StoredNetwork], keys: Iterable[str], arrangement: str) -> np.ndarray:
    """(n_null,) Spearman's ρ of the errors with the mean α of every shuffle of the networks' weights.

    Raises ``ValueError`` for a network without a published error.
    """
    keys = list(keys)
    means = np.array([np.nanmean([*networks[key].null_alphas(arrangement).values()], axis=0) for key in keys])
    errors = finite_array([networks[key].error for key in keys], "errors", 1)
    return rank_statistics(means.T, np.tile(errors, (means.shape[1], 1)), "spearman")


def sign_agreement(metrics: Mapping[tuple[str, ...], np.ndarray], outcome: np.ndarray) -> tuple[float, float]:
    """Share of combinations of choices with a positive ρ, and how often networks in random order agree as much.

    The second is the share of all orders of the outcome for which as many combinations or more have one sign, whichever
    that is: combinations share their networks, so that they agree easily.

    metrics : choices → (n,). outcome : (n,), n of at most 8.

    >>> first, second = np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 3.0])
    >>> sign_agreement({("first",): first, ("second",): second}, first)
    (1.0, 0.6666666666666666)
    """
    if len(outcome) > 8:
        raise ValueError(f"outcome: found {len(outcome)} networks, expected at most 8: all of their orders are tried.")
    outcome = finite_array(outcome, "outcome", 1)
    ranks = np.array([rankdata(values) - (len(outcome) + 1) / 2 for values in metrics.values()])
    target = rankdata(outcome) - (len(outcome) + 1) / 2
    orders = np.array(list(permutations(range(len(target)))))
    products = np.round(ranks @ target[orders].T, 9)  # (n_combinations, n_orders): the signs of ρ
    positive, negative = (products > 0).mean(axis=0), (products < 0).mean(axis=0)
    agreed = np.maximum(positive, negative)
    return float(positive[0]), float(np.mean(agreed >= agreed[0] - 1e-12))
