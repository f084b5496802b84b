"""Simple exponential smoothing, cut off after n inputs: a curved model space with a single parameter.

The forecast is Σ_i α(1−α)^i y_{t−i}. On two inputs the model space is the parabola (α, α − α²), and everything
that paper 1's Figure 2 draws can be computed.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Polynomial

from capcore.architectures.base import DenseJacobian
from capcore.validation import finite_array, positive_integer


class ExponentialSmoothing(DenseJacobian):
    """Coefficients A_i = α(1−α)^i at lags 0 … n−1; the only parameter is α.

    Parameters
    ----------
    n_inputs : number n of inputs, the most recent first.

    In use, the smoothing factor α lies between 0 and 1; the coefficients are defined for every real α.

    >>> ExponentialSmoothing(n_inputs=3).coefficients([0.5]).tolist()
    [0.5, 0.25, 0.125]
    """

    input_dim = 1
    n_params = 1

    def __init__(self, n_inputs: int = 2) -> None:
        self.n_inputs = positive_integer(n_inputs, "n_inputs")
        self.layers = {"layer 1": slice(0, 1)}

    def __repr__(self) -> str:
        return f"ExponentialSmoothing(n_inputs={self.n_inputs})"

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """(1,) a smoothing factor between 0 and 1."""
        return rng.uniform(size=1)

    def coefficients(self, params: object) -> np.ndarray:
        """(n_inputs,) coefficients α(1−α)^i, lag 0 first."""
        return self.curve(self._alpha(params))[0]

    def curve(self, alphas: object) -> np.ndarray:
        """(m, n_inputs) coefficients at m values of the smoothing factor: points of the model space."""
        alpha = np.atleast_1d(finite_array(alphas, "alphas", (0, 1)))[:, None]
        return alpha * (1 - alpha) ** np.arange(self.n_inputs)

    def jacobian(self, params: object) -> np.ndarray:
        """(n_inputs, 1) derivative (1−α)^i − iα(1−α)^(i−1)."""
        alpha = self._alpha(params)
        lags = np.arange(self.n_inputs)
        return ((1 - alpha) ** lags - lags * alpha * (1 - alpha) ** np.maximum(lags - 1, 0))[:, None]

    def generic_capacity(self) -> int:
        """One parameter that always matters: 1."""
        return 1

    def solve(self, direction: object, value: float) -> np.ndarray:
        """The real α, ascending, at which ``direction``·A(α) = ``value``: the model space cut by a hyperplane.

        Parameters
        ----------
        direction : (n_inputs,) normal of the hyperplane, not zero.

        With a column k of the constraint space and ``value`` = k·A*, these are the points where the error
        curve meets k^⊥. Roots that coincide to 1e-7 are one.
        """
        normal = finite_array(direction, "direction", 1)
        if normal.size != self.n_inputs or not normal.any():
            raise ValueError(f"direction: found {normal.tolist()}, expected {self.n_inputs} numbers, not all zero.")
        rest = Polynomial([1.0, -1.0])
        roots = (sum(c * rest**i for i, c in enumerate(normal)) * Polynomial([0.0, 1.0]) - value).roots()
        scale = np.maximum(np.abs(roots), 1.0)
        real = np.sort(roots[np.abs(roots.imag) <= 1e-7 * scale].real)
        return real[np.concatenate([[True], np.diff(real) > 1e-7])] if real.size else real

    def _alpha(self, params: object) -> float:
        return float(self._checked(params)[0])
