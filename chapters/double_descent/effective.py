"""Effective model complexity: the largest sample that a training procedure still fits (slides; Nakkiran et al., 2020).

EMC_{D,ε}(T) = max { n : E_{S ∼ Dⁿ} [Error_S(T(S))] ≤ ε }, Definition 1 there, and the last measure in the slides' list.
It belongs to a procedure T and a distribution D together: to model, optimiser, its steps, labels and criterion.

The mean error is measured by drawing samples, at few sizes: some on a coarse grid, which would show that it does not
grow with n, and those of a bisection between the last of them that passes and the next.
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from scipy.linalg import lstsq
from scipy.stats import sem
from scipy.stats import t as student

Sample = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
"""Of n and a generator: n inputs and their labels."""
Procedure = Callable[[np.ndarray, np.ndarray, np.random.Generator], object]
"""Of inputs, labels and a generator: the training error, or a function from inputs to predictions."""


def training_error(procedure: Procedure, sample: Sample, n: int, rng: np.random.Generator) -> float:
    """Training error of a procedure on one sample of n, its own report or the mean squared error of its predictions.

    The square is summed over outputs.

    >>> def silent(inputs, labels, rng):
    ...     return lambda x: np.zeros(len(x))
    >>> round(training_error(silent, noise(1), 10**6, np.random.default_rng(0)), 2)
    1.0
    """
    inputs, labels = sample(n, rng)
    outcome = procedure(inputs, labels, rng)
    return float(np.sum((outcome(inputs) - labels) ** 2)) / n if callable(outcome) else float(outcome)  # type: ignore[arg-type]


def noise(n_inputs: int) -> Sample:
    """Samples of standard normal inputs (n, n_inputs) and standard normal labels (n,) that do not depend on them."""
    return lambda n, rng: (rng.standard_normal((n, n_inputs)), rng.standard_normal(n))


def least_squares(inputs: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> Callable:
    """Predictions of the least squares of least norm: a procedure whose complexity is the rank of its inputs.

    Inputs (n, d), labels (n,) or (n, k); the generator is not used.

    >>> least_squares(np.eye(2), np.ones(2), None)(np.eye(2)).round(9).tolist()
    [1.0, 1.0]
    """
    smallest = max(inputs.shape) * np.finfo(float).eps  # of the singular values, relative to the largest
    coefficients = lstsq(inputs, labels, cond=smallest, lapack_driver="gelsy")[0]  # faster than a full SVD
    return lambda x: x @ coefficients


class ModelComplexity:
    """The largest sample size with a mean training error of at most ε, from errors: size → (n_trials,), two or more.

    The value is one of the sizes given, so that it is no better than their spacing.

    Attributes
    ----------
    value : int
        That size; one below the least size tried if none passes.
    low, high : int
        Its interval: the same threshold for the upper and for the lower end of Student's 95 % interval of every mean
        error. Where all trials agree, the interval of a mean has no width, and rare failures go unseen; with few trials
        of unequal errors it is wide.
    sizes : (K,) array
        Tried, ascending.
    errors : (K, n_trials) array
        Training errors there.

    Examples
    --------
    >>> ModelComplexity({10: [0.0, 0.0], 20: [0.0, 0.1], 40: [0.3, 0.5]}, 0.1).value
    20
    """

    def __init__(self, errors: Mapping[int, object], epsilon: float) -> None:
        self.sizes = sizes = np.array(sorted(errors))
        self.errors = np.array([errors[n] for n in sizes.tolist()], float)
        half_widths = student.ppf((1 + 0.95) / 2, self.errors.shape[1] - 1) * sem(self.errors, axis=1)

        def largest(bounds: np.ndarray) -> int:
            passing = sizes[bounds <= epsilon]
            return int(passing[-1]) if len(passing) else int(sizes[0]) - 1

        ends = self.means, self.means + half_widths, self.means - half_widths
        self.value, self.low, self.high = map(largest, ends)

    @property
    def means(self) -> np.ndarray:
        """(K,) mean training errors."""
        return self.errors.mean(axis=1)

    @property
    def censored(self) -> bool:
        """Whether the largest size tried passes, so that the value is only a lower bound."""
        return self.value == self.sizes[-1]


def model_complexity(
    procedure: Procedure,
    sample: Sample,
    rng: np.random.Generator,
    *,
    epsilon: float,
    maximum: int,
    minimum: int = 1,
    n_trials: int = 10,
    n_probes: int = 8,
) -> ModelComplexity:
    """The :class:`~chapters.double_descent.effective.ModelComplexity` of a training procedure.

    Parameters
    ----------
    procedure : callable
        Of inputs (n, …), labels (n, …) and a generator; returns the training error, or a function from inputs to
        predictions, whose mean squared error is then taken.
    sample : callable
        Of n and a generator; returns n inputs and their labels.
    rng : Generator
        Every trial of every size has a generator of its own, made from it.
    epsilon : float
        Largest mean error that counts as a fit.
    maximum, minimum : int
        Sizes tried, up to and from.
    n_trials : int
        Samples drawn at every size.
    n_probes : int
        Sizes of the coarse grid, in equal ratios. A range of sizes that fails and lies between two of them is missed;
        more probes see narrower ones.

    Examples
    --------
    >>> model_complexity(least_squares, noise(3), np.random.default_rng(0), epsilon=1e-9, maximum=50).value
    3
    """
    root = int(rng.integers(2**63))
    errors: dict[int, list[float]] = {}

    def measured(sizes: Iterable[int]) -> ModelComplexity:
        """With more sizes; each error has a generator of its own, and does not depend on what else is tried."""
        for n in sizes:
            generators = [np.random.default_rng([root, n, trial]) for trial in range(n_trials)]
            errors[n] = [training_error(procedure, sample, n, generator) for generator in generators]
        return ModelComplexity(errors, epsilon)

    complexity = measured(sorted(set(np.rint(np.geomspace(minimum, maximum, n_probes)).astype(int).tolist())))
    for end in ("value", "low", "high"):
        while (middle := _between(complexity.sizes, getattr(complexity, end))) is not None:
            complexity = measured([middle])
    return complexity


def _between(sizes: np.ndarray, value: int) -> int | None:
    """The size halfway between the threshold so far and the next that was tried; None once they are neighbours."""
    above = sizes[sizes > value]
    return None if len(above) == 0 or above[0] - value <= 1 or value < sizes[0] else int(value + above[0]) // 2
