"""Processes with several components per position, the inputs of paper 1, §6.1.

Models predict one number from a vector process x_t of d components, y = Σ_j w_j x_j(next). The paper names no target;
this one is the next sample if d = 1. Vectors are position-major: index = position · d + component.

With independent components the best predictor is the weighted stack of the components' own predictors. Components that
are identical collapse the task to d = 1, and a single non-zero weight makes the other components irrelevant.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from capcore.checks.arguments import finite_array, moderate, of_kind
from capcore.checks.memory import check_covariance
from capcore.processes.base import Process, block_toeplitz
from capcore.processes.kernels import as_task


class Independent(Process):
    """d independent stationary processes side by side; the target is y = Σ_j w_j x_j(next).

    The inputs of paper 1, §6.1 and Figs 12–13; the target is this book's.

    Parameters
    ----------
    components : list of Process
        The d one-dimensional processes.
    weights : (d,) array_like, optional
        w, not all zero; by default 1/√d each.

    Attributes
    ----------
    input_dim : int
        d.
    components : tuple of Process
        The d processes.
    weights : (d,) array
        w.

    Raises
    ------
    ValueError
        If there are no components, or weights are NaN, all zero or not one per component.
    TypeError
        If a component is not a one-dimensional process.

    Examples
    --------
    >>> from capcore.processes import AR1
    >>> Independent([AR1(0.5), AR1(0.8)], weights=[1, 2]).predictor(1)[0].tolist()
    [0.5, 1.6]
    """

    def __init__(self, components: Sequence[Process], weights: Any = None) -> None:
        of_kind(components, "components", list | tuple, "a list of processes, such as [PowerLaw(0.3), PowerLaw(0.9)]")
        if not components:
            raise ValueError("components: found none, expected at least one process, such as [PowerLaw(0.5)].")
        self.components = tuple(as_task(component, f"components[{j}]") for j, component in enumerate(components))
        for j, component in enumerate(self.components):
            if not isinstance(component, Process) or isinstance(component, Independent) or component.input_dim != 1:
                raise TypeError(f"components[{j}]: found {type(component).__name__}, expected one of one dimension.")
        d = self.input_dim = len(self.components)
        self.weights = np.full(d, d**-0.5) if weights is None else finite_array(weights, "weights", 1)
        if self.weights.size != d:
            raise ValueError(f"weights: found {self.weights.size} value(s), expected {d}, one per component.")
        if not self.weights.any():
            raise ValueError("weights: found only zeros, expected at least one other value: nothing to predict.")
        moderate(self.weights, "weights")
        self.weights.setflags(write=False)

    def __repr__(self) -> str:
        return f"Independent({list(self.components)!r}, weights={self.weights.tolist()})"

    def _sequence(self, n: int) -> np.ndarray:
        """(n, d, d) diagonal blocks C_τ."""
        blocks = np.zeros((n, self.input_dim, self.input_dim))
        for j, component in enumerate(self.components):
            blocks[:, j, j] = component.autocovariance(n)
        return blocks

    def covariance(self, n: int) -> np.ndarray:
        """(n·d, n·d) covariance Σ of n successive positions, position-major: blocks C_|i−i'|.

        Raises
        ------
        ValueError
            If a component is not positive definite or numerically singular.
        """
        check_covariance(n, self.input_dim)
        for component in self.components:
            component.covariance(n)
        return block_toeplitz(self.autocovariance(n))

    def predictor(self, n: int) -> tuple[np.ndarray, float]:
        """Best linear prediction of y = Σ_j w_j x_j(next) from the last n positions.

        Returns
        -------
        target : (n·d,) array
            Coefficients w_j A*_j, position-major, lag 0 first.
        variance : float
            v* = Σ_j w_j² v*_j.

        Raises
        ------
        ValueError
            If a component is not positive definite or numerically singular.
        """
        targets, variances = zip(*(component.predictor(n) for component in self.components), strict=True)
        return (np.stack(targets, axis=1) * self.weights).reshape(-1), float(np.square(self.weights) @ variances)
