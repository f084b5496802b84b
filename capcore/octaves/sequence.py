"""Autocovariances as near lags plus decaying exponentials, and what such a covariance carries across an edge.

Position i of a block and position j of the block before it are i + j + 1 apart, where j counts backwards from the
common edge. With c_τ = near_τ + Σ_m w_m e^(−λ_m (τ − 1)) for τ ≥ 1, everything that the earlier block does to the later
one passes through a *state* at the edge: one number per exponential, and one per position within reach of near lags.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag, hankel

from capcore.validation import finite_array, finite_number


@dataclass(frozen=True, eq=False)
class ExponentialSequence:
    """The sequence c_0 = variance, c_τ = near_τ + Σ_m weights_m exp(−rates_m (τ − 1)) for τ ≥ 1.

    Attributes
    ----------
    variance : c_0. weights, rates : (M,) each, real, rates not negative. near : (B,) corrections at lags 1 … B.

    >>> ExponentialSequence(1.5, [0.5], [np.log(2)]).autocovariance(3).round(12).tolist()
    [1.5, 0.5, 0.25]
    """

    variance: float
    weights: np.ndarray
    rates: np.ndarray
    near: np.ndarray

    def __init__(self, variance: float, weights: object, rates: object, near: object = ()) -> None:
        object.__setattr__(self, "variance", finite_number(variance, "variance"))
        for name, value in {"weights": weights, "rates": rates, "near": near}.items():
            array = finite_array(value, name, 1) if np.size(value) else np.zeros(0)  # type: ignore[arg-type]
            object.__setattr__(self, name, array)
        if self.weights.shape != self.rates.shape or not (self.rates >= 0).all():
            raise ValueError(
                f"rates: found {self.rates.size}, the least of them {self.rates.min(initial=np.inf):g}, expected "
                f"{self.weights.size} numbers of at least 0, one for each weight."
            )

    def autocovariance(self, lags: int | np.ndarray) -> np.ndarray:
        """c at the given lags, or at 0 … lags − 1 for a whole number."""
        tau = np.arange(lags) if isinstance(lags, int) else np.asarray(lags)
        values = np.exp(-np.multiply.outer(tau - 1.0, self.rates).clip(0)) @ self.weights
        inside = (tau > 0) & (tau <= self.near.size)
        values[inside] += self.near[tau[inside] - 1]
        values[tau == 0] = self.variance
        return values

    @property
    def n_states(self) -> int:
        """Numbers in the state at an edge: M + B."""
        return self.rates.size + self.near.size

    @cached_property
    def coupling(self) -> np.ndarray:
        """(n_states, n_states) symmetric: from the state at the end of one block to the beginning of the next."""
        return block_diag(np.diag(self.weights), hankel(self.near))

    @property
    def single(self) -> np.ndarray:
        """(n_states,) state at the edge of a block of one position that holds 1."""
        return np.concatenate([np.ones(self.rates.size), np.arange(self.near.size) == 0])

    def advance(self, states: np.ndarray, distance: int) -> np.ndarray:
        """States (n_states, …) as seen from an edge that lies ``distance`` positions further on."""
        moved = np.zeros_like(states)
        decay = np.exp(-self.rates * float(distance))
        moved[: decay.size] = states[: decay.size] * decay.reshape(-1, *[1] * (states.ndim - 1))
        if distance < self.near.size:
            moved[decay.size + distance :] = states[decay.size : states.shape[0] - distance]
        return moved
