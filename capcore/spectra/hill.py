"""Hill's estimator: the exponent from the k largest eigenvalues, for every k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from capcore.spectra.usable import usable
from capcore.validation import positive_integer

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class HillTable:
    """What a Hill plot shows. All (K,), one entry per number k of largest eigenvalues.

    ``k`` : how many. ``x_min`` : the next eigenvalue below, from which they are measured. ``alpha`` : 1 + k/Σ
    ln(x_i/x_min); infinite if the k eigenvalues equal x_min. ``standard_error`` : (α − 1)/√k, if they were independent.
    """

    k: np.ndarray
    x_min: np.ndarray
    alpha: np.ndarray
    standard_error: np.ndarray

    def to_frame(self) -> pandas.DataFrame:
        """The table as a pandas ``DataFrame``, indexed by k."""
        import pandas as pd

        columns = {"x_min": self.x_min, "alpha": self.alpha, "standard_error": self.standard_error}
        return pd.DataFrame(columns, index=pd.Index(self.k, name="k"))


def hill_table(eigenvalues: object, *, threshold: float | None = None) -> HillTable:
    """The :class:`~capcore.spectra.hill.HillTable` of a spectrum, for every k from 1 to one less than its positive
    eigenvalues.

    α is an exponent of the density, so that Hill's tail index is α − 1. Where a table has no flat stretch there is no
    power law to speak of. Hill's formula with k = n − 1 is the one that WeightWatcher uses below 20 eigenvalues:
    unlike 1 + n/Σ it leaves out the eigenvalue that is x_min, and so estimates 1/(α − 1) without bias.

    Parameters as in :func:`~capcore.spectra.power_law.fit_power_law`. Raises ``ValueError`` for fewer than two
    positive eigenvalues.

    >>> hill_table([1.0, np.e, np.e**5]).alpha.round(3).tolist()
    [1.25, 1.333]
    """
    logs = usable(eigenvalues, threshold).logs[::-1]
    if len(logs) < 2:
        raise ValueError(f"eigenvalues: found {len(logs)} above zero, expected at least 2.")
    k = np.arange(1, len(logs))
    falls = -np.diff(logs)
    total = np.cumsum(k * falls)  # Σ_{i ≤ k} ln(x_i / x_{k+1}), from the spacings: no difference of large sums
    with np.errstate(divide="ignore"):
        rate = k / total
    return HillTable(k, np.exp(logs[1:]), 1.0 + rate, rate / np.sqrt(k))


def hill_exponent(eigenvalues: object, k: int, *, threshold: float | None = None) -> tuple[float, float]:
    """Hill's α from the ``k`` largest eigenvalues, and its standard error.

    >>> hill_exponent([1.0, 1.0, np.e], 1)
    (2.0, 1.0)
    """
    table = hill_table(eigenvalues, threshold=threshold)
    k = positive_integer(k, "k")
    if k > len(table.k):
        raise ValueError(f"k: found {k}, expected at most {len(table.k)}, one less than the positive eigenvalues.")
    return float(table.alpha[k - 1]), float(table.standard_error[k - 1])
