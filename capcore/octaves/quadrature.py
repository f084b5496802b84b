"""Long-memory autocovariances as sums of exponentials at any length, by quadrature of their Laplace integrals.

With x = e^t, the trapezoidal rule of step h is exact to about exp(−π²/h) for both integrals below (Trefethen &
Weideman 2014). Exponentials slower than 1/n differ from one another by polynomials of low degree only: Gaussian
quadrature merges them. One more exponential, gone after a single lag, stands for all those that are.
"""

from __future__ import annotations

from math import log

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.special import rgamma

from capcore.octaves.sequence import ExponentialSequence
from capcore.processes import AR1, FractionalGaussianNoise, PowerLaw, Process, WithNugget
from capcore.validation import positive_integer

STEP = 0.26  # exp(−π²/STEP) ≈ 3e-17
SLOW_ORDER = 8  # exponentials into which those slower than 1/n are merged: exact for polynomials of degree 15
FAST = 45.0  # rate from which an exponential is below rounding one lag later


def exponential_sequence(process: Process, n: int) -> ExponentialSequence:
    """The autocovariance of a process at lags 0 … n as near lags and real exponentials, to about 1e-14 of each value.

    Raises ``ValueError`` for processes other than power laws, fractional Gaussian noise and AR(1) with phi ≥ 0, with or
    without a nugget: give the :class:`~capcore.octaves.sequence.ExponentialSequence` of those yourself.

    >>> sequence = exponential_sequence(PowerLaw(0.5), 2**40)
    >>> sequence.n_states, bool(abs(sequence.autocovariance(np.array([2**40]))[0] * 2**20 - 1) < 1e-12)
    (129, True)
    """
    length = log(positive_integer(n, "n") + 1)
    if isinstance(process, WithNugget):
        plain = exponential_sequence(process.process, n)
        return ExponentialSequence(plain.variance + process.nugget, plain.weights, plain.rates, plain.near)
    if isinstance(process, AR1) and process.phi >= 0:
        return ExponentialSequence(1.0, [process.phi], [-log(process.phi) if process.phi > 0 else FAST])
    if isinstance(process, PowerLaw):  # Γ(a) (1 + τ)^(−a) = ∫ x^(a−1) e^(−(1+τ) x) dx
        a = process.exponent
        x = _nodes(length, a)
        return _merged(x, STEP * rgamma(a) * x**a * np.exp(-2 * x), length)
    if isinstance(process, FractionalGaussianNoise):  # Γ(−2H) c_τ = ∫ x^(−2H−1) e^(−τx) 2 sinh²(x/2) dx for τ ≥ 1
        power = 2 * process.hurst
        x = _nodes(length, 2 - power)
        weights = STEP * rgamma(-power) * x ** (2 - power) * (np.expm1(-x) / x) ** 2 / 2
        return _merged(x, weights, length, process.autocovariance(2)[1])
    raise ValueError(
        f"process: found {process!r}, expected a power law, fractional Gaussian noise or AR(1) with phi ≥ 0, with or "
        "without a nugget. Give an ExponentialSequence instead."
    )


def _nodes(length: float, lower: float) -> np.ndarray:
    """Rates e^t on the grid of the trapezoidal rule, for an integrand that falls like e^(lower · t) towards −∞."""
    return np.exp(STEP * np.arange(np.floor((-length - 40 / lower) / STEP), np.ceil(np.log(FAST) / STEP)))


def _merged(rates: np.ndarray, weights: np.ndarray, length: float, first: float | None = None) -> ExponentialSequence:
    """The sequence with c_0 = 1, and c_1 = ``first``, which takes up the exponentials that are faster than any here."""
    slow = rates < np.exp(-length)
    few = _gauss(rates[slow], weights[slow], SLOW_ORDER)
    rates, weights = np.append(few[0], rates[~slow]), np.append(few[1], weights[~slow])
    if first is not None:
        rates, weights = np.append(rates, 2 * FAST), np.append(weights, first - weights.sum())
    return ExponentialSequence(1.0, weights, rates)


def _gauss(nodes: np.ndarray, weights: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the Gaussian quadrature of a discrete measure of one sign (Golub & Welsch 1969).

    The nodes are the eigenvalues of the tridiagonal matrix of Lanczos on diag(nodes), started at √(weights / total).
    """
    basis = np.zeros((order, nodes.size))
    diagonal, beside = np.zeros(order), np.zeros(order)
    total = weights.sum()
    vector = np.sqrt(weights / total) if total else np.ones(nodes.size)
    for k in range(order):
        basis[k] = vector / np.linalg.norm(vector)
        vector = nodes * basis[k]
        diagonal[k] = basis[k] @ vector
        for _ in range(2):  # twice is enough for orthogonality to working precision
            vector = vector - basis[: k + 1].T @ (basis[: k + 1] @ vector)
        beside[k] = np.linalg.norm(vector)
    values, vectors = eigh_tridiagonal(diagonal, beside[:-1])
    return np.maximum(values, 0.0), total * vectors[0] ** 2
