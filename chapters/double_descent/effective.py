"""Effective model complexity: the largest sample that a training procedure still fits (slides; Nakkiran et al., 2020).

EMC_{D,ε}(T) = max { n : E_{S ∼ Dⁿ} [Error_S(T(S))] ≤ ε }, Definition 1 there, and the last measure in the slides' list.
It belongs to a procedure T and a distribution D together: to model, optimiser, its steps, labels and criterion.

The mean error is measured by drawing samples, at few sizes: some on a coarse grid, which would show that it does not
grow with n, and those of a bisection between the last of them that passes and the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import lstsq
from scipy.stats import sem
from scipy.stats import t as student

from capcore.checks.arguments import finite_array, finite_number, one_of, positive_integer

Sample = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
"""Of n and a generator: n inputs and their labels."""
Procedure = Callable[[np.ndarray, np.ndarray, np.random.Generator], object]
"""Of inputs, labels and a generator: the training error, or a function from inputs to predictions."""
ERRORS = ("squared", "zero-one")


def training_error(procedure: Procedure, sample: Sample, n: int, rng: np.random.Generator, error: str) -> float:
    """Training error of a procedure on one sample of n, from its own report or from its predictions.

    Parameters
    ----------
    procedure : callable
        This and the others as :func:`model_complexity` takes them.
    sample : callable
    n : int
    rng : Generator
    error : str

    Raises
    ------
    ValueError
        For errors that are negative or not finite.

    Examples
    --------
    >>> def silent(inputs, labels, rng):
    ...     return lambda x: np.zeros(len(x))
    >>> round(training_error(silent, noise(1), 10**6, np.random.default_rng(0), "squared"), 2)
    1.0
    """
    one_of(error, "error", ERRORS)
    inputs, labels = sample(n, rng)
    if len(inputs) != n or len(labels) != n:
        raise ValueError(f"sample: found {len(inputs)} inputs and {len(labels)} labels, expected {n} of each.")
    found = procedure(inputs, labels, rng)
    if callable(found):
        predictions = np.asarray(found(inputs))
        if predictions.shape != np.shape(labels):
            raise ValueError(
                f"procedure: found predictions of shape {predictions.shape}, expected {np.shape(labels)}, the labels'."
            )
        if error == "zero-one":
            return float(np.mean(predictions != labels))
        found = float(np.sum((predictions - labels) ** 2)) / n
    value = finite_number(found, "procedure", "a finite training error, or a function from inputs to predictions")
    if value < 0:
        raise ValueError(f"procedure: found a training error of {value!r}, expected zero or more.")
    return value


def noise(n_inputs: int) -> Sample:
    """Samples of standard normal inputs (n, n_inputs) and standard normal labels (n,) that do not depend on them."""
    d = positive_integer(n_inputs, "n_inputs")
    return lambda n, rng: (rng.standard_normal((n, d)), rng.standard_normal(n))


def least_squares(inputs: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> Callable:
    """Predictions of the least squares of least norm: a procedure whose complexity is the rank of its inputs.

    Inputs (n, d), labels (n,) or (n, k); the generator is not used.

    >>> least_squares(np.eye(2), np.ones(2), None)(np.eye(2)).round(9).tolist()
    [1.0, 1.0]
    """
    smallest = max(inputs.shape) * np.finfo(float).eps  # of the singular values, relative to the largest
    coefficients = lstsq(inputs, labels, cond=smallest, lapack_driver="gelsy")[0]  # faster than a full SVD
    return lambda x: x @ coefficients


@dataclass(frozen=True, eq=False)
class ModelComplexity:
    """The largest sample size with a mean training error of at most ``epsilon``, and what it was read off.

    Attributes
    ----------
    value : int
        That size; one below the least size tried if none passes.
    low, high : int
        Its interval: the same threshold for the upper and for the lower end of Student's interval of every mean error.
        Where all trials agree, the interval of a mean has no width, and rare failures go unseen; with few trials of
        unequal errors it is wide.
    epsilon, confidence : float
        As given.
    sizes : (K,) array
        Tried, ascending.
    errors : (K, n_trials) array
        Training errors there.
    means, half_widths : (K,) array
        Of Student's intervals for the mean errors.
    exceptions : tuple of int
        Sizes below ``value`` whose mean error exceeds ``epsilon``. The definition takes the maximum all the same, which
        then separates nothing.
    censored : bool
        Whether the largest size tried passes, so that ``value`` is only a lower bound.
    """

    value: int
    low: int
    high: int
    epsilon: float
    confidence: float
    sizes: np.ndarray = field(repr=False)
    errors: np.ndarray = field(repr=False)
    means: np.ndarray = field(repr=False)
    half_widths: np.ndarray = field(repr=False)
    exceptions: tuple[int, ...]
    censored: bool

    @property
    def monotone(self) -> bool:
        """Whether every size *tried* below the value passes, as it does where the error grows with the sample.

        A failure at sizes between those tried goes unseen.
        """
        return not self.exceptions


def model_complexity(
    procedure: Procedure,
    sample: Sample,
    rng: np.random.Generator,
    *,
    epsilon: float,
    maximum: int,
    minimum: int = 1,
    error: str = "squared",
    n_trials: int = 10,
    n_probes: int = 8,
    confidence: float = 0.95,
) -> ModelComplexity:
    """The :class:`~chapters.double_descent.effective.ModelComplexity` of a training procedure.

    Parameters
    ----------
    procedure : callable
        Of inputs (n, …), labels (n, …) and a generator; returns the training error, or a function from inputs to
        predictions, of which ``error`` is then taken.
    sample : callable
        Of n and a generator; returns n inputs and their labels.
    rng : Generator
        Every trial of every size has a generator of its own, made from it.
    epsilon : float
        Largest mean error that counts as a fit.
    error : str
        ``squared``, the square summed over outputs and averaged over the sample, or ``zero-one``, the share of labels
        that are not the prediction.
    maximum, minimum : int
        Sizes tried, up to and from.
    n_trials : int
        Samples drawn at every size.
    n_probes : int
        Sizes of the coarse grid, in equal ratios. A range of sizes that fails and lies between two of them is missed,
        and ``monotone`` is then True all the same; more probes see narrower ones.
    confidence : float
        Of the interval.

    Raises
    ------
    ValueError
        For settings out of range, and for errors that are negative or not finite.

    Examples
    --------
    >>> from chapters.double_descent.effective import least_squares, noise
    >>> found = model_complexity(least_squares, noise(3), np.random.default_rng(0), epsilon=1e-9, maximum=50)
    >>> found.value, found.monotone
    (3, True)
    """
    first, last = positive_integer(minimum, "minimum"), positive_integer(maximum, "maximum", 2)
    if first >= last:
        raise ValueError(f"minimum, maximum: found {first} and {last}, expected minimum below maximum.")
    n_trials, n_probes = positive_integer(n_trials, "n_trials", 2), positive_integer(n_probes, "n_probes", 2)
    _check(epsilon, confidence)
    root = int(rng.integers(2**63))
    errors: dict[int, list[float]] = {}

    def measured(sizes: Iterable[int]) -> ModelComplexity:
        """With more sizes; each error has a generator of its own, and does not depend on what else is tried."""
        for n in sizes:
            generators = [np.random.default_rng([root, n, trial]) for trial in range(n_trials)]
            errors[n] = [training_error(procedure, sample, n, each, error) for each in generators]
        return complexity_of_errors(errors, epsilon=epsilon, confidence=confidence)

    found = measured(sorted(set(np.rint(np.geomspace(first, last, n_probes)).astype(int).tolist())))
    for end in ("value", "low", "high"):
        while (middle := _between(found, end)) is not None:
            found = measured([middle])
    return found


def _between(found: ModelComplexity, end: str) -> int | None:
    """The size halfway between the threshold so far and the next that was tried; None once they are neighbours."""
    value = getattr(found, end)
    above = found.sizes[found.sizes > value]
    return None if len(above) == 0 or above[0] - value <= 1 or value < found.sizes[0] else int(value + above[0]) // 2


def complexity_of_errors(errors: Mapping[int, object], *, epsilon: float, confidence: float = 0.95) -> ModelComplexity:
    """The :class:`ModelComplexity` of errors that were measured elsewhere.

    The value is one of the sizes given, so that it is no better than their spacing.

    Parameters
    ----------
    errors : dict
        Size → errors of the trials (n_trials,), two or more.
    epsilon : float
        Largest mean error that counts as a fit.
    confidence : float
        Of the interval.

    Raises
    ------
    ValueError
        For settings out of range, and for fewer than two trials.

    Examples
    --------
    >>> complexity_of_errors({10: [0.0, 0.0], 20: [0.0, 0.1], 40: [0.3, 0.5]}, epsilon=0.1).value
    20
    """
    epsilon, confidence = _check(epsilon, confidence)
    sizes = np.array(sorted(positive_integer(n, "size") for n in errors))
    values = finite_array([errors[n] for n in sizes.tolist()], "errors", 2)
    if values.shape[1] < 2:
        raise ValueError("errors: found one trial per size, expected at least 2: an interval needs a spread.")
    means = values.mean(axis=1)
    half_widths = student.ppf((1 + confidence) / 2, values.shape[1] - 1) * sem(values, axis=1)

    def largest(bounds: np.ndarray) -> int:
        passing = sizes[bounds <= epsilon]
        return int(passing[-1]) if len(passing) else int(sizes[0]) - 1

    value, low, high = largest(means), largest(means + half_widths), largest(means - half_widths)
    failed = tuple(sizes[(sizes < value) & (means > epsilon)].tolist())
    censored = value == int(sizes[-1])
    return ModelComplexity(value, low, high, epsilon, confidence, sizes, values, means, half_widths, failed, censored)


def _check(epsilon: float, confidence: float) -> tuple[float, float]:
    epsilon, confidence = finite_number(epsilon, "epsilon"), finite_number(confidence, "confidence")
    if epsilon < 0:
        raise ValueError(f"epsilon: found {epsilon!r}, expected zero or more: errors are never below zero.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: found {confidence!r}, expected a number between 0 and 1.")
    return epsilon, confidence
