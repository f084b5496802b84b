"""Complexities that are known, measured: least squares, linear separation, and random features of digits.

Twice as many points as dimensions is where a random dichotomy becomes unlikely to be separable (Cover, 1965): the
second complexity that is known in closed form, for a criterion of zero and one.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from scipy.optimize import nnls

from chapters.double_descent.effective import ModelComplexity, Sample, least_squares, model_complexity, noise
from chapters.double_descent.study import feature_sample, wrong_digits


def separable(inputs: np.ndarray, labels: np.ndarray) -> bool:
    """Whether a hyperplane through the origin has all points of one label on one side, none on the plane itself.

    Inputs (n, d), labels (n,) of which those above zero are one class. Either some w has y_i⟨w, x_i⟩ > 0 for all i, or
    some convex combination of the y_i x_i is zero (Gordan's theorem). Non-negative least squares finds the shortest
    convex combination, up to its length; where there is one, it is such a w, which is then checked.

    >>> x = np.array([[1.0], [2.0]])
    >>> separable(x, np.array([1, 1])), separable(x, np.array([1, -1]))
    (True, False)
    """
    signed = np.where(labels > 0, 1.0, -1.0)[:, None] * inputs
    signed /= max(float(np.abs(signed).max()), np.finfo(float).tiny)
    shares, _ = nnls(np.vstack([signed.T, np.ones(len(signed))]), np.r_[np.zeros(signed.shape[1]), 1.0])
    return bool((signed @ (shares @ signed) > 0).all())


def not_separable(inputs: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> float:
    """1 where the labels are not :func:`separable`, 0 where they are: a procedure's training error."""
    return float(not separable(inputs, labels))


def separable_complexity(n_inputs: int, epsilon: float = 0.5) -> int:
    """Largest n at which a random dichotomy is not separable with probability of at most ``epsilon``: 2d at one half.

    >>> separable_complexity(10), separable_complexity(10, 0.05)
    (20, 14)
    """
    limit, n = 1 - Fraction(epsilon), n_inputs
    while Fraction(sum(comb(n, k) for k in range(n_inputs)), 2**n) >= limit:  # of n + 1 points, in whole numbers
        n += 1
    return n


def random_dichotomies(n_inputs: int) -> Sample:
    """Samples of standard normal inputs (n, n_inputs) with labels (n,) of ±1 at random."""
    return lambda n, rng: (rng.standard_normal((n, n_inputs)), rng.choice([-1.0, 1.0], n))


def of_least_squares(ranks: Sequence[int], maximum: int, rng: np.random.Generator) -> dict[int, ModelComplexity]:
    """Rank → complexity of least squares on labels that are noise, with a tolerance of 1e-8 of their variance."""
    return {
        rank: model_complexity(least_squares, noise(rank), rng, epsilon=1e-8, maximum=maximum, n_trials=10)
        for rank in ranks
    }


def of_tolerances(
    rank: int, tolerances: Sequence[float], n_draws: int, rng: np.random.Generator
) -> dict[float, ModelComplexity]:
    """ε → complexity of least squares: the largest n with 1 − rank/n ≤ ε, as the expected mean square is that."""
    limits = {epsilon: round(4 * rank / (1 - epsilon)) for epsilon in tolerances}
    return {
        epsilon: model_complexity(least_squares, noise(rank), rng, n_trials=n_draws, epsilon=epsilon, maximum=limit)
        for epsilon, limit in limits.items()
    }


def of_separability(dimensions: Sequence[int], n_draws: int, rng: np.random.Generator) -> dict[int, ModelComplexity]:
    """Dimension → complexity of linear separation of random dichotomies, with a tolerance of one half."""
    options: dict[str, Any] = {"epsilon": 0.5, "n_trials": n_draws, "n_probes": 5}
    return {
        d: model_complexity(not_separable, random_dichotomies(d), rng, maximum=5 * d, **options) for d in dimensions
    }


def largest_gap(complexities: Mapping[int, ModelComplexity]) -> int:
    """Largest difference between a complexity and what it was filed under, without its sign."""
    return max(abs(complexity.value - expected) for expected, complexity in complexities.items())


def of_features(n_features: int, n_draws: int, rng: np.random.Generator, share: float) -> dict[str, ModelComplexity]:
    """Criterion → complexity of least squares on random features of digits with wrong labels, at most 1,797."""
    limits = {"minimum": 10, "maximum": 1797, "n_trials": n_draws, "n_probes": 6}
    sample = feature_sample(n_features, "wrong", rng, share)
    return {
        "squared": model_complexity(least_squares, sample, rng, epsilon=1e-6, **limits),
        "zero-one": model_complexity(wrong_digits, sample, rng, epsilon=0.01, **limits),
    }


def as_text(complexity: ModelComplexity) -> str:
    """The value with its interval where there is one, or the bound that it is.

    >>> from chapters.double_descent.effective import ModelComplexity
    >>> as_text(ModelComplexity({10: [0.0, 0.0], 20: [1.0, 1.0]}, 0.1))
    '10'
    """
    if complexity.censored:
        return f"{complexity.value:,} or more"
    interval = "" if complexity.low == complexity.high else f" ({complexity.low:,} to {complexity.high:,})"
    return f"{complexity.value:,}{interval}"
