"""When are shuffled weights like Gaussian noise of the same variance? Almost always; here are the exceptions.

Spectra of large matrices of independent entries depend on their law through its variance only. What is left of a layer
after its entries are shuffled therefore has the spectrum of Gaussian noise, unless one of three things survives:

- the **mean** μ, a matrix of rank one and size μ·√(rows·columns);
- a single **large entry** x, a matrix of rank one and size x;
- **heavy tails**: so many large entries that they change the sums of squares of rows and columns.

A matrix of rank one appears beside the spectrum of noise of standard deviation σ if its size exceeds
σ·(rows·columns)^¼ (Baik, Ben Arous & Péché 2005; Benaych-Georges & Nadakuditi 2012). Well below this threshold it
changes nothing, but near it the largest eigenvalues already move, so both are taken into account from ``MARGIN`` of the
threshold on. An entry of t thresholds adds t⁴ to the kurtosis. What the excess kurtosis of all other entries does is of
order 1/m for each unit, m being the shorter side, where the largest eigenvalue itself fluctuates by about m^(−2/3). So
what matters is the excess in units of m^⅓, and ``HEAVY`` is its limit.

Both numbers were measured with 500 or 1,000 exponents on each side, for matrices from 64 × 64 to 384 × 1,536. Up to
four entries of 0.9 of the threshold move the distribution of α by no more than chance (distances of Kolmogorov and
Smirnov of 0.03 to 0.07), but a single one of 1.3 by 0.23 to 0.56. Sparse, Laplace and t distributed weights within
``HEAVY`` move it by 0.04 to 0.11. Of their p-values, 3 to 7 % are 0.05 or less, where chance gives 5 %.
"""

from dataclasses import dataclass

import numpy as np

MARGIN = 0.9
"""Share of the detection threshold from which a mean or an entry is taken into account."""
MOST = 32
"""Largest number of entries, on average over the matrices of a layer, that are put into draws of noise."""
HEAVY = 2.0
"""Limit on the excess kurtosis of the other entries, in units of m^⅓, beyond which the weights are shuffled."""
LEAST = 0.4
"""Share of the threshold from which entries are looked at one by one, should the kurtosis need fewer of them."""
CHUNK = 2**18  # entries that are looked at together, so that they stay in the cache
PASSES = 4  # over the entries, because the largest raise the standard deviation that the others are compared with


@dataclass(frozen=True, eq=False)
class Departures:
    """What distinguishes the shuffled weights of a layer from Gaussian noise.

    Attributes
    ----------
    sd : float
        Standard deviation of the weights without the large entries.
    mean : float
        Their mean in units of ``sd``, or 0 if it is well below the detection threshold.
    large : (k,) array
        Large entries in units of ``sd``, less the mean.
    kurtosis : float
        Excess kurtosis of the other entries, or infinity if there are too many large ones.
    side : int
        Shorter side of each matrix.
    """

    sd: float
    mean: float
    large: np.ndarray
    kurtosis: float
    side: int

    @property
    def n_blocked(self) -> int:
        """Number of rows and columns that a draw of noise has to keep apart."""
        return len(self.large) + (self.mean != 0)

    @property
    def are_few(self) -> bool:
        """Whether noise with a mean and these large entries describes the shuffled weights."""
        return self.sd > 0 and abs(self.kurtosis) <= HEAVY * self.side ** (1 / 3)


def departures(weights: np.ndarray, shape: tuple[int, int]) -> Departures:
    """Find the :class:`Departures` of the weights of a layer, whose matrices have the given ``shape``.

    Entries beyond ``MARGIN`` are large, and more of them if the kurtosis of the others would exceed its limit.

    >>> weights = np.random.default_rng(0).normal(size=(60, 80))
    >>> weights[3, 4] = 50.0
    >>> exceptions = departures(weights, (60, 80))
    >>> exceptions.large.round(-1).tolist(), exceptions.mean, exceptions.are_few
    ([50.0], 0.0, True)
    """
    flat, side, size = weights.reshape(-1, order="A"), min(shape), shape[0] * shape[1]
    root, most = float(size) ** 0.25, MOST * max(1, weights.size // size)
    unit = float(np.ldexp(1.0, int(np.frexp(max(flat.max(initial=0), -flat.min(initial=0)))[1])))
    center, sd, kurtosis, large = _without(*_sums(flat, unit, 0.0, np.inf, most), 0.0, np.inf, np.inf)
    for _ in range(PASSES):
        n_before, about = len(large), center
        sums, others = _sums(flat, unit, about, LEAST * root * sd, 8 * most)
        if not sd or len(others) > 8 * most:
            return Departures(sd * unit, 0.0, np.zeros(0), np.inf, side)
        center, sd, kurtosis, large = _without(sums, others, about, MARGIN * root, HEAVY * side ** (1 / 3))
        if len(large) == n_before:
            break
    few = len(large) <= most and sd > 0
    mean = center / sd if sd else 0.0
    mean = mean if abs(mean) * root > MARGIN else 0.0
    return Departures(sd * unit, mean, (large - center) / sd if few else np.zeros(0), kurtosis if few else np.inf, side)


def _sums(flat: np.ndarray, unit: float, about: float, reach: float, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums (5,) of powers 0 to 4 of the entries in ``unit``, less ``about``, and the entries beyond ``reach`` apart.

    The sums are those of the entries within reach. If there are more than ``most`` others, the rest is not looked at.
    """
    sums, beyond = np.zeros(5), [np.zeros(0)]
    for start in range(0, flat.size, CHUNK):
        part = flat[start : start + CHUNK].astype(float) / unit - about
        if reach < np.inf and (far := np.abs(part) > reach).any():
            beyond.append(part[far])
            part = part[~far]
        square = part * part
        sums += [part.size, part.sum(), square.sum(), square @ part, square @ square]
        if sum(map(len, beyond)) > most:
            break
    return sums, np.concatenate(beyond)


def _without(
    sums: np.ndarray, others: np.ndarray, about: float, margin: float, limit: float
) -> tuple[float, float, float, np.ndarray]:
    """Take out the fewest of the ``others``, the largest first, until those left are within the margin and the limit.

    Returns the mean, the standard deviation and the excess kurtosis of all other entries, and those taken out.
    ``margin`` : in standard deviations.
    """
    others = others[np.argsort(-np.abs(others))]
    powers = others ** np.arange(5)[:, None]
    left = sums[:, None] + np.append(np.cumsum(powers[:, ::-1], axis=1)[:, ::-1], np.zeros((5, 1)), axis=1)
    mean, second, third, fourth = left[1:] / np.maximum(left[0], 1.0)
    variance = np.maximum(second - mean**2, 0.0)
    variance[variance <= 1e-24 * second] = 0.0  # constant up to rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        kurtosis = (fourth - 4 * mean * third + 6 * mean**2 * second - 3 * mean**4) / variance**2 - 3
        within = np.append(np.abs(others), 0.0) <= margin * np.sqrt(variance)
    fits = np.flatnonzero((variance > 0) & (kurtosis <= limit) & within)
    k = int(fits[0]) if len(fits) else len(others)
    excess = float(kurtosis[k]) if len(fits) else np.inf
    return about + float(mean[k]), float(np.sqrt(variance[k])), excess, others[:k] + about
