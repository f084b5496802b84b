"""The two fits of WeightWatcher 0.7.7: a power law for the tail, and a Marchenko–Pastur law for the bulk.

The power-law fit treats small samples differently. For the bulk (``mp_fit=True``), the tool fits σ to a kernel density
of the eigenvalues, first on a grid and then by a simplex. For square matrices it uses the density of singular values
and a quarter circle whose radius does not depend on σ. The tool rebuilds the density at every step; here it is built
once. For fits that you can rely on, see :mod:`capcore.spectra.power_law` and :mod:`capcore.spectra.noise`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy

from capcore.checks.arguments import finite_array
from capcore.spectra.power_law import finalists, pack

THRESHOLD = 1e-5
SMALL, SMALL_TAIL = 20, 8
OVER_TRAINED, UNDER_TRAINED = 2.0, 6.0
BANDWIDTH, THIN, POINTS, REFUSED = 0.1, 0.01, 1000, 1000.0


def fits_as_weightwatcher(spectra: Sequence[object]) -> list[dict[str, Any]]:
    """Fit power laws as the tool does: for each spectrum the columns of its ``details`` that come from the power law.

    ``alpha``, ``xmin``, ``xmax``, ``D``, ``sigma`` : exponent, lower end, largest eigenvalue, Kolmogorov–Smirnov
    distance, standard error. ``num_pl_spikes`` : number of eigenvalues from ``xmin`` upwards. ``status`` : ``success``
    or ``failed``. If the fit failed, all numbers are −1 except ``xmax``, which is NaN. ``warning`` : ``over-trained``
    if α < 2, which includes failed fits, ``under-trained`` if α > 6, or empty.

    Each spectrum (M,) may be in any order; all share the overhead of one scan. Eigenvalues up to 1e-5 are dropped,
    whatever the scale of the spectrum. If 20 or more remain, the search is that of
    :func:`~capcore.spectra.power_law.fit_power_law`, except that the second of two equal eigenvalues may be an x_min
    too; its tail then lacks the first. If fewer remain, the tool fits α = 1 + (n−1)/Σ ln(x_j/x_min) to tails of at
    least 8 eigenvalues. It first chooses among these by D − 0.868/√n, but then overwrites the choice with the smallest
    D, which it reports. If there are fewer than 8 eigenvalues, it fits all of them and reports σ = −1/√n.

    >>> (fit,) = fits_as_weightwatcher([np.exp([0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4])])
    >>> round(fit["alpha"], 3), fit["num_pl_spikes"], fit["warning"]
    (2.25, 8, '')
    """
    sorted_spectra = [np.sort(finite_array(spectrum, "eigenvalues", 1)) for spectrum in spectra]
    evals = [values[values > THRESHOLD] for values in sorted_spectra]
    with np.errstate(divide="ignore", invalid="ignore"):
        return [_fit(*parts) for parts in zip(sorted_spectra, evals, _standard_starts(evals), strict=True)]


def _standard_starts(spectra: Sequence[np.ndarray]) -> list[list[int]]:
    """Where the few tails start that the pruned scan leaves of each spectrum; none for small samples."""
    large = [i for i, evals in enumerate(spectra) if len(evals) >= SMALL]
    result: list[list[int]] = [[] for _ in spectra]
    if large:
        packed = pack([np.log(spectra[i]) for i in large])
        allowed = np.ones(len(packed.logs), dtype=bool)
        allowed[packed.begins + packed.lengths - 1] = False
        for which, start in zip(*finalists(packed, allowed), strict=True):
            result[large[which]].append(int(start))
    return result


def _fit(values: np.ndarray, evals: np.ndarray, starts: Iterable[int]) -> dict[str, Any]:
    number, small = len(evals), len(evals) < SMALL
    if number < 2:
        failed = dict.fromkeys(("alpha", "xmin", "xmax", "D", "sigma"), -1.0)
        return failed | {"xmax": np.nan, "num_pl_spikes": -1, "status": "failed", "warning": "over-trained"}
    tails = _tails(evals, range(max(1, number - SMALL_TAIL + 1)) if small else starts, 1.0 if small else 0.0)
    start, alpha, distance = min(tails, key=lambda tail: tail[2], default=(0, 0.0, 1.0))
    untested = small and (not tails or number < SMALL_TAIL)
    return {
        "alpha": alpha,
        "xmin": float(evals[start]),
        "xmax": float(evals[-1]),
        "D": distance,
        "sigma": -1.0 / np.sqrt(number) if untested else (alpha - 1.0) / np.sqrt(number - start),
        "num_pl_spikes": int(np.count_nonzero(values >= evals[start])),
        "status": "success",
        "warning": "over-trained" if alpha < OVER_TRAINED else "under-trained" if alpha > UNDER_TRAINED else "",
    }


def _tails(evals: np.ndarray, starts: Iterable[int], lost: float) -> list[tuple[int, float, float]]:
    """Start, α and D of each tail in the tool's own arithmetic, with α = 1 + (n − ``lost``)/Σ ln(x_j/x_min)."""
    logs, tails = np.log(evals), []
    for i in starts:
        number = float(len(evals) - i)
        spread = np.sum(logs[i:]) - number * logs[i]
        if not lost or spread > 1e-12:
            alpha = float(1 + (number - lost) / spread)
            steps = np.arange(number) / number
            distance = np.max(np.abs(1 - (evals[i:] / evals[i]) ** (-alpha + 1) - steps)) if alpha > 1 else 1.0
            tails.append((i, alpha, float(distance)))
    return tails


def fit_noise(eigenvalues: np.ndarray, N: int, M: int) -> dict[str, Any]:
    """Fit the bulk of a layer's eigenvalues (n,) as the tool does; N and M are the dimensions that the tool uses.

    Returns the columns of its ``details`` that come from its Marchenko–Pastur fit, −1 if it failed. ``num_spikes`` :
    number of eigenvalues above the edge of the bulk. ``sigma_mp`` : fitted scale, after the eigenvalues were scaled to
    mean one. ``mp_softrank`` : upper edge divided by the largest eigenvalue. ``W_scale`` : square root of the factor on
    the eigenvalues. ``bulk_min``, ``bulk_max`` : edges of the bulk.

    >>> weights = np.random.default_rng(0).standard_normal((60, 30))
    >>> fit = fit_noise(np.linalg.svd(weights, compute_uv=False) ** 2, 60, 30)
    >>> bool(0.9 < fit["mp_softrank"] < 1.1), fit["num_spikes"]
    (True, 0)
    """
    names = ("num_spikes", "sigma_mp", "mp_softrank", "W_scale", "bulk_min", "bulk_max")
    total = float(eigenvalues.sum())
    if total <= 0:
        return {**dict.fromkeys(names, -1.0), "num_spikes": -1}
    ratio = N / M
    scale = np.sqrt(len(eigenvalues)) / np.sqrt(total)
    scaled = scale * scale * eigenvalues
    largest = float(scaled.max())
    sigma = _fit_sigma(np.sqrt(scaled) if ratio == 1 else scaled, ratio, largest)
    bottom, top = (float((sigma * (1 + sign / np.sqrt(ratio))) ** 2) for sign in (-1, 1))
    edge = top + np.sqrt(1 / np.sqrt(ratio) * top ** (2 / 3) * M ** (-2 / 3))
    spikes = int(np.count_nonzero(scaled > edge))
    values = (spikes, sigma, top / largest, float(scale), bottom / scale**2, top / scale**2)
    return dict(zip(names, values, strict=True))


def _fit_sigma(values: np.ndarray, ratio: float, largest: float) -> float:
    grid = np.linspace(0, values.max() + 0.5, POINTS)
    density = _kernel_density(values, grid)
    grid, density = grid[density > THIN], density[density > THIN]
    mode = grid[np.argmax(density >= density.max() * (1 - 1e-12))]  # left end of a plateau, despite rounding
    unit = np.sqrt(largest / np.square(1 + 1 / np.sqrt(ratio)))

    def misfit(sigma: np.ndarray) -> float:
        if ratio == 1:
            model = np.fmax(1 / (np.pi * sigma * sigma) * np.sqrt(4 - grid**2), 0.0)
        else:
            low, high = (np.power(sigma * (1 + sign * np.sqrt(1 / ratio)), 2) for sign in (-1, 1))
            if high < mode or high > grid.max() or low > mode:
                return REFUSED**2 * len(grid)
            root = np.sqrt((high - grid) * (grid - low))
            model = np.fmax(1 / (2 * np.pi * sigma * sigma * grid / ratio) * root, 0.0)
        return float(np.sum((model - density) ** 2))

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return float(np.ravel(scipy.optimize.brute(misfit, (slice(0.05 * unit, 2.0 * unit, 0.01 * unit),)))[0])


def _kernel_density(values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Kernel density at the grid points, with a triangle of half-width 0.1, by cumulative sums over sorted values."""
    values = np.sort(values)
    sums = np.r_[0.0, np.cumsum(values)]
    left, here, right = (np.searchsorted(values, grid + shift) for shift in (-BANDWIDTH, 0.0, BANDWIDTH))
    below = (here - left) * (BANDWIDTH - grid) + (sums[here] - sums[left])
    above = (right - here) * (BANDWIDTH + grid) - (sums[right] - sums[here])
    return (below + above) / (BANDWIDTH**2 * len(values))
