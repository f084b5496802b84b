"""What the authors of paper 3 averaged in 2019, from eigenvalues: the fits and layers of their tool's early release.

Their public notebook (CalculatedContent/ww-trends-2020, commit b0945e6, ``distiller/WeightWatcher-Intel-Distiller-
ResNet20.ipynb``, WeightWatcher 0.1.2) prints averages for six ResNet-20 variants. They come out again with two choices
that it does not mention: only slices of at least 50 × 50, so that 5 of 22 layers remain, and fits with the largest
eigenvalue as x_max, as the package ``powerlaw`` understands it: the distance is taken from a law that ends there, the
exponent from one that does not.
"""

from __future__ import annotations

import numpy as np

from capcore.spectra import DensityOptions
from capcore.spectra.usable import usable
from chapters.spectra_resnets.stored_spectra import StoredNetwork

MINIMUM = 50
PRINTED = {
    "layers_removed": (0.51755166, 3.1960537),
    "layers_removed_tuned": (0.6895095, 2.9283532),
    "channels_removed": (0.4641057, 2.8896927),
    "channels_removed_tuned": (0.70176435, 2.8356887),
    "dense": (0.7015861, 3.2900305),
    "channels_regularized": (0.46435806, 2.9501334),
}
"""Network → mean log₁₀ ‖W‖_F and mean α, as the notebook prints them."""


def cut_exponent(eigenvalues: np.ndarray) -> float:
    """α = 1 + n/Σ ln(x/x_min) of the tail closest to a law that ends at the largest eigenvalue.

    eigenvalues : (M,), in any order; zeros are left out.

    >>> round(cut_exponent(np.array([1.0, 1.2, 1.5, 2.0, 4.0, 9.0])), 2)
    2.23
    """
    logs = usable(eigenvalues).logs
    best, found = np.inf, np.nan
    for start in np.flatnonzero(np.diff(logs, prepend=-np.inf) > 0):
        tail = logs[start:] - logs[start]
        if tail[-1] <= 0:
            break
        rate = len(tail) / tail.sum()
        law = np.expm1(-rate * tail) / np.expm1(-rate * tail[-1])
        distance = np.abs(law - np.arange(len(tail)) / len(tail)).max()
        if distance < best:
            best, found = distance, 1 + rate
    return float(found)


def averages(network: StoredNetwork, minimum: int = MINIMUM) -> tuple[float, float, int]:
    """Mean log₁₀ ‖W‖_F (no 1/N) and mean α over slices whose shorter side is at least ``minimum``, and their number."""
    densities = network.densities(options=DensityOptions(divide_by="nothing", minimum=minimum)).densities
    norms = [0.5 * np.log10(density.eigenvalues.sum()) for density in densities]
    alphas = [cut_exponent(density.eigenvalues) for density in densities]
    return float(np.mean(norms)), float(np.mean(alphas)), len(densities)
