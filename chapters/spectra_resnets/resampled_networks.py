"""How far a share of exponents hangs on which networks are at hand: whole networks drawn anew."""

from __future__ import annotations

import numpy as np
import pandas as pd

from capcore.spectra.models import RANGE
from capcore.validation import positive_integer
from chapters.spectra_resnets.resnet_exponents import Exponents


def range_intervals(found: Exponents, rng: np.random.Generator, n_resamples: int = 4_000) -> pd.DataFrame:
    """Share of exponents in [2, 5] with a 95 % interval, columns ``share``, ``low``, ``high``.

    Rows ``trained``, ``shuffled``, and ``difference`` of the two. In each resample as many networks are drawn with
    replacement, each with all of its spectra: spectra of one network are no independent samples of trained networks.
    The networks of one family are not either, so that the intervals are too short if anything.

    found : of at least two networks. rng : of the resamples.
    """
    counts = network_counts(found)
    if len(counts) < 2:
        raise ValueError(f"found: {len(counts)} network, expected at least 2. Give more: one has nothing to resample.")
    drawn = rng.integers(len(counts), size=(positive_integer(n_resamples, "n_resamples"), len(counts)))
    sums = np.concatenate([counts.sum(axis=0)[None], counts[drawn].sum(axis=1)])  # the networks themselves come first
    trained, shuffled = sums[:, 0] / sums[:, 1], sums[:, 2] / sums[:, 3]
    rows = {"trained": trained, "shuffled": shuffled, "difference": trained - shuffled}
    lines = {name: [values[0], *np.percentile(values[1:], [2.5, 97.5])] for name, values in rows.items()}
    return pd.DataFrame(lines, index=["share", "low", "high"]).T


def network_counts(found: Exponents) -> np.ndarray:
    """(n_networks, 4) By network: exponents in [2, 5] and exponents, of its weights; and both of them shuffled."""
    lines = []
    for key in found.table["network"].unique():
        own = found.of((found.table["network"] == key).to_numpy())
        lines.append([number for values in (own.alpha, own.shuffled) for number in _counted(values)])
    return np.array(lines)


def _counted(alphas: np.ndarray) -> tuple[int, int]:
    there = alphas[np.isfinite(alphas)]
    return int(np.sum((there >= RANGE[0]) & (there <= RANGE[1]))), len(there)
