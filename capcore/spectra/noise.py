"""What would a spectrum look like if the weights were noise? The law of the bulk, its edge, its fit, and null weights.

Take an N × M matrix W, M ≤ N, of independent entries with variance σ². As both sides grow at a fixed ratio, the
eigenvalues of X = WᵀW/N (paper 3, Eq. 2) fill the interval between λ± = σ²(1 ± √(M/N))² with density
N/M·√((λ₊ − λ)(λ − λ₋))/(2πσ²λ) (Marchenko and Pastur 1967). The largest eigenvalue fluctuates around λ₊ according to
the Tracy–Widom law, centred and scaled as in Johnstone (2001).

:func:`fit_bulk` fits this law to a spectrum and counts the spikes, the eigenvalues above its edge. Spikes must not
distort the fit, so σ is estimated from the middle half of the bulk by rank. Because eigenvalues are much more evenly
spaced than independent draws, this half determines σ to within O(1/M). The fit is repeated without the spikes until
their number no longer changes. A planted spike of strength θ can be seen only if θ exceeds σ(M/N)^¼ (Baik, Ben Arous &
Péché 2005); a weaker one disappears in the bulk.

:func:`null_weights` returns a layer without the effect of training: its weights shuffled, or Gaussian noise. Each layer
has its own random generator, seeded by the seed and the layer's name, so that its nulls do not depend on which other
layers are analysed.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from capcore.checks.arguments import (
    all_of_kind,
    finite_array,
    of_kind,
    one_of,
    plain_array,
    positive_integer,
    positive_number,
)
from capcore.results.notebook import Record

LEVEL, QUANTILE = 0.99, 2.0234
"""Probability that the largest eigenvalue of noise stays below the threshold, and that quantile of the Tracy–Widom law
for real matrices (β = 1), to four places. A test computes it by a determinant."""
CENTRAL = (0.25, 0.75)  # part of the bulk that is fitted, by rank
NULLS = ("shuffled", "gaussian")
SMALLEST, LARGEST = 1e-140, 1e140  # of the largest weight, so that squares and their sums are normal numbers


def bulk_edges(ratio: float, sigma: float = 1.0) -> tuple[float, float]:
    """The ends (λ₋, λ₊) of the bulk for noise of standard deviation ``sigma``, where ``ratio`` = M/N is at most one.

    >>> bulk_edges(0.25)
    (0.25, 2.25)
    """
    return float(sigma**2 * (1 - np.sqrt(ratio)) ** 2), float(sigma**2 * (1 + np.sqrt(ratio)) ** 2)


def bulk_density(values: np.ndarray, ratio: float, sigma: float = 1.0) -> np.ndarray:
    """Density of the Marchenko–Pastur law at ``values``, of any shape; zero outside the bulk."""
    lower, upper = bulk_edges(ratio, sigma)
    inside = (values > lower) & (values < upper)
    x = np.where(inside, values, upper)
    return np.where(inside, np.sqrt((upper - x) * (x - lower)) / (2 * np.pi * ratio * sigma**2 * x), 0.0)


def bulk_distribution(values: np.ndarray, ratio: float, sigma: float = 1.0) -> np.ndarray:
    """Distribution function of the Marchenko–Pastur law at ``values``, in closed form.

    Substituting λ = σ²(1 + c + 2√c cos φ), where c is the ratio, turns the density into
    2 sin²φ/(π(1 + c + 2√c cos φ)), whose integral is elementary.

    >>> bulk_distribution(np.array([1.0, 2.25]), 0.25).round(6).tolist()
    [0.55339, 1.0]
    """
    c, x = ratio, values / sigma**2
    phi = np.arccos(np.clip((x - 1 - c) / (2 * np.sqrt(c)), -1, 1))
    half = 2 * np.arctan2((1 - np.sqrt(c)) * np.sin(phi / 2), (1 + np.sqrt(c)) * np.cos(phi / 2))
    return 1 + (np.sqrt(c) * np.sin(phi) - (1 + c) / 2 * phi + (1 - c) / 2 * half) / (np.pi * c)


def bulk_quantiles(probabilities: np.ndarray, ratio: float) -> np.ndarray:
    """Quantiles of the Marchenko–Pastur law of unit variance at ``probabilities``, to six digits.

    >>> bulk_quantiles(np.array([0.0, 1.0]), 0.25).round(9).tolist()
    [0.25, 2.25]
    """
    return np.interp(probabilities, *_table(ratio))


@lru_cache(maxsize=64)
def _table(ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """Distribution function for unit variance, and the grid on which it is tabulated, which is dense at both ends."""
    phi = np.linspace(np.pi, 0, 4001)
    values = 1 + ratio + 2 * np.sqrt(ratio) * np.cos(phi)
    return bulk_distribution(values, ratio), values


def edge(n: float, m: float) -> float:
    """What λ_max(WᵀW) of an n × m standard normal matrix exceeds with a probability of about 1 − ``LEVEL``.

    n, m : either may be the larger.

    >>> round(edge(100, 100), 1)
    421.6
    """
    root, side = np.sqrt(max(n - 1, m - 1, 0.5)), np.sqrt(min(n, m))
    width = (root + side) * (1 / root + 1 / side) ** (1 / 3)
    return float((root + side) ** 2 + QUANTILE * width)


@dataclass(frozen=True)
class BulkFit(Record):
    """A bulk of noise fitted to a spectrum, in the units of its eigenvalues.

    Attributes
    ----------
    sigma : float
        Standard deviation of the entries of the noise.
    lower, upper : float
        Ends λ± of the bulk.
    threshold : float
        Upper end of the bulk plus an allowance for the fluctuation of the largest eigenvalue of one noise matrix.
    n_spikes : int
        Number of eigenvalues above the threshold.
    soft_rank : float
        λ₊/λ_max: about one for noise, and small if there is a strong spike.
    """

    sigma: float
    lower: float
    upper: float
    threshold: float
    n_spikes: int
    soft_rank: float


def fit_bulk(eigenvalues: np.ndarray, shape: tuple[int, int], *, divisor: float | None = None) -> BulkFit:
    """Fit a Marchenko–Pastur bulk to eigenvalues of WᵀW/divisor: a :class:`~capcore.spectra.noise.BulkFit`.

    For a density ``d``, call ``fit_bulk(d.eigenvalues, d.shape, divisor=d.divided_by)``.

    Parameters
    ----------
    eigenvalues : (n,) array
        Eigenvalues of one matrix, or of several matrices of the same shape. Zeros must be included, so that n is a
        multiple of the shorter side.
    shape : tuple of int
        Rows and columns of the matrix, in any order.
    divisor : float, optional
        Number by which the eigenvalues were divided; by default the longer side, N of paper 3, Eq. 2.

    Raises
    ------
    ValueError
        If there are fewer than 8 eigenvalues, or if more than a quarter of them are zero. In the second case, remove
        the rows or columns of zeros first.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(scale=0.5, size=(100, 400))
    >>> fit = fit_bulk(np.linalg.eigvalsh(noise @ noise.T) / 400, (100, 400))
    >>> round(fit.sigma, 2), fit.n_spikes
    (0.5, 0)
    """
    values = np.sort(finite_array(eigenvalues, "eigenvalues", 1))
    all_of_kind(shape, "shape", int | np.integer, "whole numbers", 2)
    m, n = sorted(positive_integer(side, "shape") for side in shape)
    divisor = float(n) if divisor is None else positive_number(divisor, "divisor")
    if values.size < 8 or values.size % m:
        raise ValueError(f"eigenvalues: found {values.size}, expected a multiple of {m} and at least 8 with zeros.")
    if values[0] < 0 or values[values.size // 4] <= 0:
        raise ValueError(
            f"eigenvalues: found {np.count_nonzero(values <= 0)} of {values.size} not positive, expected at most 1/4."
        )
    n_matrices, n_spikes, tried = values.size // m, 0, set()
    while n_spikes not in tried:
        tried.add(n_spikes)  # at most half of them, because fewer would not make a bulk
        bulk = values[: values.size - n_spikes]
        rows, columns = n - n_spikes / n_matrices, m - n_spikes / n_matrices
        variance = _variance(bulk, columns / rows) * divisor / rows
        threshold = variance * edge(rows, columns) / divisor
        above = int(np.count_nonzero(values > threshold))
        n_spikes = min(above, values.size // 2)
    scale = np.sqrt(variance * rows / divisor)
    lower, upper = bulk_edges(columns / rows, scale)
    return BulkFit(float(np.sqrt(variance)), lower, upper, threshold, above, float(upper / values[-1]))


def _variance(bulk: np.ndarray, ratio: float) -> float:
    """Scale of the law that matches ascending eigenvalues in the middle, which spikes and zeros do not affect."""
    first, last = (round(share * bulk.size) for share in CENTRAL)
    expected = bulk_quantiles((np.arange(first, last) + 0.5) / bulk.size, ratio)
    return float(bulk[first:last].sum() / expected.sum())


def null_weights(weights: np.ndarray, null: str, *, seed: int, name: str, draw: int = 0) -> np.ndarray:
    """Weights of the same shape without the structure that training has given them, in double precision.

    Parameters
    ----------
    weights : array
        Weights of a layer, of any shape.
    null : str
        ``shuffled`` permutes the entries, which keeps zeros from pruning, outliers and the mean. ``gaussian`` draws
        normal entries with mean zero and the variance of the weights.
    seed : int
        Seed, non-negative.
    name : str
        Name of the layer.
    draw : int
        Number of the draw, 0, 1, …, if a layer needs several nulls.

    Raises
    ------
    ValueError
        If ``gaussian`` is asked for and the variance of the weights is not a normal number.

    Examples
    --------
    >>> null_weights(np.arange(4.0), "shuffled", seed=0, name="fc").sum()
    np.float64(6.0)
    """
    weights = plain_array(weights, "weights")
    one_of(null, "null", NULLS)
    if null == "gaussian" and weights.any() and not SMALLEST < float(np.abs(weights).max()) < LARGEST:
        raise ValueError(
            f"weights: found entries up to {np.abs(weights).max():.1e}, expected {SMALLEST:g} to {LARGEST:g}. Rescale."
        )
    rng = layer_generator(seed, name, null, draw)
    if null == "shuffled":
        return rng.permutation(weights.astype(float).ravel()).reshape(weights.shape)
    return rng.normal(scale=weights.std(dtype=float), size=weights.shape)


def layer_generator(seed: int, name: str, purpose: str = "", draw: int = 0) -> np.random.Generator:
    """Random generator for one layer and one purpose, the same on every machine whatever else is analysed.

    >>> layer_generator(0, "fc").integers(100) == layer_generator(0, "fc").integers(100)
    np.True_
    """
    of_kind(name, "name", str)
    seed, draw = positive_integer(seed, "seed", 0), positive_integer(draw, "draw", 0)
    digest = hashlib.sha256(f"{purpose}\0{name}".encode()).digest()
    return np.random.default_rng([seed, draw, *np.frombuffer(digest, "<u4").tolist()])
