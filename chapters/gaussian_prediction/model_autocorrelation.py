"""The autocorrelation that a trained model implies, and the recursion its error obeys (paper 1, App. B.3).

A model Â generates a process of its own, y_{t+1} = Σ_j Â_j y_{t+1−j} + η, with autocorrelation Ĉ. Both Ĉ and the
true C start from 1; Ĉ solves Ĉ_k = Σ_j Â_j Ĉ_|k−j|.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.linalg import toeplitz

from capcore.processes import AutoRegressive, Process
from capcore.toeplitz import reflection_coefficients
from capcore.validation import finite_array


class AutocorrelationError(NamedTuple):
    """The error E = Ĉ − C and the two sides of its recursion.

    Attributes
    ----------
    error : (n + 1,) E_0, …, E_n.
    residual : (n,) E_k − Σ_j Â_j E_|k−j| for k = 1 … n: what is left when E is put into the system of Ĉ.
    source : (n,) (ΣX)_k, X = Â − A* and Σ the autocorrelation matrix: what that residual is equal to.
    """

    error: np.ndarray
    residual: np.ndarray
    source: np.ndarray

    @property
    def relative_residual(self) -> float:
        """Largest |residual| relative to max |E|: zero if E solved the system of Ĉ."""
        return float(np.abs(self.residual).max() / self.size)

    @property
    def relative_residual_with_source(self) -> float:
        """Largest |residual − source| relative to max |E|."""
        return float(np.abs(self.residual - self.source).max() / self.size)

    @property
    def size(self) -> float:
        """Largest |E|."""
        return float(np.abs(self.error).max())


def model_autocorrelation(coefficients: object, n: int) -> np.ndarray:
    """(n,) autocorrelations Ĉ_0 = 1, …, Ĉ_{n−1} of the autoregression with these coefficients, lag 0 first.

    Raises ``ValueError`` where the autoregression is unstable: it then has no autocorrelation.

    >>> model_autocorrelation([0.5], 3).tolist()
    [1.0, 0.5, 0.25]
    """
    c = AutoRegressive(coefficients).autocovariance(n)
    return c / c[0]


def autocorrelation_error(coefficients: object, process: Process) -> AutocorrelationError:
    """E = Ĉ − C at lags 0 … n for a model with coefficients (n,), with its residual in the system of Ĉ.

    >>> from capcore.processes import AR1
    >>> autocorrelation_error([0.5], AR1(phi=0.5)).size
    0.0
    """
    a = finite_array(coefficients, "coefficients", 1)
    c = process.autocovariance(a.size + 1)
    c = c / c[0]
    error = model_autocorrelation(a, a.size + 1) - c
    target, _ = process.predictor(a.size)
    residual = error[1:] - toeplitz(error[:-1]) @ a
    return AutocorrelationError(error, residual, toeplitz(c[:-1]) @ (a - target))


def visible_errors(models: Iterable[tuple[object, Process]], smallest: float = 1e-6) -> list[AutocorrelationError]:
    """:func:`autocorrelation_error` of each (coefficients, process) for which max |E| is at least ``smallest``.

    Below that E is rounding. Unstable models have no autocorrelation and are left out too.

    >>> from capcore.processes import AR1
    >>> [round(e.size, 12) for e in visible_errors([([0.5], AR1(0.5)), ([0.4], AR1(0.5)), ([1.5], AR1(0.5))])]
    [0.1]
    """
    stable = [(a, p) for a, p in models if np.all(np.abs(reflection_coefficients(np.asarray(a, dtype=float))) < 1)]
    errors = [autocorrelation_error(coefficients, process) for coefficients, process in stable]
    return [error for error in errors if error.size >= smallest]
