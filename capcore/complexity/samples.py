"""Samples that a training procedure is given, its error on them, and the procedure with a known answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from capcore.validation import finite_array, finite_number, one_of, positive_integer

Sample = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
"""Of n and a generator: n inputs and their labels."""
Procedure = Callable[[np.ndarray, np.ndarray, np.random.Generator], object]
"""Of inputs, labels and a generator: the training error, or a function from inputs to predictions."""
ERRORS = ("squared", "zero-one")


def training_error(procedure: Procedure, sample: Sample, n: int, rng: np.random.Generator, error: str) -> float:
    """Training error of a procedure on one sample of n, from its own report or from its predictions.

    ``error`` : ``squared``, summed over outputs and averaged over the sample; or ``zero-one``, the share of labels
    that are not the prediction. Raises ``ValueError`` for errors that are negative or not finite.

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


def subsets(inputs: object, labels: object) -> Sample:
    """Samples without replacement of a data set: inputs (N, d) and labels (N,) or (N, k).

    The sample raises ``ValueError`` for more than N.
    """
    x, y = finite_array(inputs, "inputs", 2), np.asarray(labels)
    if len(x) != len(y):
        raise ValueError(f"labels: found {len(y)}, expected {len(x)}, one for each input.")

    def sample(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        if n > len(x):
            raise ValueError(f"n: found {n}, expected at most {len(x)}, the whole data set. Lower the maximum.")
        chosen = rng.permutation(len(x))[:n]
        return x[chosen], y[chosen]

    return sample


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
    coefficients = np.linalg.lstsq(inputs, labels, rcond=None)[0]
    return lambda x: x @ coefficients
