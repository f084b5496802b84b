"""The optimal predictor of any order in closed form, for sums of decaying exponentials.

Position i of a block and position j of the block before it are i + j + 1 apart, where j counts backwards from the
common edge. With c_τ = Σ_m w_m e^(−λ_m (τ − 1)) for τ ≥ 1, the earlier block acts on the later one only through a
*state* at the edge: one number per exponential.

**The predictor** is a sum of exponentials from both ends of the receptive field. Where c_τ = Σ_m w_m ρ_m^(τ−1) for τ ≥
1, with positive weights, the spectral density f(z) = Σ_τ c_τ z^τ is a rational function of z + 1/z with real poles ρ_m
and real zeros z_k that interlace with them. Σ turns z_k^i into multiples of ρ_m^i and ρ_m^(n−1−i) alone, so that A*_i =
Σ_k α_k z_k^i + β_k z_k^(n−1−i) solves ΣA* = (c_1, …, c_n) exactly, with 2M unknowns for 2M powers, whatever n
is. Such a sum is a tensor train of rank 2M, which is then rounded to the available channels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from capcore.checks.arguments import finite_array, finite_number
from capcore.results.notebook import Record


@dataclass(frozen=True, eq=False, repr=False)
class ExponentialSequence(Record):
    """The sequence c_0 = variance, c_τ = Σ_m weights_m exp(−rates_m (τ − 1)) for τ ≥ 1.

    Attributes
    ----------
    variance : float
        c_0.
    weights : (M,) array
        Real.
    rates : (M,) array
        Real and non-negative.

    Examples
    --------
    >>> ExponentialSequence(1.5, [0.5], [np.log(2)]).autocovariance(3).round(12).tolist()
    [1.5, 0.5, 0.25]
    """

    variance: float
    weights: np.ndarray
    rates: np.ndarray

    def __post_init__(self) -> None:
        vars(self)["variance"] = finite_number(self.variance, "variance")
        for name in ("weights", "rates"):
            value = getattr(self, name)
            vars(self)[name] = finite_array(value, name, 1) if np.size(value) else np.zeros(0)
        if self.weights.shape != self.rates.shape or not (self.rates >= 0).all():
            raise ValueError(f"rates: found {self.rates}, expected {self.weights.size} numbers of at least 0.")

    def autocovariance(self, lags: int | np.ndarray) -> np.ndarray:
        """c at the given lags, or at 0 … lags − 1 for a whole number."""
        tau = np.arange(lags) if isinstance(lags, int) else np.asarray(lags)
        values = np.exp(-np.multiply.outer(tau - 1.0, self.rates).clip(0)) @ self.weights
        values[tau == 0] = self.variance
        return values

    def advance(self, states: np.ndarray, distance: int) -> np.ndarray:
        """States (M, …) as seen from an edge that lies ``distance`` positions further on."""
        return (states.T * np.exp(-self.rates * float(distance))).T


ABSENT = 1e-300  # a zero of the spectral density that acts like z = 0: its power is 1 at lag 0 and vanishes beyond


def optimal_predictor(sequence: ExponentialSequence, kernel_sizes: Sequence[int]) -> list[np.ndarray]:
    """A* for a sequence of exponentials with positive weights, as cores (r_{l−1}, n_l, r_l), all inner ranks 2M.

    Takes O(M³) whatever the order n_1 ⋯ n_L. Raises ``ValueError`` if a weight is not positive, or the covariance is
    not positive definite.

    >>> from capcore.large.exponentials import exponential_sequence
    >>> from capcore.processes import PowerLaw
    >>> optimal_predictor(exponential_sequence(PowerLaw(0.5), 2), [2])[0].ravel().round(4).tolist()
    [0.5977, 0.1547]
    """
    n, k = sequence.weights.size, np.count_nonzero(sequence.weights > 0)
    if k < max(n, 1):
        raise ValueError(f"sequence: found {n} exponentials, of which {k} have positive weights, expected all.")
    order = np.argsort(sequence.rates)
    poles, weights = sequence.rates[order], sequence.weights[order]
    rates, gaps = _interlacing(poles, weights, sequence.variance)
    lowest, apart = _last_zero(poles, weights, sequence.variance)
    rho = np.exp(-poles)
    # ρ_m − z_k and 1 − ρ_m z_k, the former from differences of rates without cancellation
    apart = np.column_stack([-rho[:, None] * np.expm1(gaps), apart])
    product = np.column_stack([-np.expm1(-np.add.outer(poles, rates)), 1 - rho * lowest])
    signs = np.append(np.ones(rates.size), np.sign(lowest))
    rates = np.append(rates, -np.log(abs(lowest)))

    def powers(exponents: Iterable[int]) -> np.ndarray:
        return np.array([signs ** (m % 2) * np.exp(-rates * float(m)) for m in exponents])

    n = prod(kernel_sizes)
    ends = np.concatenate(_solve(1 / apart, powers([n])[0] / product))
    cores, extent = [], 1
    for taps in kernel_sizes:
        own = powers(range(0, extent * taps, extent))
        both = np.concatenate([own, own[::-1]], axis=1)  # (taps, 2M): from the near end, and from the far one
        cores.append(np.einsum("tk,kj->ktj", both, np.eye(ends.size)))
        extent *= taps
    cores[0] = np.tensordot(ends[None], cores[0], 1)
    cores[-1] = cores[-1].sum(axis=2, keepdims=True)
    return cores


def _solve(direct: np.ndarray, around: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """forward, backward with direct·forward − around·backward = 1 and direct·backward − around·forward = 0."""
    result = []
    for sign in (-1.0, 1.0):  # for the sum and the difference of the two
        matrix = direct + sign * around
        rows = 1 / np.abs(matrix).max(axis=1)
        scaled = matrix * rows[:, None]
        columns = 1 / np.abs(scaled).max(axis=0)
        result.append(columns * np.linalg.solve(scaled * columns, rows))
    return (result[0] + result[1]) / 2, (result[0] - result[1]) / 2


def _interlacing(poles: np.ndarray, weights: np.ndarray, variance: float) -> tuple[np.ndarray, np.ndarray]:
    """Rates μ_k (M − 1,) of the zeros between the poles, and the differences λ_m − μ_k (M, M − 1)."""
    rates, gaps = np.empty(poles.size - 1), np.empty((poles.size, poles.size - 1))
    for k, width in enumerate(np.diff(poles)):

        def differences(u: float, k: int = k, width: float = width) -> np.ndarray:
            below = poles[: k + 1] - poles[k] - width * expit(u)
            return np.concatenate([below, poles[k + 1 :] - poles[k + 1] + width * expit(-u)])

        def density(u: float) -> float:
            gap = differences(u)
            mu = poles - gap
            both = np.exp(-mu) / np.expm1(-poles - mu) + np.exp(mu) / np.expm1(-gap)  # e^μ may be large
            return variance - float(np.sum(weights * both))

        u = brentq(density, -600.0, 600.0, xtol=1e-14, rtol=1e-15, maxiter=300)
        gaps[:, k] = differences(u)
        rates[k] = poles[k] + width * expit(u)
    return rates, gaps


def _last_zero(poles: np.ndarray, weights: np.ndarray, variance: float) -> tuple[float, np.ndarray]:
    """The zero z that is not between two poles, negative or below the least ρ_m, and the differences ρ_m − z."""
    rho = np.exp(-poles)

    def density(z: float, apart: np.ndarray) -> float:
        return variance + float(np.sum(weights * (z / (1 - rho * z) - 1 / apart)))

    if not density(-1.0, rho + 1) > 0:
        raise ValueError("sequence: not positive definite. Found no positive spectral density at frequency ½.")
    at_zero = density(0.0, rho)
    if abs(at_zero) < 1e-14 * variance:  # the exponentials extend to lag 0: c_0 = Σ_m w_m / ρ_m
        return -ABSENT, rho + ABSENT
    if at_zero < 0:
        z = float(brentq(lambda z: density(z, rho - z), -1.0, -ABSENT, xtol=ABSENT, rtol=1e-15, maxiter=5000))
        return z, rho - z
    others, last = rho[:-1] - rho[-1], rho[-1]

    def differences(u: float) -> np.ndarray:
        return np.append(others, 0.0) + last * expit(-u)

    u = float(brentq(lambda u: density(last * expit(u), differences(u)), -600.0, 600.0, xtol=1e-14, rtol=1e-15))
    return float(last * expit(u)), differences(u)
