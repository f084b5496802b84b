"""The published table of spectral metrics: read, checked, and cut into groups of networks that share a data set.

The metrics were computed with WeightWatcher 0.2.7 and are those of the repository CalculatedContent/ww-trends-2020,
commit efe4723; errors and numbers of parameters are from osmr/imgclsmob, commit f928f6c. The table has no licence that
would let this book hand it on: the file is read where a reader has it, and only statistics of it are stored.
"""

import hashlib
import io
from pathlib import Path

import numpy as np
import pandas as pd

SHA256 = "4dc8d64ce5ac519e08e8d089b02bc2249a6e7a780f763f5acfe05e279cab0946"
TEXT = ("modelname", "dataset", "family")
ERROR, PARAMETERS = "top1_error", "params"


def of_large_families(networks: pd.DataFrame, size: int) -> pd.DataFrame:
    """Those whose family has at least ``size`` of them."""
    return networks[networks.groupby("family")["family"].transform("size") >= size]


def read_table(path: str | Path, expected: str = SHA256) -> dict[str, pd.DataFrame]:
    """Data set → its networks with a known error, one row each.

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
    known = table.dropna(subset=[ERROR])
    return {str(name): networks for name, networks in known.groupby("dataset", sort=False)}
