"""The published table of spectral metrics: read, checked, and cut into groups of networks that share a data set.

The metrics were computed with WeightWatcher 0.2.7 and are those of the repository CalculatedContent/ww-trends-2020,
commit efe4723; errors and numbers of parameters are from osmr/imgclsmob, commit f928f6c. The table has no licence that
would let this book hand it on: the file is read where a reader has it, and only statistics of it are stored.
"""

from __future__ import annotations

import csv
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

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
    found = _NAMED.match(name)
    return int(found[1]) if found else None


@dataclass(frozen=True)
class Networks:
    """Networks of one data set with a known error.

    ``names``, ``families`` : (n,) strings. ``columns`` : metric or baseline → (n,), NaN where there is no finite value.
    """

    names: tuple[str, ...]
    families: tuple[str, ...]
    columns: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.names)

    def where(self, kept: np.ndarray) -> Networks:
        """The networks at which ``kept`` (n,) holds."""
        rows = np.flatnonzero(kept)
        return Networks(
            tuple(self.names[i] for i in rows),
            tuple(self.families[i] for i in rows),
            {name: column[rows] for name, column in self.columns.items()},
        )

    def with_value(self, *columns: str) -> Networks:
        """Those with a finite value in all of ``columns``."""
        return self.where(np.all([np.isfinite(self.columns[name]) for name in columns], axis=0))

    def of_large_families(self, size: int) -> Networks:
        """Those whose family has at least ``size`` of them."""
        counts = {family: self.families.count(family) for family in set(self.families)}
        return self.where(np.array([counts[family] >= size for family in self.families]))


def read_table(path: str | Path, expected: str = SHA256) -> tuple[dict[str, Networks], dict[str, int]]:
    """Data set → its networks with a known error; and what was left out: ``without error`` and ``without value``.

    Raises ``ValueError`` if the file is not the one whose statistics the book holds.
    """
    content = Path(path).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise ValueError(f"table: found a file with SHA-256 {found[:16]}…, expected {expected[:16]}…; see the README.")
    rows = list(csv.DictReader(content.decode().splitlines()))
    numbers = [name for name in rows[0] if name not in TEXT]
    table = {name: np.array([_number(row[name]) for row in rows]) for name in numbers}
    left_out = {
        "without error": int(np.isnan(table[ERROR]).sum()),
        "without value": int(np.isnan([table[name] for name in numbers if name not in (ERROR, PARAMETERS)]).sum()),
    }
    table[DEPTH] = np.array([named_depth(row["modelname"]) or np.nan for row in rows])
    every = Networks(tuple(row["modelname"] for row in rows), tuple(row["family"] for row in rows), table)
    known = np.isfinite(table[ERROR])
    datasets = np.array([row["dataset"] for row in rows])
    names = dict.fromkeys(datasets[known].tolist())
    return {name: every.where(known & (datasets == name)) for name in names}, left_out


def _number(text: str) -> float:
    """``text`` as a number; NaN for an empty field and for an infinite one, which is a logarithm of zero."""
    value = float(text or "nan")
    return value if np.isfinite(value) else np.nan
