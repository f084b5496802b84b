"""The last convolution of each shipped ResNet, which stands out: its exponents, and whether they are of power laws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from chapters.spectra_resnets.resnet_exponents import Exponents


def last_convolutions(slices: Exponents, pooled: Exponents, fitted: Mapping[str, Any]) -> pd.DataFrame:
    """By network, of its last convolution's slices: exponents, and what the stored tests say.

    ``layer`` : which it is. ``mean`` : mean exponent. ``below`` : share below all shuffles. ``slices`` : how many.
    ``cutoff`` : of them, where a power law with a cut-off is preferred. ``low``, ``high`` : least and largest p-value
    of the goodness of fit. ``pooled`` : exponent of all slices together.

    slices, pooled : of ``exponents``, of the same networks. fitted : of
    ``stored_fits``.
    """
    lines = {}
    for key, part in slices.table.groupby("network", sort=False):
        last = max(layer for layer in part["layer"] if layer.startswith("layer"))
        own = slices.of(((slices.table["network"] == key) & (slices.table["layer"] == last)).to_numpy())
        whole = pooled.table[(pooled.table["network"] == key) & (pooled.table["layer"] == last)]
        columns = fitted[str(key)]["slices"]
        at = [columns["name"].index(name) for name in own.table["name"]]
        p_values = np.array(columns["p_value"])[at]
        lines[key] = {
            "layer": last,
            "mean": own.alpha.mean(),
            "below": own.outside_null()[0],
            "slices": len(at),
            "cutoff": int(np.sum(np.array(columns["truncated power law"])[at] < 0)),
            "low": p_values.min(),
            "high": p_values.max(),
            "pooled": float(whole["alpha"].iloc[0]),
        }
    return pd.DataFrame(lines).T
