"""How N transitions in a row grow, one matrix for all of them or a fresh one for each (paper 2, section 3.9).

A transition is W = 1 + N^−a A. The paper's derivation has independent A at every step; a recurrent network has one.
Products of draws are the one route, the mean of ‖P‖²_F/n, the gain of a squared state, in closed form the other.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import expm
from scipy.special import gammaln, logsumexp

STRUCTURES = ("dense", "local", "antisymmetric", "local antisymmetric")


def random_matrix(structure: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, n) Gaussian A, with columns of squared length one in expectation.

    Parameters
    ----------
    structure : ``dense``: variance 1/n. ``local``: on a circle of units, each reads itself and its two neighbours,
        variance ⅓. ``antisymmetric``: (B − Bᵀ)/√2, B dense. ``local antisymmetric``: neighbours alone, variance ½.

    >>> A = random_matrix("local antisymmetric", 4, np.random.default_rng(0))
    >>> (A != 0).sum().item(), np.abs(A + A.T).max().item()
    (8, 0.0)
    """
    if structure in ("dense", "antisymmetric"):
        A = rng.standard_normal((n, n)) / np.sqrt(n)
        return A if structure == "dense" else (A - A.T) / np.sqrt(2)
    here = np.arange(n)
    A = np.zeros((n, n))
    if structure == "local":
        for offset in (-1, 0, 1):
            A[(here + offset) % n, here] += rng.standard_normal(n) / np.sqrt(3)
        return A
    taps = rng.standard_normal(n) / np.sqrt(2)
    A[(here + 1) % n, here] += taps
    A[here, (here + 1) % n] -= taps
    return A


class Transitions(NamedTuple):
    """N transitions 1 + N^−a A.

    Attributes
    ----------
    structure : of A, see :func:`random_matrix`. exponent : a. shared : one A for all steps, or one for each.
    exponential : W = exp(N^−a A) instead, orthogonal where A is antisymmetric.

    >>> first, second = Transitions("dense", 0.5).matrices(2, 3, np.random.default_rng(0))
    >>> first is second
    True
    """

    structure: str = "dense"
    exponent: float = 0.5
    shared: bool = True
    exponential: bool = False

    def matrices(self, n_steps: int, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """The N matrices (n, n), the first step first. With ``shared`` they are one array."""
        W = None
        for _ in range(n_steps):
            if W is None or not self.shared:
                A = n_steps**-self.exponent * random_matrix(self.structure, n, rng)
                W = expm(A) if self.exponential else np.eye(n) + A
            yield W


ALLOWED = {
    "dense, 1/N": Transitions("dense", 1.0),
    "local, 1/N": Transitions("local", 1.0),
    "antisymmetric, 1/√N": Transitions("antisymmetric", 0.5),
    "local antisymmetric, 1/√N": Transitions("local antisymmetric", 0.5),
}
"""What one matrix for all steps may be."""


def log_gain(transitions: Transitions, n_steps: int, n: int, rng: np.random.Generator) -> float:
    """Log of ‖P‖²_F/n, the mean gain of a squared state, of the product P of N transitions of n units; one draw.

    A logarithm, since the gain itself may overflow.

    >>> abs(round(log_gain(Transitions("antisymmetric", exponential=True), 64, 8, np.random.default_rng(0)), 12))
    0.0
    """
    if transitions.shared:
        W = next(transitions.matrices(n_steps, n, rng))
        radius = np.abs(np.linalg.eigvals(W)).max()  # by which powers grow, but for a factor
        P, log_scale = np.linalg.matrix_power(W / radius, n_steps), n_steps * np.log(radius)
    else:
        P, log_scale = np.eye(n), 0.0
        for W in transitions.matrices(n_steps, n, rng):
            P = W @ P
            size = np.abs(P).max()
            P, log_scale = P / size, log_scale + np.log(size)
    return float(2 * log_scale + np.log(np.sum(P**2) / n))


def log_gains(transitions: Transitions, n_steps: int, n: int, n_draws: int, seed: int = 0) -> list[float]:
    """Independent draws of :func:`log_gain`. Draws at different lengths are independent, too."""
    streams = np.random.SeedSequence([seed, n_steps]).spawn(n_draws)
    return [log_gain(transitions, n_steps, n, np.random.default_rng(stream)) for stream in streams]


def log_mean(draws: list[float]) -> float:
    """Log of the mean gain of a squared state over draws.

    >>> log_mean([np.log(1.0), np.log(3.0)])
    0.69314718...
    """
    return float(logsumexp(draws) - np.log(len(draws)))


def log_mean_interval(draws: list[float]) -> tuple[float, float]:
    """95 per cent percentile bootstrap interval of :func:`log_mean`."""
    logs = np.array(draws)
    chosen = np.random.default_rng(0).integers(len(logs), size=(999, len(logs)))
    low, high = np.quantile(logsumexp(logs[chosen], axis=1) - np.log(len(logs)), [0.025, 0.975])
    return float(low), float(high)


def farthest_from_one(ratios: list[float]) -> float:
    """The ratio whose logarithm is largest in absolute value.

    >>> farthest_from_one([0.5, 1.1, 1.8])
    0.5
    """
    return max(ratios, key=lambda ratio: abs(np.log(ratio)))


def fresh_log_gain(n_steps: int, exponent: float) -> float:
    """Log of the mean gain with fresh A: (1 + N^−2a)^N, exact for every structure at any width.

    >>> round(fresh_log_gain(1024, 0.5), 4)
    0.9995
    """
    return float(n_steps * np.log1p(float(n_steps) ** (-2 * exponent)))


def shared_log_gain(n_steps: int, exponent: float) -> float:
    """Log of the mean gain with one dense A in the limit of many units: Σ_j C(N, j)² N^−2aj.

    The binomial expansion of (1 + N^−a A)^N, and tr A^j (Aᵀ)^k/n → δ_jk for entries of variance 1/n.
    As N grows the sum tends to I₀(2N^{1−a}) for a > ½, and to 1/e of that at a = ½.

    >>> round(float(np.exp(shared_log_gain(4096, 1.0))), 3)  # I₀(2)
    2.279
    """
    j = np.arange(n_steps + 1)
    log_binomial = gammaln(n_steps + 1) - gammaln(j + 1) - gammaln(n_steps - j + 1)
    return float(logsumexp(2 * log_binomial - 2 * exponent * j * np.log(n_steps)))
