"""Complexities that are known, measured: least squares, separability, and random features of digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from capcore.complexity import ModelComplexity, model_complexity
from capcore.complexity.effective import least_squares, noise
from chapters.double_descent.separability import not_separable, random_dichotomies, separable_probability
from chapters.double_descent.study import feature_sample, wrong_digits

CRITERIA = {"squared": 1e-6, "zero-one": 0.01}
"""Criterion → the tolerance ε it is used with on digits."""


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
    return {
        epsilon: model_complexity(
            least_squares, noise(rank), rng, epsilon=epsilon, maximum=round(4 * rank / (1 - epsilon)), n_trials=n_draws
        )
        for epsilon in tolerances
    }


def of_separability(dimensions: Sequence[int], n_draws: int, rng: np.random.Generator) -> dict[int, ModelComplexity]:
    """Dimension → complexity of linear separation of random dichotomies, with a tolerance of one half."""
    return {
        d: model_complexity(
            not_separable, random_dichotomies(d), rng, epsilon=0.5, maximum=5 * d, n_trials=n_draws, n_probes=5
        )
        for d in dimensions
    }


def laws(rank: int, dimension: int, maximum: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name → sizes and expected errors: of least squares, and of separation by Cover's count."""
    sizes = np.arange(1, maximum + 1)
    return {
        "least squares": (sizes, np.maximum(0.0, 1 - rank / sizes)),
        "separation": (sizes, 1 - separable_probability(sizes, dimension)),
    }


def largest_gap(found: Mapping[int, ModelComplexity]) -> int:
    """Largest difference between a complexity and what it was filed under, without its sign."""
    return max(abs(each.value - expected) for expected, each in found.items())


def of_features(
    n_features: int, kinds: Sequence[str], n_draws: int, rng: np.random.Generator, share: float = 0.2
) -> dict[str, dict[str, ModelComplexity]]:
    """Kind of labels → criterion → complexity of least squares on random features of digits, at most 1,797."""
    found: dict[str, dict[str, ModelComplexity]] = {}
    for kind in kinds:
        sample = feature_sample(n_features, kind, rng, share)
        found[kind] = {
            name: model_complexity(
                least_squares if name == "squared" else wrong_digits(least_squares),
                sample,
                rng,
                epsilon=epsilon,
                minimum=10,
                maximum=1797,
                n_trials=n_draws,
                n_probes=6,
            )
            for name, epsilon in CRITERIA.items()
        }
    return found


def as_text(found: ModelComplexity) -> str:
    """The value with its interval where there is one, or the bound that it is.

    >>> from capcore.complexity import complexity_of_errors
    >>> as_text(complexity_of_errors({10: [0.0, 0.0], 20: [1.0, 1.0]}, epsilon=0.1))
    '10'
    """
    if found.censored:
        return f"{found.value:,} or more"
    return f"{found.value:,}" + ("" if found.low == found.high else f" ({found.low:,} to {found.high:,})")
