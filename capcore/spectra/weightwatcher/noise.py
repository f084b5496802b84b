"""The Marchenko–Pastur fit of WeightWatcher 0.7.7 (``mp_fit=True``): its soft rank, spikes and bulk edges.

The tool fits σ to a kernel density of the eigenvalues, on a grid and then by a simplex; for square matrices, to the
density of singular values and a quarter circle whose radius does not follow σ. It rebuilds the density at every step;
here it is built once. For a fit that can be relied on see :mod:`capcore.spectra.noise`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brute

BANDWIDTH, THIN, POINTS, REFUSED = 0.1, 0.01, 1000, 1000.0


@dataclass(frozen=True)
class NoiseFit:
    """The columns of WeightWatcher's ``details`` that come from its Marchenko–Pastur fit, under its names; −1 where
    it failed.

    ``num_spikes`` : eigenvalues above the bulk's edge. ``sigma_mp`` : fitted scale, of eigenvalues scaled to mean one.
    ``mp_softrank`` : upper edge over largest eigenvalue. ``W_scale`` : square root of that scaling. ``bulk_min``,
    ``bulk_max`` : edges.
    """

    num_spikes: int
    sigma_mp: float
    mp_softrank: float
    W_scale: float
    bulk_min: float
    bulk_max: float


def fit_noise(eigenvalues: np.ndarray, N: int, M: int) -> NoiseFit:
    """The :class:`~capcore.spectra.weightwatcher.noise.NoiseFit` of a layer's eigenvalues (n,) whose matrices the
    tool calls N × M.

    >>> weights = np.random.default_rng(0).standard_normal((60, 30))
    >>> fit = fit_noise(np.linalg.svd(weights, compute_uv=False) ** 2, 60, 30)
    >>> bool(0.9 < fit.mp_softrank < 1.1), fit.num_spikes
    (True, 0)
    """
    total = float(eigenvalues.sum())
    if total <= 0:
        return NoiseFit(-1, -1.0, -1.0, -1.0, -1.0, -1.0)
    ratio = N / M
    scale = np.sqrt(len(eigenvalues)) / np.sqrt(total)
    scaled = scale * scale * eigenvalues
    largest = float(scaled.max())
    sigma = _fit_sigma(np.sqrt(scaled) if ratio == 1 else scaled, ratio, largest)
    top = float((sigma * (1 + 1 / np.sqrt(ratio))) ** 2)
    bottom = float((sigma * (1 - 1 / np.sqrt(ratio))) ** 2)
    edge = top + np.sqrt(1 / np.sqrt(ratio) * top ** (2 / 3) * M ** (-2 / 3))
    spikes = int(np.count_nonzero(scaled > edge))
    return NoiseFit(spikes, float(sigma), top / largest, float(scale), bottom / scale**2, top / scale**2)


def _fit_sigma(values: np.ndarray, ratio: float, largest: float) -> float:
    grid = np.linspace(0, values.max() + 0.5, POINTS)
    density = _kernel_density(values, grid)
    grid, density = grid[density > THIN], density[density > THIN]
    mode = grid[np.argmax(density >= density.max() * (1 - 1e-12))]  # a plateau's left end, whatever its rounding
    unit = np.sqrt(largest / np.square(1 + 1 / np.sqrt(ratio)))

    def misfit(sigma: np.ndarray) -> float:
        if ratio == 1:
            model = np.fmax(1 / (np.pi * sigma * sigma) * np.sqrt(4 - grid**2), 0.0)
        else:
            high = np.power(sigma * (1 + np.sqrt(1 / ratio)), 2)
            low = np.power(sigma * (1 - np.sqrt(1 / ratio)), 2)
            if high < mode or high > grid.max() or low > mode:
                return REFUSED**2 * len(grid)
            root = np.sqrt((high - grid) * (grid - low))
            model = np.fmax(1 / (2 * np.pi * sigma * sigma * grid / ratio) * root, 0.0)
        return float(np.sum((model - density) ** 2))

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = brute(misfit, (slice(0.05 * unit, 2.0 * unit, 0.01 * unit),), full_output=True)
    return float(np.asarray(found[0]).ravel()[0])


def _kernel_density(values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Density at the grid points from a triangular kernel of half-width 0.1, from sums over the sorted values."""
    values = np.sort(values)
    sums = np.r_[0.0, np.cumsum(values)]
    left, here, right = (np.searchsorted(values, grid + shift) for shift in (-BANDWIDTH, 0.0, BANDWIDTH))
    below = (here - left) * (BANDWIDTH - grid) + (sums[here] - sums[left])
    above = (right - here) * (BANDWIDTH + grid) - (sums[right] - sums[here])
    return (below + above) / (BANDWIDTH**2 * len(values))
