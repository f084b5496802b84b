"""The shipped ResNets' mean exponents and errors, and their rank correlation under every combination of choices.

The combinations share their networks, so that the share of them with one sign measures how far a finding hangs on the
choices, and is no evidence of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from capcore.spectra.options import DensityOptions, SpectraOptions
from chapters.shared.rank_statistics import spearman
from chapters.spectra_resnets.networks import StoredNetwork


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
