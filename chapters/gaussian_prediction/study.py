"""Prediction, and the constraint matrix by several routes (paper 1, section 4).

The models that a notebook compares, as its ``channels`` parameter lists them.

The error of a linear one-step prediction, by routes that do not use its quadratic form (paper 1, App. B.1–B.2).

They check :meth:`~capcore.processes.Process.predictor` and Eq. 33 independently: by dense linear algebra and by
sampling the process.

Counting constraints: the singular values of K̃ against the eigenvalues of its Gram matrix (paper 1, section 4.3).

The paper counts the non-zero eigenvalues of K̃K̃ᵀ. They are the squares of the singular values of K̃, so what lies
below √eps of the largest drowns in rounding, and how much lies there depends on the parameters chosen for the model.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve, toeplitz

from capcore import Architecture, AutoRegressive, ConstraintSpace, Fit, Hierarchical, Problem, Process, allocate, fit


def models_by_channels(channels: Any, n_layers: int, kernel_size: Any = 2) -> dict[str, Hierarchical]:
    """Label → hierarchical model, for each entry of a list of channels (a number, or one number per hidden layer).

    >>> list(models_by_channels([1, [2, 3]], n_layers=3))
    ['1 channel', '2, 3 channels']
    """
    models = {}
    for entry in channels:
        name = ", ".join(map(str, entry)) if isinstance(entry, Sequence) and not isinstance(entry, str) else entry
        models[f"{name} channel{'' if entry == 1 else 's'}"] = Hierarchical(entry, n_layers, kernel_size)
    return models


class SampledError(NamedTuple):
    """A sampled mean squared error: its mean, its standard error, and the number of samples behind it."""

    mean: float
    standard_error: float


def dense_predictor(process: Process, n: int) -> tuple[np.ndarray, float]:
    """A* (n,) and v* of order n by dense algebra: a Cholesky factor in place of Levinson's recursion.

    A* solves ΣA = (c_1, …, c_n), and v* is the ratio of determinants det Σ_{n+1} / det Σ_n, which is the square
    of the last diagonal entry of the Cholesky factor.

    >>> from capcore.processes import AR1
    >>> target, variance = dense_predictor(AR1(phi=0.5), 2)
    >>> target.round(12).tolist(), round(variance, 12)
    ([0.5, 0.0], 0.75)
    """
    c = process.autocovariance(n + 1)
    factor = cholesky(toeplitz(c), lower=True)
    return solve(toeplitz(c[:-1]), c[1:], assume_a="pos"), float(factor[-1, -1] ** 2)


class PredictionGaps(NamedTuple):
    """How far A* and v* are from what defines them; see :func:`prediction_gaps`."""

    residual: float
    variance_gap: float
    round_trip: float


def prediction_gaps(process: Process, n: int) -> PredictionGaps:
    """Three checks of the predictor of order n against Eq. 31, each zero but for rounding.

    Returns
    -------
    residual : ‖ΣA* − (c_1, …, c_n)‖ / ‖(c_1, …, c_n)‖.
    variance_gap : relative difference of v* from det Σ_{n+1} / det Σ_n.
    round_trip : largest difference, lags 0 … n, of the autocovariance rebuilt from (A*, v*).

    >>> from capcore.processes import PowerLaw
    >>> max(prediction_gaps(PowerLaw(), 8)) < 1e-12
    True
    """
    c = process.autocovariance(n + 1)
    target, variance = process.predictor(n)
    rebuilt = AutoRegressive(target, variance).autocovariance(n + 1)
    return PredictionGaps(
        residual=float(np.linalg.norm(process.covariance(n) @ target - c[1:]) / (np.linalg.norm(c[1:]) or 1.0)),
        variance_gap=abs(variance / dense_predictor(process, n)[1] - 1),
        round_trip=float(np.abs(rebuilt - c).max()),
    )


def error_variance(coefficients: object, process: Process) -> float:
    """Variance of y_{t+1} − A·(y_t, y_{t−1}, …): the covariance of n + 1 samples taken twice with (1, −A).

    Parameters
    ----------
    coefficients : (n,) A, lag 0 (the most recent sample) first.

    >>> from capcore.processes import AR1
    >>> round(error_variance([0.0], AR1(phi=0.5)), 12)
    1.0
    """
    a = np.asarray(coefficients, dtype=float)
    weights = np.concatenate([[1.0], -a])
    return float(weights @ toeplitz(process.autocovariance(a.size + 1)) @ weights)


def sampled_error(coefficients: object, process: Process, n_samples: int, rng: np.random.Generator) -> SampledError:
    """Mean squared error of the prediction over independent windows of the process, with its standard error.

    Parameters
    ----------
    coefficients : (n,) A, lag 0 first. n_samples : number of windows of n + 1 samples, at least 2.

    >>> from capcore.processes import AR1
    >>> round(sampled_error([0.5], AR1(phi=0.5), 10_000, np.random.default_rng(0)).mean, 1)  # exactly 0.75
    0.8
    """
    a = np.asarray(coefficients, dtype=float)
    factor = cholesky(process.covariance(a.size + 1), lower=True)
    squares = np.empty(n_samples)
    for start in range(0, n_samples, 10_000):  # in blocks, so that memory stays small
        block = squares[start : start + 10_000]
        windows = rng.normal(size=(block.size, a.size + 1)) @ factor.T  # column 0 is the sample to predict
        block[:] = np.square(windows[:, 0] - windows[:, 1:] @ a)
    return SampledError(float(squares.mean()), float(squares.std(ddof=1) / np.sqrt(n_samples)))


class Counts(NamedTuple):
    """Two ways to count the directions of K̃ (n, p).

    Attributes
    ----------
    by_eigenvalues : eigenvalues of K̃K̃ᵀ above n·ε of the largest, the usual threshold.
    by_singular_values : the package's count, :class:`~capcore.capacity.constraints.ConstraintSpace`.
    """

    by_eigenvalues: int
    by_singular_values: int


def count_directions(matrix: object) -> Counts:
    """Both counts for the columns of ``matrix`` (n, p).

    >>> counts = count_directions(np.diag([1.0, 1e-10]))
    >>> counts.by_singular_values, counts.by_eigenvalues
    (2, 1)
    """
    columns = np.asarray(matrix, dtype=float)
    values = gram_eigenvalues(columns)
    by_eigenvalues = int(np.count_nonzero(values > values.size * np.finfo(float).eps * values[0]))
    return Counts(by_eigenvalues, ConstraintSpace.from_columns(columns).dimension)


def constraint_matrix(arch: Architecture, params: np.ndarray, problem: Problem) -> np.ndarray:
    """(n, n_params) K̃ = ΣJ itself, neither scaled nor compressed (paper 1, Eq. 16)."""
    return problem.covariance @ arch.jacobian(params)


def echo_starts(arch: Architecture, seed: int) -> tuple[list[Fit], dict[str, np.ndarray]]:
    """Fits from eight random starts, best first, for an echo of the latest and the oldest input; and two profiles.

    These are the capacities of the best and the worst fit, under a name with its loss.
    """
    delays = np.zeros(arch.n_inputs)
    delays[-1], delays[0] = 0.45, 0.5
    echo = Problem.of(arch, AutoRegressive(delays))
    fits = [fit(arch, echo, start="random", rng=seed + k) for k in range(8)]
    runs = sorted(fits, key=lambda run: run.loss)
    ends = {"best": runs[0], "worst": runs[-1]}
    return runs, {f"{name}, loss {run.loss:.3f}": allocate(arch, run, echo).per_input for name, run in ends.items()}


def gram_eigenvalues(matrix: np.ndarray) -> np.ndarray:
    """(n,) eigenvalues of K̃K̃ᵀ, descending: the Λ of paper 1, §4.3, whose Fig. 5, left, draws it.

    Shown for comparison only. The eigenvalues are squares of the singular values of K̃, so what is below √eps of the
    largest drowns in rounding, and some come out negative (the paper's footnote 7).
    """
    return np.linalg.eigvalsh(matrix @ matrix.T)[::-1]
