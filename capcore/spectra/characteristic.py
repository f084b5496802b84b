"""Eigenvalues of many large draws of noise together, from samples of their characteristic polynomials.

LAPACK finds the eigenvalues of a tridiagonal matrix T one after another, and each of its divisions waits for the one
before. Here several matrices and all points x go side by side through the recurrence of det(T − x). With the weight
x^a e^(−x/2) of the noise, a ≈ (N − M)/2, the determinant oscillates with an even amplitude. In a variable ψ in which
the eigenvalues are about evenly spaced, it therefore has a limited band: some 1.6 M points determine it up to rounding,
and the interpolant gives its zeros.

- x = x₀ + r cos(ψ + α₁ sin ψ + α₂ sin 2ψ). The constants were chosen to make the density of eigenvalues in ψ least.
- The cosine series of the samples gives values and slopes at four times as many points.
- A polynomial through the 28 points around a change of sign, or around a dip, gives the zeros there.

Large entries may put eigenvalues beyond the noise. Their eigenvectors decay within the first rows, so they are those of
the leading block, from LAPACK. Nothing is trusted: if a series has not ended, if there are fewer zeros than rows, or if
they do not add up to the trace, the matrix is left to LAPACK.
"""

from functools import lru_cache, reduce
from math import prod
from typing import NamedTuple

import numpy as np
import scipy
from numpy.polynomial.polynomial import polyder, polyval

LEAST = 256
"""Rows from which this saves time."""
TOGETHER = 12_000  # samples that go through the recurrence at once, so that they stay in the cache
OFTEN = 60  # rows of the recurrence between rescalings, in which no value leaves double precision
FINER = 4  # points of the interpolant for each sample
HALF, DEGREE = 14, 14  # points on either side of a zero that its polynomial uses, and the degree that is kept
WIDE, CLOSE = 6.0, -1.5  # widths of the fluctuation beyond the bulk's edge: where samples end, and zeros are taken
STEPS = 12  # of Newton's method; most zeros need four
ROUNDING = 1e-9  # beyond its bracket that a step may end
DECAY = 20.0  # e-folds by which an eigenvector has decayed at the end of the leading block
ENDED, SAME = 1e-9, 1e-12  # largest last coefficient of a series, and the largest relative error of a trace


class Samples(NamedTuple):
    """Where the polynomials for a shape are sampled.

    x = ``center`` + ``gaps`` (n,), the latter between ± ``spread`` and with the ``bends`` α₁ and α₂. ``weight`` (n,) :
    its logarithm. ``limit``, ``rows`` : eigenvalues above this limit are those of the leading block with so many rows.
    """

    center: float
    spread: float
    bends: tuple[float, float]
    gaps: np.ndarray
    weight: np.ndarray
    rows: int
    limit: float


def noise_spectra(diagonals: np.ndarray, beside: np.ndarray, shape: tuple[int, int], *, apart: bool) -> np.ndarray:
    """Eigenvalues (D, m), descending, of D tridiagonal matrices of noise, with errors of up to some 1e-11·λ_max.

    ``diagonals`` (D, m) and ``beside`` (D, m − 1) : of BBᵀ, where B has the singular values of noise of that ``shape``.
    ``apart`` : whether large entries in the first rows may put eigenvalues beyond the noise.
    """
    eigenvalues = np.empty_like(diagonals)
    with np.errstate(all="ignore"):  # an entry of 1e50 leaves double precision, and then its matrix is left to LAPACK
        good = _sampled(diagonals, beside, samples(max(shape), min(shape)), eigenvalues, apart)
    for k in np.flatnonzero(~good):
        eigenvalues[k] = exact(diagonals[k], beside[k])
    return eigenvalues


def together(shape: tuple[int, int]) -> int:
    """Number of matrices whose samples fit into the cache."""
    return max(1, TOGETHER // len(samples(max(shape), min(shape)).gaps))


def exact(diagonal: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """Eigenvalues (m,), descending, of one tridiagonal matrix, from LAPACK."""
    eigenvalues = scipy.linalg.lapack.dsterf(diagonal, beside)[0] if len(beside) else diagonal
    return np.maximum(eigenvalues, 0.0)[::-1]


@lru_cache(maxsize=16)
def samples(n: int, m: int) -> Samples:
    """Points for noise with n × m entries, m ≤ n."""
    long, short = n**0.5, m**0.5
    width = (long + short) * (1 / long + 1 / short) ** (1 / 3)
    below = (long - short) * max(1 / short - 1 / long, 0.0) ** (1 / 3)
    high, low = (long + short) ** 2 + WIDE * width, max((long - short) ** 2 - WIDE * below, 0.0)
    center, spread, ratio = (low + high) / 2, (high - low) / 2, m / n
    bends = (0.6 * ratio**0.5 - 0.08 * ratio**2, 0.184 - 0.075 * ratio - 0.03 * ratio**2)
    psi = np.linspace(0, np.pi, 1001)[1:-1]
    angle = bent(psi, bends)
    density = 2 * np.sin(angle) ** 2 / (1 + ratio + 2 * ratio**0.5 * np.cos(angle))
    density *= 1 + bends[0] * np.cos(psi) + 2 * bends[1] * np.cos(2 * psi)
    number = scipy.fft.next_fast_len(int(density.max() * m + 20 * m ** (1 / 3)), real=True)
    gaps = spread * np.cos(bent((np.arange(number) + 0.5) * np.pi / number, bends))
    weight = (n - m) // 2 * np.log1p(gaps / center) - gaps / 2  # a whole power, which is smooth at zero
    limit = (long + short) ** 2 + CLOSE * width
    k = np.arange(m)
    fall = np.arccosh(np.maximum((limit - (n - k) - (m - k)) / (2 * np.sqrt((n - k) * (m - k))), 1.0)).cumsum()
    rows = min(m, int(np.searchsorted(fall, DECAY)) + 2)
    return Samples(center, spread, bends, gaps, weight, rows, limit)


def bent(psi: np.ndarray, bends: tuple[float, float]) -> np.ndarray:
    """Angle whose cosine is the position, from ψ."""
    return psi + bends[0] * np.sin(psi) + bends[1] * np.sin(2 * psi)


def _sampled(
    diagonals: np.ndarray, beside: np.ndarray, at: Samples, eigenvalues: np.ndarray, apart: bool
) -> np.ndarray:
    """Write into ``eigenvalues`` (D, m), and say for which matrices (D,) they passed all tests."""
    limit = at.limit if apart else np.inf
    tops = [np.zeros(0)] * len(eigenvalues)
    if apart:
        blocks = [exact(d[: at.rows], e[: at.rows - 1]) for d, e in zip(diagonals, beside, strict=True)]
        tops = [values[values > limit] for values in blocks]
    values = _determinants((diagonals - at.center) / at.spread, (beside / at.spread) ** 2, at, tops)
    series = scipy.fft.dct(values, axis=1)
    terms, traces, size = np.abs(series), diagonals.sum(axis=1), diagonals.shape[1]
    ended = terms[:, -8:].max(axis=1) <= ENDED * terms.max(axis=1)
    good = np.zeros(len(eigenvalues), bool)
    for finer in (FINER, 4 * FINER):
        left = np.flatnonzero(ended & ~good)
        which, psi = zeros(series[left], finer * series.shape[1])
        inside = at.center + at.spread * np.cos(bent(psi, at.bends))
        for k, i in enumerate(left):
            part = np.sort(np.append(tops[i], inside[(which == k) & (inside <= limit)]))[::-1]
            if len(part) >= size:  # below a lower edge near zero, rounding may look like a zero
                eigenvalues[i] = part[:size]
                good[i] = abs(eigenvalues[i].sum() - traces[i]) <= SAME * traces[i]
        if good.all():
            break
    return good


def _determinants(diagonals: np.ndarray, squares: np.ndarray, at: Samples, tops: list[np.ndarray]) -> np.ndarray:
    """det(T − x) (D, n) at all samples, with the weight, without factors of what lies beyond, and up to a factor."""
    x, count = at.gaps / at.spread, len(diagonals)
    now, last = np.ones((count, len(x))), np.zeros((count, len(x)))
    logs = np.repeat(at.weight[None], count, axis=0)
    for k, top in enumerate(tops):
        factors = top[:, None] - at.center - at.gaps
        logs[k] -= np.log(np.abs(factors)).sum(axis=0)
        now[k] = np.sign(factors).prod(axis=0)
    squares = np.pad(squares, ((0, 0), (1, 0)))
    for i in range(diagonals.shape[1]):
        last *= squares[:, i, None]
        now, last = (x - diagonals[:, i, None]) * now - last, now
        if i % OFTEN == 0:
            size = np.abs(now) + np.abs(last)
            now /= size
            last /= size
            logs += np.log(size)
    return np.asarray(now * np.exp(logs - logs.max(axis=1, keepdims=True)))


def zeros(series: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Zeros between 0 and π of cosine series (D, n): for each zero, in which series, and where.

    ``number`` : of points at which the series are looked at, at least four for each half of the shortest wave. Three
    zeros between two points are found as one, and one between 0 and the first point is not looked for.
    """
    values = np.pad(scipy.fft.dct(series, 3, n=number, axis=1), ((0, 0), (HALF, HALF)), mode="symmetric")
    rises = -scipy.fft.dst(series[:, 1:] * np.arange(1, series.shape[1]), 3, n=number, axis=1)
    here, next_ = values[:, HALF - 1 : -HALF], values[:, HALF : 1 - HALF]  # the ends of each cell
    toward = np.signbit(values[:, HALF:-HALF]) != np.signbit(rises)  # its size falls
    sides = np.zeros((len(series), 1), bool)
    dips = np.hstack([sides, toward]) & np.hstack([~toward, ~sides])
    changes = np.signbit(here) != np.signbit(next_)
    nearest = np.lib.stride_tricks.sliding_window_view(values, 2 * HALF, axis=1)
    which, cell = np.nonzero(changes)
    left, right = here[which, cell], next_[which, cell]
    place = cell + _newton((nearest[which, cell] @ _taylor()).T, left / (left - right) - 0.5, -0.5, 0.5)
    both, twice = np.nonzero(dips & ~changes)
    local = (nearest[both, twice] @ _taylor()).T
    slopes = polyder(local)
    least = _newton(slopes, np.zeros(len(both)), -0.5, 0.5)
    height = polyval(least, local, tensor=False)
    two = np.signbit(height) != np.signbit(here[both, twice])
    local, slopes, least, both, twice = local[:, two], slopes[:, two], least[two], both[two], twice[two]
    reach = np.sqrt(np.abs(2 * height[two] / polyval(least, polyder(slopes), tensor=False)))
    pairs = [
        twice + _newton(local, least + side * reach, *ends) for side, ends in ((-1, (-0.5, least)), (1, (least, 0.5)))
    ]
    which, psi = np.concatenate([which, both, both]), np.concatenate([place, *pairs]) * np.pi / number
    inside = (psi > 0) & (psi < np.pi)
    return which[inside], psi[inside]


def _newton(columns: np.ndarray, start: np.ndarray, low: float | np.ndarray, high: float | np.ndarray) -> np.ndarray:
    """A zero (K,) of each polynomial, with coefficients (·, K), between ``low`` and ``high``, where it changes sign."""
    below, above = np.full(len(start), low), np.full(len(start), high)
    falling, slopes = polyval(below, columns, tensor=False) > 0, polyder(columns)
    for _ in range(STEPS):
        before, value = start, polyval(start, columns, tensor=False)
        lower = (value > 0) == falling
        below, above = np.where(lower, start, below), np.where(lower, above, start)
        slope = polyval(start, slopes, tensor=False)
        new = start - value / np.where(slope == 0, 1.0, slope)
        inside = (new >= below - ROUNDING) & (new <= above + ROUNDING)
        start = np.where(inside, new, (below + above) / 2)
        if np.abs(start - before).max(initial=0.0) < ROUNDING:
            break
    return start


@lru_cache(maxsize=1)
def _taylor() -> np.ndarray:
    """(2·HALF, DEGREE + 1) From values at points one apart to coefficients of their polynomial around their centre."""
    nodes = range(1 - 2 * HALF, 2 * HALF, 2)  # in halves, so that all products are exact integers
    rows = []
    for node in nodes:
        others = [other for other in nodes if other != node]
        part = reduce(np.convolve, [np.array([-other, 1], object) for other in others])
        scale = prod(node - other for other in others)
        rows.append([part[k] * 2**k / scale for k in range(DEGREE + 1)])
    return np.array(rows)
