"""Two networks compared layer by layer: norms and exponents of the same layers, and what the pairs allow to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest, bootstrap, wilcoxon

from capcore.spectra import DensityOptions, SpectraOptions
from capcore.spectra.metrics import SpectrumMetrics
from chapters.spectra_resnets.stored_spectra import StoredNetwork

NORMS = ("log ‖W‖²_F", "log λ_max")
"""The two norms of a layer: squared Frobenius norm without 1/N, and squared spectral norm with it."""
SLICES = SpectraOptions(alternatives=())
POOLED = SpectraOptions(density=DensityOptions(arrangement="pooled"), alternatives=())


@dataclass(frozen=True)
class Pair:
    """Differences of one quantity over the layers that both networks have, the first network minus the second.

    Attributes
    ----------
    n : layers. n_larger : of them with a larger value in the first network.
    mean : of the differences. low, high : ends of its 95 % bootstrap interval over layers (BCa).
    sign_p : one-sided, of as many larger layers or more by tosses of a coin. wilcoxon_p : two-sided signed-rank test.
    """

    n: int
    n_larger: int
    mean: float
    low: float
    high: float
    sign_p: float
    wilcoxon_p: float

    @property
    def share(self) -> float:
        """Layers that are larger in the first network, of all."""
        return self.n_larger / self.n


def layer_norms(network: StoredNetwork) -> dict[str, dict[str, float]]:
    """Quantity of ``NORMS`` → convolution → value; zero layers have none.

    log₁₀ of ‖W‖²_F over all slices without 1/N, and the mean over slices of log₁₀ λ_max with it.
    """
    options = SpectraOptions(density=DensityOptions(minimum=1), alternatives=())
    rows = [row for row in network.report(options).spectra if row.kind != "linear"]
    found: dict[str, dict[str, float]] = {name: {} for name in NORMS}
    for name, group in _by_layer(rows).items():
        mass = sum(10**row.log_frobenius * max(row.rows, row.columns) for row in group)
        found[NORMS[0]][name] = float(np.log10(mass))
        found[NORMS[1]][name] = float(np.mean([row.log_spectral for row in group]))
    return found


def layer_alphas(network: StoredNetwork, options: SpectraOptions = SLICES) -> dict[str, float]:
    """Layer → mean α over its spectra with an exponent; layers without any are left out."""
    rows = [row for row in network.report(options).spectra if row.ok]
    return {name: float(np.mean([row.alpha for row in group])) for name, group in _by_layer(rows).items()}


def slice_alphas(network: StoredNetwork, options: SpectraOptions = SLICES) -> np.ndarray:
    """(n_fitted,) exponents of all spectra, in the order of the layers."""
    return np.array([row.alpha for row in network.report(options).spectra if row.ok])


def null_layer_alphas(network: StoredNetwork) -> dict[str, np.ndarray]:
    """Layer → (n_null,) mean α over its slices with the layer's weights shuffled, as stored."""
    found: dict[str, list[np.ndarray]] = {}
    for name, draws in network.null_alphas("slices").items():
        found.setdefault(name.split("[")[0], []).append(draws)
    return {name: np.nanmean(draws, axis=0) for name, draws in found.items()}


def null_differences(first: StoredNetwork, second: StoredNetwork) -> np.ndarray:
    """(n_null,) means over common layers of the difference in α between the two networks, both with shuffled weights.

    It is what shapes, sizes of weights and chance leave: the arrangement of the weights has no part in it.
    """
    one, other = null_layer_alphas(first), null_layer_alphas(second)
    names = [name for name in one if name in other]
    found: np.ndarray = np.mean([one[name] - other[name] for name in names], axis=0)
    return found


def compare(
    first: Mapping[str, float], second: Mapping[str, float], rng: np.random.Generator, n_resamples: int = 9999
) -> Pair:
    """The ``Pair`` of two networks' values by layer.

    Raises ``ValueError`` for fewer than two layers in common.

    >>> values = {"a": 2.0, "b": 3.0, "c": 5.0}
    >>> pair = compare(values, {"a": 1.0, "b": 1.0, "c": 4.0, "d": 9.0}, np.random.default_rng(0), 99)
    >>> pair.n, pair.n_larger, round(pair.mean, 2), pair.sign_p, pair.wilcoxon_p
    (3, 3, 1.33, 0.125, 0.25)
    """
    names = [name for name in first if name in second]
    if len(names) < 2:
        raise ValueError(f"second: found {len(names)} layers in common with first, expected at least 2.")
    differences = np.array([first[name] - second[name] for name in names])
    n_larger = int(np.sum(differences > 0))
    low, high = mean_interval(differences, rng, n_resamples)
    return Pair(
        len(names),
        n_larger,
        float(differences.mean()),
        low,
        high,
        float(binomtest(n_larger, len(names), alternative="greater").pvalue),
        float(wilcoxon(differences).pvalue),
    )


def mean_interval(differences: np.ndarray, rng: np.random.Generator, n_resamples: int = 9999) -> tuple[float, float]:
    """Ends of the 95 % bootstrap interval (BCa) of the mean of differences (n,)."""
    if np.ptp(differences) == 0:
        return float(differences[0]), float(differences[0])
    found = bootstrap((differences,), np.mean, n_resamples=n_resamples, rng=rng).confidence_interval
    return float(found.low), float(found.high)


def zeros_counted(alphas: Mapping[str, float], n_layers: int) -> float:
    """Mean α over ``n_layers``, those without an exponent as −1: how WeightWatcher 0.7.7 averages failed fits.

    >>> zeros_counted({"a": 3.0, "b": 4.0}, 3)
    2.0
    """
    return (sum(alphas.values()) - (n_layers - len(alphas))) / n_layers


def _by_layer(rows: Sequence[SpectrumMetrics]) -> dict[str, list[SpectrumMetrics]]:
    found: dict[str, list[SpectrumMetrics]] = {}
    for row in rows:
        found.setdefault(row.layer, []).append(row)
    return found
