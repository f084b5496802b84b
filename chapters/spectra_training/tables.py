"""Tables and numbers of the chapter on trained networks, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from capcore.spectra.models import RANGE
from chapters.shared.families import FamilyCorrelations
from chapters.spectra_training.study import Estimate, registered_checks

CHECKS = {
    "without_decay": ("without decay: upper end of ρ", "≤ 0"),
    "with_decay": ("with decay: upper end of ρ", "≤ 0"),
    "norms_fail": ("the norms' ρ less its own: lower end", "≥ 0"),
    "given_norms": ("ρ at fixed norms: upper end", "≤ 0"),
    "shuffled": ("shuffled weights' ρ less its own: lower end", "≥ 0"),
    "labels_fixed": ("ρ at a fixed share of wrong labels: upper end", "≤ 0"),
    "baseline": ("its |ρ| less that of training accuracy: lower end", "≥ 0"),
    "unregularised": ("ρ at fixed norms, without decay: upper end", "≤ 0"),
    "norm_instead": ("halves in which a norm works and it does not", "0"),
}
"""Checks recorded for claim P3.08 → in words, and what the paper would expect."""


def checks_table(table: pd.DataFrame, names: Mapping[str, str], **options: Any) -> pd.DataFrame:
    """The checks of several metrics, as text, with what each should be.

    names : metric → heading of its column.
    """
    columns = {label: registered_checks(table, metric, **options) for metric, label in names.items()}
    rows = {
        words: {"should be": test, **{label: f"{found[name]:+.2f}" for label, found in columns.items()}}
        for name, (words, test) in CHECKS.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("within families")


def family_table(columns: Mapping[tuple[str, str], FamilyCorrelations]) -> pd.DataFrame:
    """(half, metric) → correlations within families, across their means and over all networks, as text."""
    rows = {}
    for key, found in columns.items():
        parts = {"within families": found.within, "of family means": found.across, "all together": found.pooled}
        rows[key] = {
            name: f"{part.rho:+.2f} ({part.low:+.2f} to {part.high:+.2f})" if part else ""
            for name, part in parts.items()
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index = pd.MultiIndex.from_tuples(rows, names=["networks", "metric"])
    return table


def signed(estimate: Estimate) -> str:
    """The number with its sign, two decimals.

    >>> signed(Estimate(-0.256, np.zeros(1)))
    '−0.26'
    """
    return f"{estimate.value:+.2f}".replace("-", "−")


def ends(estimates: Mapping[str, Estimate]) -> str:
    """Upper ends of the intervals, one per half; one number if they look the same.

    >>> ends({"without": Estimate(-0.3, np.zeros(1)), "with": Estimate(-0.2, np.zeros(1))})
    '0.00'
    """
    found = list(dict.fromkeys(f"{each.high:.2f}".replace("-", "−") for each in estimates.values()))
    return " and ".join(found)


def prose(
    estimates: Mapping[str, Mapping[str, Estimate]], controls: Mapping[str, Mapping[str, Estimate]]
) -> dict[str, str]:
    """Key → number of the chapter's text: correlations by half, and of α at fixed norms and labels.

    Parameters
    ----------
    estimates : half → metric → correlation. controls : what is held fixed → half → correlation of α.
    """
    names = {
        "alpha_hat": "hat",
        "log_frobenius": "norm",
        "alpha_hat_undivided": "undivided",
        "shuffled_alpha_hat": "shuffled",
        "train": "train",
    }
    plain = {
        f"training_{key}_{half}": signed(found[metric])
        for half, found in estimates.items()
        for metric, key in names.items()
    }
    fixed = {"partial": "norms fixed", "labels": "labels fixed", "rate": "labels and rate fixed"}
    return plain | {
        f"training_alpha_{key}_{half}": signed(found)
        for key, label in fixed.items()
        for half, found in controls[label].items()
    }


def share_in_range(exponents: np.ndarray) -> str:
    """Share of exponents in the paper's range, in per cent.

    >>> share_in_range(np.array([1.5, 2.5, 3.0, 6.0]))
    '50 %'
    """
    return f"{100 * np.mean((exponents >= RANGE[0]) & (exponents <= RANGE[1])):.0f} %"
