"""Norms, stable ranks and exponents of the same layers (paper 3).

Equation 6 of paper 3: log‖W‖²_F / log λ_max against α, where α is known.

In ‖W‖²_F = Σ λ(WᵀW) and λ_max(WᵀW/N) the paper has two units, "up to the 1/N scaling". Both are kept apart here: a
divisor for the numerator and one for the denominator.

Two networks compared layer by layer: norms and exponents of the same layers, and what the pairs allow to say.

A convolutional network with batch normalisation, whose kernels can be rescaled without changing what it computes.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest, bootstrap, wilcoxon

from capcore.spectra import DensityOptions, SpectraOptions, SpectraReport, analyse_spectra, fit_power_law
from chapters.shared.resnets import StoredNetwork

ENTRIES = ("positive", "both signs")


def heavy_tailed(mu: float, n: int, entries: str, rng: np.random.Generator) -> np.ndarray:
    """(n, n) independent entries whose size exceeds x with a probability of order x^(−μ).

    entries : ``positive``, (1 − u)^(−1/μ) − 1 with uniform u, as in the authors' experiment; ``both signs``,
    (1 − u)^(−1/μ) with a random sign.

    >>> heavy_tailed(1.0, 2, "both signs", np.random.default_rng(0)).round(1).tolist()
    [[-2.8, 1.4], [1.0, 1.0]]
    """
    exponent = -1 / mu
    size = (1 - rng.random((n, n))) ** exponent
    if entries == "positive":
        return size - 1
    return size * rng.choice([-1.0, 1.0], (n, n))


def log_ratio(eigenvalues: np.ndarray, above: float = 1.0, below: float = 1.0) -> float:
    """log(Σλ/above) / log(λ_max/below) of eigenvalues (M,) of WᵀW; paper 3, Eq. 6, has above = 1 and below = N.

    >>> round(log_ratio(np.array([100.0, 900.0]), below=9.0), 3)
    1.5
    """
    return float(np.log(eigenvalues.sum() / above) / np.log(eigenvalues.max() / below))


def simulated(
    mus: Sequence[float], n: int, n_draws: int, entries: str, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """(n_mus, n_draws) of ``alpha`` as fitted, and the ratio in three units.

    ``printed``: ‖W‖²_F without and λ_max with 1/N. ``W``: both without. ``W/√N``: both with. ``half`` and ``double``:
    as printed, of W multiplied by ½ and 2.
    """
    units = {"printed": (1.0, n), "W": (1.0, 1.0), "W/√N": (n, n), "half": (4.0, 4.0 * n), "double": (0.25, 0.25 * n)}
    shape = (len(mus), n_draws)
    table = {name: np.empty(shape) for name in ("alpha", *units)}
    for i, mu in enumerate(mus):
        for j in range(n_draws):
            values = np.linalg.svd(heavy_tailed(mu, n, entries, rng), compute_uv=False) ** 2
            table["alpha"][i, j] = fit_power_law(values).alpha
            for name, (above, below) in units.items():
                table[name][i, j] = log_ratio(values, above, below)
    return table


def deviation(table: dict[str, np.ndarray], unit: str = "printed") -> float:
    """Largest over μ of |mean ratio / mean fitted α − 1|."""
    return float(np.max(np.abs(table[unit].mean(axis=1) / table["alpha"].mean(axis=1) - 1)))


def entries_limit(mu: float) -> float:
    """What the printed ratio tends to for large square matrices with independent entries of tail index μ < 2.

    The largest of N² entries is of order N^(2/μ) and alone makes ‖W‖²_F and λ_max(WᵀW), of order N^(4/μ) both: the
    ratio is (4/μ)/(4/μ − 1) = 4/(4 − μ), where α is 1 + μ/2.

    >>> entries_limit(2.0)
    2.0
    """
    return 4 / (4 - mu)


def pure_ratio(alpha: float, n: int) -> float:
    """The printed ratio for n eigenvalues of X = WᵀW/N, N = n, at the quantiles of λ^(−α) from λ = 1 on.

    λ_max is of order n^(1/(α−1)). So is Σλ for α < 2, and n above that: log(N Σλ)/log λ_max tends to α for α ≤ 2
    and to 2(α − 1) beyond.

    >>> [round(pure_ratio(alpha, 10**6), 2) for alpha in (1.5, 3.0)]
    [1.48, 3.9]
    """
    logs = -np.log((np.arange(n) + 0.5) / n) / (alpha - 1)
    total = logs[0] + np.log(np.exp(logs - logs[0]).sum())
    return float((np.log(n) + total) / logs[0])


NORMS = ("log ‖W‖²_F", "log λ_max")
"""The two norms of a layer: squared Frobenius norm without 1/N, and squared spectral norm with it."""
SLICES = SpectraOptions(DensityOptions("slices"), alternatives=())
POOLED = SpectraOptions(density=DensityOptions(arrangement="pooled"), alternatives=())


class Pair:
    """Differences of one quantity over the layers that both networks have, the first network minus the second.

    Attributes
    ----------
    n : layers. n_larger : of them with a larger value in the first network.
    mean : of the differences. low, high : ends of its 95 % bootstrap interval over layers (BCa).
    sign_p : one-sided, of as many larger layers or more by tosses of a coin. wilcoxon_p : two-sided signed-rank test.

    Examples
    --------
    >>> values = {"a": 2.0, "b": 3.0, "c": 5.0}
    >>> pair = Pair(values, {"a": 1.0, "b": 1.0, "c": 4.0, "d": 9.0}, np.random.default_rng(0), 99)
    >>> pair.n, pair.n_larger, round(pair.mean, 2), pair.sign_p, pair.wilcoxon_p
    (3, 3, 1.33, 0.125, 0.25)
    """

    def __init__(
        self, first: Mapping[str, float], second: Mapping[str, float], rng: np.random.Generator, n_resamples: int = 9999
    ) -> None:
        names = [name for name in first if name in second]
        differences = np.array([first[name] - second[name] for name in names])
        self.n, self.n_larger = len(names), int(np.sum(differences > 0))
        self.sign_p = float(binomtest(self.n_larger, self.n, alternative="greater").pvalue)
        self.mean = float(differences.mean())
        self.low, self.high = mean_interval(differences, rng, n_resamples)
        self.wilcoxon_p = float(wilcoxon(differences).pvalue)

    @property
    def share(self) -> float:
        """Layers that are larger in the first network, of all."""
        return self.n_larger / self.n


def layer_norms(network: StoredNetwork) -> dict[str, dict[str, float]]:
    """Quantity of ``NORMS`` → convolution → value; zero layers have none.

    log₁₀ of ‖W‖²_F over all slices without 1/N, and the mean over slices of log₁₀ λ_max with it.
    """
    options = SpectraOptions(density=DensityOptions("slices", minimum=1), alternatives=())
    table = pd.DataFrame([vars(row) for row in network.report(options).spectra if row.kind != "linear"])
    table["mass"] = 10 ** table["log_frobenius"] * table[["rows", "columns"]].max(axis=1)
    layers = table.groupby("layer", sort=False)
    return {NORMS[0]: np.log10(layers["mass"].sum()).to_dict(), NORMS[1]: layers["log_spectral"].mean().to_dict()}


def exponents(network: StoredNetwork, options: SpectraOptions = SLICES) -> pd.Series:
    """Exponents of all spectra that have one; their layers are the index."""
    rows = [row for row in network.report(options).spectra if row.ok]
    return pd.Series([row.alpha for row in rows], [row.layer for row in rows])


def layer_alphas(network: StoredNetwork, options: SpectraOptions = SLICES) -> dict[str, float]:
    """Layer → mean α over its spectra with an exponent; layers without any are left out."""
    return dict(exponents(network, options).groupby(level=0, sort=False).mean().to_dict())


def mean_interval(differences: np.ndarray, rng: np.random.Generator, n_resamples: int = 9999) -> tuple[float, float]:
    """Ends of the 95 % bootstrap interval (BCa) of the mean of differences (n,)."""
    interval = bootstrap((differences,), np.mean, n_resamples=n_resamples, rng=rng).confidence_interval
    return float(interval.low), float(interval.high)


def zeros_counted(alphas: Mapping[str, float], n_layers: int) -> float:
    """Mean α over ``n_layers``, those without an exponent as −1: how WeightWatcher 0.7.7 averages failed fits.

    >>> zeros_counted({"a": 3.0, "b": 4.0}, 3)
    2.0
    """
    return (sum(alphas.values()) - (n_layers - len(alphas))) / n_layers


def random_weights(channels: int, kernel: int, n_classes: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Two kernels (channels, channels, kernel, kernel) and a matrix (n_classes, channels), Gaussian, of He's size."""
    shape = (channels, channels, kernel, kernel)
    scale = np.sqrt(2 / (channels * kernel**2))
    weights = {f"conv{i}.weight": rng.normal(scale=scale, size=shape) for i in (1, 2)}
    return {**weights, "fc.weight": rng.normal(scale=np.sqrt(2 / channels), size=(n_classes, channels))}


def outputs(weights: Mapping[str, np.ndarray], inputs: np.ndarray) -> np.ndarray:
    """(m, n_classes) logits for inputs (m, channels, h, w): convolution, batch normalisation and ReLU, twice, then fc.

    Convolutions are circular, and variances those of the batch, with nothing added.

    >>> rng = np.random.default_rng(0)
    >>> weights, inputs = random_weights(3, 3, 2, rng), rng.normal(size=(4, 3, 5, 5))
    >>> np.allclose(outputs(weights, inputs), outputs(rescaled(weights, 10.0), inputs))
    True
    """
    x = inputs
    for name in ("conv1.weight", "conv2.weight"):
        x = _circular(x, weights[name])
        x = (x - x.mean((0, 2, 3), keepdims=True)) / x.std((0, 2, 3), keepdims=True)
        x = np.maximum(x, 0)
    return np.asarray(x.mean((2, 3)) @ weights["fc.weight"].T)


def rescaled(weights: Mapping[str, np.ndarray], factor: float) -> dict[str, np.ndarray]:
    """The weights with both kernels multiplied by ``factor``; the matrix after them is as it was."""
    return {name: w * factor if name.startswith("conv") else w for name, w in weights.items()}


def report(weights: Mapping[str, np.ndarray]) -> SpectraReport:
    """The spectra of the weights in the paper's arrangement: slices and 1/N, every one however small."""
    return analyse_spectra(dict(weights), SLICES)


def _circular(x: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """(m, n_out, h, w): the sum over taps of shifted inputs through the tap's matrix."""
    length = kernel.shape[2]
    shifts = [[np.roll(x, (length // 2 - i, length // 2 - j), (2, 3)) for j in range(length)] for i in range(length)]
    return np.asarray(np.einsum("ocij,ijmchw->mohw", kernel, shifts, optimize=True))
