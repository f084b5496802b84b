"""A rank correlation under every combination of analysis choices; and the shipped ResNets' mean exponents and errors.

A metric of a network stands on choices that a paper rarely names: which matrices a layer has, whether they are divided
by N, whether layers are averaged or summed. Each combination is a *universe*. The universes share their networks, so
that the share of them with one sign measures how far a finding hangs on the choices, and is no evidence of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.validation import finite_array, positive_integer
from chapters.shared.correlation import RankCorrelation, rank_correlation
from chapters.shared.families import AveragedCorrelation, family_correlations
from chapters.shared.ranks import rank_statistics
from chapters.spectra_resnets.networks import StoredNetwork
from chapters.spectra_resnets.study import percent

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Multiverse:
    """The correlation in every universe.

    ``choices`` : what was chosen. ``correlations`` : level of every choice → the correlation, or the average over
    families if there are some. ``left_out`` : level of every choice → why it has none. ``n_missing`` : level of every
    choice → networks without a value there.
    """

    choices: tuple[str, ...]
    correlations: dict[tuple[str, ...], RankCorrelation | AveragedCorrelation]
    left_out: dict[tuple[str, ...], str]
    n_missing: dict[tuple[str, ...], int]

    @property
    def rho(self) -> np.ndarray:
        """(n_universes,) correlations, in the order of ``correlations``."""
        return np.array([found.rho for found in self.correlations.values()])

    def shares(self) -> dict[str, float]:
        """Shares of universes: ``positive``, ``surely positive`` (interval above zero), ``surely negative``."""
        sign = np.array([found.sign for found in self.correlations.values()])
        return {
            "positive": float((self.rho > 0).mean()),
            "surely positive": float((sign > 0).mean()),
            "surely negative": float((sign < 0).mean()),
        }

    def by_choice(self) -> dict[str, dict[str, float]]:
        """Choice → its level → median correlation over the universes with that level."""
        medians: dict[str, dict[str, float]] = {}
        for place, choice in enumerate(self.choices):
            levels = [key[place] for key in self.correlations]
            medians[choice] = {
                level: float(np.median([rho for rho, own in zip(self.rho, levels, strict=True) if own == level]))
                for level in dict.fromkeys(levels)
            }
        return medians

    def to_frame(self) -> pandas.DataFrame:
        """One row per universe: its choices, n, rho, low, high, p_value; in descending order of rho."""
        import pandas as pd

        columns = ("n", "rho", "low", "high", "p_value")
        rows = [
            {**dict(zip(self.choices, key, strict=True)), **{column: getattr(found, column) for column in columns}}
            for key, found in self.correlations.items()
        ]
        return pd.DataFrame(rows).sort_values("rho", ascending=False, kind="stable", ignore_index=True)


def multiverse(
    metrics: Mapping[tuple[str, ...], object],
    outcome: object,
    choices: Sequence[str],
    *,
    family: Sequence[str] | None = None,
    rng: np.random.Generator | None = None,
    min_points: int = 3,
    **options: Any,
) -> Multiverse:
    """The ``Multiverse`` of metrics with one outcome.

    Parameters
    ----------
    metrics : level of every choice, in the order of ``choices`` → the networks' metric (n,). NaN where a network has no
        value: it is left out there, and counted.
    outcome : (n,) such as the test error.
    family : (n,) names; correlations are then averages within families, which need ``rng``.
    options : of ``rank_correlation``, such as ``kind``, ``given`` excepted.

    Universes with fewer than ``min_points`` networks, or whose metric does not vary, are listed as left out. Raises
    ``ValueError`` if none is left.

    >>> metrics = {("mean", "1/N"): [1, 2, 3, 4], ("sum", "1/N"): [4, 3, 2, 1]}
    >>> found = multiverse(metrics, [10, 20, 30, 40], ["layers", "scale"])
    >>> found.by_choice()["layers"], found.shares()["positive"]
    ({'mean': 1.0, 'sum': -1.0}, 0.5)
    """
    target = finite_array(outcome, "outcome", 1)
    if family is not None and rng is None:
        raise ValueError("rng: found none, expected a numpy.random.Generator, which averages within families need.")
    correlations: dict[tuple[str, ...], RankCorrelation | AveragedCorrelation] = {}
    left_out: dict[tuple[str, ...], str] = {}
    missing: dict[tuple[str, ...], int] = {}
    for key, values in metrics.items():
        if len(key) != len(choices):
            raise ValueError(f"metrics: found {key!r}, expected one level for each of {', '.join(choices)}.")
        column = np.asarray(values, dtype=float)
        if column.shape != target.shape:
            raise ValueError(
                f"metrics: found shape {column.shape} for {key!r}, expected {target.shape} as outcome has."
            )
        there = ~np.isnan(column)
        missing[key] = int((~there).sum())
        if there.sum() < positive_integer(min_points, "min_points", 2):
            left_out[key] = f"{there.sum()} network(s) with a value, expected at least {min_points}."
            continue
        try:
            if family is None:
                correlations[key] = rank_correlation(column[there], target[there], rng=rng, **options)
            else:
                names = [name for name, here in zip(family, there, strict=True) if here]
                assert rng is not None
                correlations[key] = family_correlations(column[there], target[there], names, rng, **options).within
        except ValueError as error:
            left_out[key] = str(error)
    if not correlations:
        raise ValueError(f"metrics: found no universe with a correlation ({left_out}), expected at least one.")
    return Multiverse(tuple(choices), correlations, left_out, missing)


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
