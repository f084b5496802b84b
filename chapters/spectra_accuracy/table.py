"""The published table of spectral metrics: read, checked, and cut into groups of networks that share a data set.

The metrics were computed with WeightWatcher 0.2.7 and are those of the repository CalculatedContent/ww-trends-2020,
commit efe4723; errors and numbers of parameters are from osmr/imgclsmob, commit f928f6c. The table has no licence that
would let this book hand it on: the file is read where a reader has it, and only statistics of it are stored.
"""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd

SHA256 = "4dc8d64ce5ac519e08e8d089b02bc2249a6e7a780f763f5acfe05e279cab0946"
TEXT = ("modelname", "dataset", "family")
ERROR, PARAMETERS, DEPTH = "top1_error", "params", "depth"
METRICS = {
    "alpha": "α",
    "alpha_weighted": "α̂",
    "logpnorm": "log α-norm",
    "logspectralnorm": "log λ_max",
    "lognorm": "log‖W‖",
    "lognormX": "log‖WᵀW‖",
    "softrank": "stable rank",
    "softranklog": "log stable rank",
    "softranklogratio": "log‖W‖ / log σ_max",
    "norm": "‖W‖",
    "spectralnorm": "λ_max",
    "sigma_mp": "σ of the bulk",
    "softrank_mp": "soft rank",
    "ratio_numofSpikes": "share of spikes",
}
BASELINES = (PARAMETERS, DEPTH)
_NAMED = re.compile(
    r"^(?:(?:shakeshake|diapre|dia|pre|se)?resnet(?:bc|d)?|resnext|(?:bn_)?vgg|densenet|drn[cd]|dla|wrn|sqnxt|ror3_)(\d+)"
)


def named_depth(name: str) -> int | None:
    """Number of layers in a name such as ``resnet18_wd2`` or ``wrn28_10``, or None for families that do not say it.

    >>> named_depth("preresnetbc14b"), named_depth("dla46xc"), named_depth("efficientnet_b0")
    (14, 46, None)
    """
    named = _NAMED.match(name)
    return int(named[1]) if named else None


def with_value(networks: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """The networks with a value in all of ``columns``."""
    return networks.dropna(subset=list(columns))


def of_large_families(networks: pd.DataFrame, size: int) -> pd.DataFrame:
    """Those whose family has at least ``size`` of them."""
    return networks[networks.groupby("family")["family"].transform("size") >= size]


def read_table(path: str | Path, expected: str = SHA256) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """Data set → its networks with a known error, one row each; and what was left out: ``without error``, ``… value``.

    An infinite value, which is a logarithm of zero, counts as none. Raises ``ValueError`` if the file is not the one
    whose statistics the book holds.
    """
    content = Path(path).read_bytes()
    own = hashlib.sha256(content).hexdigest()
    if own != expected:
        raise ValueError(f"table: found a file with SHA-256 {own[:16]}…, expected {expected[:16]}…; see the README.")
    table = pd.read_csv(io.BytesIO(content), float_precision="round_trip", keep_default_na=False, na_values=[""])
    numbers = [name for name in table if name not in TEXT]
    table[numbers] = table[numbers].astype(float).replace([np.inf, -np.inf], np.nan)
    left_out = {
        "without error": int(table[ERROR].isna().sum()),
        "without value": int(table[numbers].drop(columns=[ERROR, PARAMETERS]).isna().to_numpy().sum()),
    }
    table[DEPTH] = [float(named_depth(name) or np.nan) for name in table["modelname"]]
    known = with_value(table, ERROR)
    return {str(name): networks for name, networks in known.groupby("dataset", sort=False)}, left_out
