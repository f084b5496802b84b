"""The mean α of one network under the choices that the word leaves open, and what they do to a comparison of two."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from capcore.spectra import DensityOptions, SpectraOptions
from capcore.studies.first_release import MINIMUM, averages
from capcore.studies.paired_layers import POOLED, layer_alphas, slice_alphas, zeros_counted
from capcore.studies.stored_spectra import StoredNetwork

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


def _mean(values: Mapping[str, float]) -> float:
    return float(np.mean(list(values.values())))
