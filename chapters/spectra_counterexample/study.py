"""The counterexample of paper 3, from its first release, and under other means.

What the authors of paper 3 averaged in 2019, from eigenvalues: the fits and layers of their tool's early release.

Their public notebook (CalculatedContent/ww-trends-2020, commit b0945e6, ``distiller/WeightWatcher-Intel-Distiller-
ResNet20.ipynb``, WeightWatcher 0.1.2) prints averages for six ResNet-20 variants. They come out again with two choices
that it does not mention: only slices of at least 50 × 50, so that 5 of 22 layers remain, and fits with the largest
eigenvalue as x_max, as the package ``powerlaw`` understands it: the distance is taken from a law that ends there, the
exponent from one that does not.

The mean α of one network under the choices that the word leaves open, and what they do to a comparison of two.
"""

from collections.abc import Mapping

import numpy as np

from capcore.spectra import DensityOptions, SpectraOptions
from capcore.spectra.exponents import usable
from chapters.shared.resnets import StoredNetwork
from chapters.spectra_metrics.study import POOLED, exponents, layer_alphas, zeros_counted

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
    best, alpha = np.inf, np.nan
    for start in np.flatnonzero(np.diff(logs, prepend=-np.inf) > 0):
        tail = logs[start:] - logs[start]
        if tail[-1] <= 0:
            break
        rate = len(tail) / tail.sum()
        law = np.expm1(-rate * tail) / np.expm1(-rate * tail[-1])
        distance = np.abs(law - np.arange(len(tail)) / len(tail)).max()
        if distance < best:
            best, alpha = distance, 1 + rate
    return float(alpha)


def averages(network: StoredNetwork, minimum: int = MINIMUM) -> tuple[float, float, int]:
    """Mean log₁₀ ‖W‖_F (no 1/N) and mean α over slices whose shorter side is at least ``minimum``, and their number."""
    densities = network.densities(DensityOptions("slices", divide_by="nothing", minimum=minimum))
    norms = [0.5 * np.log10(density.eigenvalues.sum()) for density in densities]
    alphas = [cut_exponent(density.eigenvalues) for density in densities]
    return float(np.mean(norms)), float(np.mean(alphas)), len(densities)


LARGE = SpectraOptions(density=DensityOptions("slices", minimum=MINIMUM), alternatives=())
UNFOLDED = SpectraOptions(density=DensityOptions(arrangement="unfolded"), alternatives=())


def mean_choices(network: StoredNetwork, n_layers: int) -> dict[str, float]:
    """Choice → mean α. n_layers : of the architecture, for the mean that counts missing layers as −1.

    Slices, 1/N and Clauset's x_min unless the name says otherwise; layers of zeros are left out but in the last.
    """
    pooled = layer_alphas(network, POOLED)
    return {
        "slices ≥ 50, as in 2019": averages(network)[1],
        "slices ≥ 50": float(exponents(network, LARGE).mean()),
        "all slices": float(exponents(network).mean()),
        "layers, mean of slices": _mean(layer_alphas(network)),
        "layers, unfolded": _mean(layer_alphas(network, UNFOLDED)),
        "layers, pooled": _mean(pooled),
        "layers, pooled, zeros as −1": zeros_counted(pooled, n_layers),
    }


def signs(first: Mapping[str, float], second: Mapping[str, float]) -> tuple[int, int]:
    """Choices under which the first network's mean is the smaller one, and under which it is the larger one.

    >>> signs({"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 2.0})
    (1, 1)
    """
    differences = [first[name] - second[name] for name in first]
    return sum(value < 0 for value in differences), sum(value > 0 for value in differences)


def slice_mean_interval(
    first: StoredNetwork, second: StoredNetwork, rng: np.random.Generator, n_resamples: int = 9_999
) -> tuple[float, float]:
    """Ends of the 95 % interval of the difference of two networks' mean α over all slices.

    Percentile bootstrap over the layers in common, each with all its slices in both networks. Slices of one layer
    were trained together; as if they were independent, the interval would be about as wide.
    """
    one, other = (exponents(net).groupby(level=0, sort=False).agg(["sum", "count"]) for net in (first, second))
    names = one.index[one.index.isin(other.index)]
    sums = np.stack([one.loc[names], other.loc[names]], axis=1)  # (n_layers, 2 networks, total and count)
    drawn = sums[rng.integers(len(names), size=(n_resamples, len(names)))].sum(axis=1)
    means = drawn[..., 0] / drawn[..., 1]
    low, high = np.quantile(means[:, 0] - means[:, 1], [0.025, 0.975])
    return float(low), float(high)


def _mean(values: Mapping[str, float]) -> float:
    return float(np.mean(list(values.values())))
