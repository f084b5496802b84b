"""The far lags of an autocovariance as a sum of decaying exponentials, c_τ ≈ Σ_k w_k exp(−r_k (τ − first)).

A sum of M exponentials makes the far part of Σ semiseparable: M numbers carry along the inputs what the lags beyond a
point contribute. If the poles are known (AR(1), damped cosines), they are used. Any other sequence
that decays smoothly is fitted on a logarithmic grid of real rates, from which a pivoted QR picks those that are
independent in double precision; least squares gives the weights, of either sign. Completely monotone sequences
such as the power law are integrals over such rates, and need about five for every factor of two in lag.

For processes with long memory, quadrature of their Laplace integrals gives the sum at any length. With x = e^t, the
trapezoidal rule of step h is exact to about exp(−π²/h) for both integrals below (Trefethen & Weideman 2014).
Exponentials slower than 1/n differ from one another by polynomials of low degree only: Gaussian quadrature merges them.
One more exponential, which vanishes after a single lag, replaces all those that do.
"""

from math import log
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh, hessenberg, lstsq, qr
from scipy.special import rgamma

from capcore.checks.arguments import positive_integer
from capcore.large.octaves.predictor import ExponentialSequence
from capcore.processes import AR1, DampedCosine, FractionalGaussianNoise, PowerLaw, Process, WithNugget

TOLERANCE = 1e-13  # largest error at any lag, relative to c_0
SAMPLES_PER_OCTAVE = 48
RATES_PER_OCTAVE = 8
EPS = float(np.finfo(float).eps)


class NoExponentialsError(ValueError):
    """The far lags of a sequence are not a sum of a few decaying exponentials."""


class ExponentialSum(NamedTuple):
    """Σ_k Re(weights_k exp(−rates_k (τ − first))) for the lags τ ≥ first.

    Attributes
    ----------
    rates : (M,) array
        Real or complex, with positive real part; M may be 0.
    weights : (M,) array
        Real or complex, like the rates.
    max_error : float
        Largest error over the lags it was fitted to, relative to c_0.
    """

    rates: np.ndarray
    weights: np.ndarray
    max_error: float


def fit_exponentials(autocovariance: np.ndarray, first: int, poles: np.ndarray | None = None) -> ExponentialSum:
    """Exponentials that reproduce c_first … c_{n−1}, to 1e-13 of c_0 at every single lag.

    Parameters
    ----------
    autocovariance : (n,) array
        c_0 … c_{n−1}.
    first : int
        At least 1.
    poles : (M,) array, optional
        The rates, where they are known.

    Raises
    ------
    NoExponentialsError
        If the error is larger: the sequence does not decay smoothly enough.

    Examples
    --------
    >>> from capcore.processes import PowerLaw
    >>> far = fit_exponentials(PowerLaw().autocovariance(100_000), 256)
    >>> far.rates.size < 80, far.max_error < 1e-14
    (True, True)
    """
    c = np.asarray(autocovariance, dtype=float)
    tail = c[first:]
    if tail.size == 0 or np.abs(tail).max() <= EPS / 8 * c[0]:
        return ExponentialSum(np.zeros(0), np.zeros(0), 0.0)
    offsets = _samples(tail.size, first)
    rates = _independent_rates(offsets, first, tail.size) if poles is None else poles
    weights = _best_weights(offsets, rates, tail[offsets])
    error = _largest_error(tail, rates, weights) / c[0]
    if not error <= TOLERANCE:
        raise NoExponentialsError(
            f"autocovariance: found lags from {first} on that {rates.size} exponentials miss by {error:.1e} of c_0, "
            f"expected at most {TOLERANCE:.1e}. Use method='sketch'."
        )
    return ExponentialSum(rates, weights, float(error))


def known_poles(process: Process) -> np.ndarray | None:
    """Rates (M,) of a process whose autocovariance beyond lag 0 is exactly a sum of exponentials, or None.

    >>> from capcore.processes import DampedCosine
    >>> known_poles(DampedCosine(decay=10.0, period=4.0)).round(4).tolist()
    [(0.1-1.5708j)]
    """
    if isinstance(process, WithNugget):
        return known_poles(process.process)
    if isinstance(process, DampedCosine):
        return np.array([1 / process.decay - 2j * np.pi / process.period])
    if isinstance(process, AR1):
        return -np.log(np.array([process.phi], float if process.phi > 0 else complex)) if process.phi else np.zeros(0)
    return None


def _samples(size: int, first: int) -> np.ndarray:
    """Offsets from the first lag that are fitted: all of a short tail, otherwise evenly spaced in log(lag)."""
    count = int(SAMPLES_PER_OCTAVE * (2 + np.log2((size + first) / first)))
    if size <= 2 * count:
        return np.arange(size)
    spread = np.geomspace(first, first + size - 1, count) - first
    return np.unique(np.concatenate([np.arange(32), spread.round().astype(int)]))


def _independent_rates(offsets: np.ndarray, first: int, size: int) -> np.ndarray:
    """Rates from far below 1/n to far above 1/first whose exponentials are independent in double precision.

    The first m of them span the exponentials about as well as any m do.
    """
    lowest, highest = 0.01 / (first + size), 40.0 / first
    rates = np.geomspace(lowest, highest, int(RATES_PER_OCTAVE * np.log2(highest / lowest)))
    columns = np.exp(-np.outer(offsets, rates))
    triangle, order = qr(columns, mode="r", pivoting=True)
    size_of = np.abs(np.diag(triangle))
    return rates[order[: np.count_nonzero(size_of > 2 * EPS * size_of[0])]]


def _best_weights(offsets: np.ndarray, rates: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(M,) least-squares weights, complex where the rates are."""
    columns = np.exp(-np.outer(offsets, rates))
    if not np.iscomplexobj(rates):
        return lstsq(columns, values, cond=EPS / 8)[0]
    parts = lstsq(np.hstack([columns.real, -columns.imag]), values, cond=EPS / 8)[0]
    return parts[: rates.size] + 1j * parts[rates.size :]


def _largest_error(tail: np.ndarray, rates: np.ndarray, weights: np.ndarray) -> float:
    """Largest |error| over all lags: exponents are split into two digits, so that it takes one matrix product."""
    step = 1024
    starts = np.arange(0, tail.size, step)
    within = np.exp(-np.outer(rates, np.arange(step)))
    values = ((np.exp(-np.outer(starts, rates)) * weights) @ within).real.ravel()
    return float(np.abs(values[: tail.size] - tail).max())


STEP = 0.26  # exp(−π²/STEP) ≈ 3e-17
SLOW_ORDER = 8  # exponentials into which those slower than 1/n are merged: exact for polynomials of degree 15
FAST = 45.0  # rate from which on an exponential is below rounding one lag later


def has_sequence(process: object) -> bool:
    """Whether :func:`exponential_sequence` knows the process.

    >>> has_sequence(AR1(0.5)), has_sequence(AR1(-0.5))
    (True, False)
    """
    if isinstance(process, WithNugget):
        return has_sequence(process.process)
    return isinstance(process, PowerLaw | FractionalGaussianNoise) or (isinstance(process, AR1) and process.phi >= 0)


def exponential_sequence(process: Any, n: int) -> ExponentialSequence:
    """The autocovariance of a process at lags 0 … n as real exponentials, to about 1e-14 of each value.

    Raises ``ValueError`` for processes other than power laws, fractional Gaussian noise and AR(1) with phi ≥ 0, with or
    without a nugget: for other processes construct the
    :class:`~capcore.large.octaves.predictor.ExponentialSequence` yourself.

    >>> sequence = exponential_sequence(PowerLaw(0.5), 2**40)
    >>> sequence.rates.size, bool(abs(sequence.autocovariance(np.array([2**40]))[0] * 2**20 - 1) < 1e-12)
    (129, True)
    """
    length = log(positive_integer(n, "n") + 1)
    if not has_sequence(process):
        expected = "a power law, fractional Gaussian noise or AR(1) with phi ≥ 0"
        raise ValueError(f"process: found {process!r}, expected {expected}. Give an ExponentialSequence instead.")
    if isinstance(process, WithNugget):
        plain = exponential_sequence(process.process, n)
        return ExponentialSequence(plain.variance + process.nugget, plain.weights, plain.rates)
    if isinstance(process, AR1):
        rate = -log(process.phi) if process.phi > 0 else FAST
        return ExponentialSequence(1.0, np.array([process.phi]), np.array([rate]))
    if isinstance(process, PowerLaw):  # Γ(a) (1 + τ)^(−a) = ∫ x^(a−1) e^(−(1+τ) x) dx
        a = process.exponent
        x = _nodes(length, a)
        return _merged(x, STEP * rgamma(a) * x**a * np.exp(-2 * x), length)
    power = 2 * process.hurst  # of the noise: Γ(−2H) c_τ = ∫ x^(−2H−1) e^(−τx) 2 sinh²(x/2) dx for τ ≥ 1
    x = _nodes(length, 2 - power)
    weights = STEP * rgamma(-power) * x ** (2 - power) * (np.expm1(-x) / x) ** 2 / 2
    return _merged(x, weights, length, process.autocovariance(2)[1])


def _nodes(length: float, lower: float) -> np.ndarray:
    """Rates e^t on the grid of the trapezoidal rule, for an integrand that falls like e^(lower · t) towards −∞."""
    return np.exp(STEP * np.arange(np.floor((-length - 40 / lower) / STEP), np.ceil(np.log(FAST) / STEP)))


def _merged(rates: np.ndarray, weights: np.ndarray, length: float, first: float | None = None) -> ExponentialSequence:
    """The sequence with c_0 = 1 and c_1 = ``first``, which covers the exponentials faster than all of these."""
    slow = rates < np.exp(-length)
    nodes, shares = _gauss(rates[slow], weights[slow])
    rates, weights = np.append(nodes, rates[~slow]), np.append(shares, weights[~slow])
    if first is not None:
        rates, weights = np.append(rates, 2 * FAST), np.append(weights, first - weights.sum())
    return ExponentialSequence(1.0, weights, rates)


def _gauss(nodes: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the Gaussian quadrature of a discrete measure of one sign (Golub & Welsch 1969).

    The nodes are the eigenvalues of the leading part of a tridiagonal matrix similar to diag(nodes), whose first basis
    vector is √(weights / total).
    """
    flat = nodes < 1e-18 * nodes.max(initial=0.0)  # these are constants, to rounding
    nodes, weights = np.append(nodes[~flat], 0.0), np.append(weights[~flat], weights[flat].sum())
    total = weights.sum()
    root = np.sqrt(weights / total) if total else np.ones(nodes.size)
    bordered = np.block([[np.zeros((1, 1)), root[None]], [root[:, None], np.diag(nodes)]])
    values, vectors = eigh(hessenberg(bordered)[1 : SLOW_ORDER + 1, 1 : SLOW_ORDER + 1])
    return np.maximum(values, 0.0), total * vectors[0] ** 2
