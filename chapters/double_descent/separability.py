"""Linear separability of dichotomies: of one, exactly; and in probability, by Cover's function counting.

Twice as many points as dimensions is where a random dichotomy becomes unlikely to be separable (Cover, 1965): the
second complexity that is known in closed form, for a criterion of zero and one.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
from scipy.optimize import nnls
from scipy.stats import binom

from capcore.complexity.effective import Sample
from capcore.validation import finite_array, finite_number, positive_integer


def separable(inputs: object, labels: object) -> bool:
    """Whether a hyperplane through the origin has all points of one label on one side, none on the plane itself.

    Inputs (n, d), labels (n,) of which those above zero are one class. Either some w has y_i⟨w, x_i⟩ > 0 for all i, or
    some convex combination of the y_i x_i is zero (Gordan's theorem). Non-negative least squares finds the shortest
    convex combination, up to its length; where there is one, it is such a w, which is then checked.

    >>> separable([[1.0], [2.0]], [1, 1]), separable([[1.0], [2.0]], [1, -1])
    (True, False)
    """
    x, y = finite_array(inputs, "inputs", 2), finite_array(labels, "labels", 1)
    if len(x) != len(y):
        raise ValueError(f"labels: found {len(y)}, expected {len(x)}, one for each input.")
    signed = np.where(y > 0, 1.0, -1.0)[:, None] * x
    signed /= max(float(np.abs(signed).max()), np.finfo(float).tiny)
    shares, _ = nnls(np.vstack([signed.T, np.ones(len(x))]), np.r_[np.zeros(x.shape[1]), 1.0])
    return bool((signed @ (shares @ signed) > 0).all())


def not_separable(inputs: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> float:
    """1 where the labels are not :func:`separable`, 0 where they are: a procedure's training error."""
    return float(not separable(inputs, labels))


def separable_probability(n: object, n_inputs: int) -> np.ndarray:
    """Probability that a random dichotomy of n points in general position in ``n_inputs`` dimensions is separable.

    2^(1−n) Σ_{k < n_inputs} C(n − 1, k) (Cover's function-counting theorem, 1965), for n (…) of at least 1; shape (…).

    >>> separable_probability([1, 3, 6, 12], 3).round(3).tolist()
    [1.0, 1.0, 0.5, 0.033]
    """
    counts = finite_array(n, "n", (0, 1, 2))
    if (counts < 1).any() or (counts != np.rint(counts)).any():
        raise ValueError(f"n: found {counts.min():g} among them, expected whole numbers of at least 1.")
    return np.asarray(binom.cdf(positive_integer(n_inputs, "n_inputs") - 1, counts - 1, 0.5))


def separable_complexity(n_inputs: int, epsilon: float = 0.5) -> int:
    """Largest n at which a random dichotomy is not separable with probability of at most ``epsilon``: 2d at one half.

    >>> separable_complexity(10), separable_complexity(10, 0.05)
    (20, 14)
    """
    d, epsilon = positive_integer(n_inputs, "n_inputs"), finite_number(epsilon, "epsilon")
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon: found {epsilon!r}, expected a probability below 1: beyond it nothing fails.")
    limit, n = 1 - Fraction(epsilon), d
    while Fraction(sum(comb(n, k) for k in range(d)), 2**n) >= limit:  # of n + 1 points, in whole numbers
        n += 1
    return n


def random_dichotomies(n_inputs: int) -> Sample:
    """Samples of standard normal inputs (n, n_inputs) with labels (n,) of ±1 at random."""
    d = positive_integer(n_inputs, "n_inputs")
    return lambda n, rng: (rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n))
