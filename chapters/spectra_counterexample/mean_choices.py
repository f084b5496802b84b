"""The mean α of one network under the choices that the word leaves open, and what they do to a comparison of two."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from capcore.spectra import DensityOptions, SpectraOptions
from chapters.spectra_counterexample.first_release import MINIMUM, averages
from chapters.spectra_metrics.paired_layers import POOLED, SLICES, layer_alphas, slice_alphas, zeros_counted
from chapters.spectra_resnets.stored_spectra import StoredNetwork

LARGE = SpectraOptions(density=DensityOptions(minimum=MINIMUM), alternatives=())
UNFOLDED = SpectraOptions(density=DensityOptions(arrangement="unfolded"), alternatives=())


def mean_choices(network: StoredNetwork, n_layers: int) -> dict[str, float]:
    """Choice → mean α. n_layers : of the architecture, for the mean that counts missing layers as −1.

    Slices, 1/N and Clauset's x_min unless the name says otherwise; layers of zeros are left out but in the last.
    """
    pooled = layer_alphas(network, POOLED)
    return {
        "slices ≥ 50, as in 2019": averages(network)[1],
        "slices ≥ 50": float(slice_alphas(network, LARGE).mean()),
        "all slices": float(slice_alphas(network).mean()),
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
    one, other = ({name: (total, count) for name, total, count in _sums(net)} for net in (first, second))
    names = [name for name in one if name in other]
    sums = np.array([[one[name], other[name]] for name in names])  # (n_layers, 2 networks, total and count)
    drawn = sums[rng.integers(len(names), size=(n_resamples, len(names)))].sum(axis=1)
    means = drawn[..., 0] / drawn[..., 1]
    low, high = np.quantile(means[:, 0] - means[:, 1], [0.025, 0.975])
    return float(low), float(high)


def _sums(network: StoredNetwork) -> list[tuple[str, float, int]]:
    """Layer, sum of α over its slices with an exponent, and their number."""
    found: dict[str, list[float]] = {}
    for row in network.report(SLICES).spectra:
        if row.ok:
            found.setdefault(row.layer, []).append(row.alpha)
    return [(name, sum(alphas), len(alphas)) for name, alphas in found.items()]


def _mean(values: Mapping[str, float]) -> float:
    return float(np.mean(list(values.values())))
