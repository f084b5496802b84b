"""The bulk of noise in a spectrum, and what stands out of it: a fit of the law of Marchenko and Pastur.

Spikes must not move the fit, so σ comes from the middle half of the bulk by rank: eigenvalues keep to their places like
no independent draws do, and the middle half fixes σ to within O(1/M). Spikes are counted above the edge of noise, with
the fluctuation of its largest eigenvalue (:mod:`capcore.spectra.tracy_widom`), and taken out until their number stays.
A planted spike of strength θ is seen only above σ(M/N)^¼ (Baik, Ben Arous & Péché 2005): below, nothing sticks out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.spectra.marchenko_pastur import bulk_distribution, bulk_edges, bulk_quantiles
from capcore.spectra.tracy_widom import edge
from capcore.validation import finite_array, finite_number, positive_integer

CENTRAL = (0.25, 0.75)  # of the bulk, by rank: what is fitted


@dataclass(frozen=True)
class BulkFit:
    """A bulk of noise fitted to a spectrum, in the units of its eigenvalues.

    Attributes
    ----------
    sigma : standard deviation of the noise's entries. lower, upper : λ±, ends of the bulk.
    threshold : upper end with the fluctuation of the largest eigenvalue of one matrix of noise. n_spikes : eigenvalues
    above it. soft_rank : λ₊/λ_max, about one for noise and small for a strong spike.
    distance : largest difference between the distribution of the bulk's eigenvalues and the law; a matrix of noise has
    about 1/M. It says whether there is such a bulk at all: the other numbers do not.
    """

    sigma: float
    lower: float
    upper: float
    threshold: float
    n_spikes: int
    soft_rank: float
    distance: float


def fit_bulk(
    eigenvalues: np.ndarray, shape: tuple[int, int], *, divisor: float | None = None, level: float = 0.99
) -> BulkFit:
    """The bulk of (n,) eigenvalues of WᵀW/divisor, in any order.

    Parameters
    ----------
    eigenvalues : of one matrix, or of several of one shape together: a multiple of its shorter side, zeros included.
    shape : rows and columns of the matrix, in any order. divisor : what the eigenvalues were divided by; N, the longer
        side, by default. From a density: ``fit_bulk(d.eigenvalues, d.shape, divisor=d.divided_by)``.
    level : probability that the largest eigenvalue of a matrix of noise stays below the threshold.

    Raises ``ValueError`` for fewer than 8 eigenvalues, and if more than a quarter of them are zero: rows or columns
    of zeros must be taken out first.

    >>> noise = np.random.default_rng(0).normal(scale=0.5, size=(100, 400))
    >>> fit = fit_bulk(np.linalg.eigvalsh(noise @ noise.T) / 400, (100, 400))
    >>> round(fit.sigma, 2), fit.n_spikes
    (0.5, 0)
    """
    values = np.sort(finite_array(eigenvalues, "eigenvalues", 1))
    n, m = (positive_integer(side, "shape") for side in (max(shape), min(shape)))
    divisor = float(n) if divisor is None else finite_number(divisor, "divisor", "a positive number")
    if divisor <= 0:
        raise ValueError(f"divisor: found {divisor!r}, expected a positive number.")
    if values.size < 8 or values.size % m:
        raise ValueError(
            f"eigenvalues: found {values.size}, expected a multiple of {m} and at least 8: zeros included."
        )
    if values[0] < 0 or values[values.size // 4] <= 0:
        raise ValueError(
            f"eigenvalues: found {np.count_nonzero(values <= 0)} of {values.size} that are not positive, "
            "expected fewer than a quarter, and none negative. Take out rows and columns of zeros."
        )
    n_matrices, n_spikes, tried = values.size // m, 0, set()
    while n_spikes not in tried:
        tried.add(n_spikes)  # at most half: what is left would be no bulk
        bulk = values[: values.size - n_spikes]
        rows, columns = n - n_spikes / n_matrices, m - n_spikes / n_matrices
        variance = _variance(bulk, columns / rows) * divisor / rows
        threshold = variance * edge(rows, columns, level) / divisor
        above = int(np.count_nonzero(values > threshold))
        n_spikes = min(above, values.size // 2)
    scale = np.sqrt(variance * rows / divisor)
    lower, upper = bulk_edges(columns / rows, scale)
    return BulkFit(
        float(np.sqrt(variance)),
        float(lower),
        float(upper),
        float(threshold),
        above,
        float(upper / values[-1]),
        _distance(bulk, columns / rows, float(scale)),
    )


def _variance(bulk: np.ndarray, ratio: float) -> float:
    """Scale of the law that agrees with ascending eigenvalues in the middle, where spikes and zeros do not reach."""
    first, last = (round(share * bulk.size) for share in CENTRAL)
    expected = bulk_quantiles((np.arange(first, last) + 0.5) / bulk.size, ratio)
    return float(bulk[first:last].sum() / expected.sum())


def _distance(bulk: np.ndarray, ratio: float, scale: float) -> float:
    law, steps = bulk_distribution(bulk, ratio, scale), np.arange(bulk.size + 1) / bulk.size
    return float(max(np.abs(law - steps[:-1]).max(), np.abs(law - steps[1:]).max()))
