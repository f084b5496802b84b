"""Equation 30 of paper 2 step by step: capacity of the input k steps back, by propagation through all N steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capcore.propagation.convolution import ConvolutionTransport
from capcore.propagation.discrete import propagate
from capcore.propagation.laws import forgetting
from capcore.propagation.layers import Layer
from capcore.validation import positive_integer


@dataclass(frozen=True, eq=False)
class Forgetting:
    """Where the capacity of the last state comes from.

    Attributes
    ----------
    per_lag : (N,) capacity of the input k steps back, k = 0 being the last one. initial : that of the initial state.
    alpha : the leak of all steps together.
    """

    per_lag: np.ndarray
    initial: float
    alpha: float

    @property
    def gap(self) -> float:
        """Largest distance from (α/N)(1 − α/N)^k, and of the initial state from (1 − α/N)^N."""
        n_steps = len(self.per_lag)
        rest = (1 - self.alpha / n_steps) ** n_steps
        return max(float(np.abs(self.per_lag - forgetting(self.alpha, n_steps)).max()), abs(self.initial - rest))

    @property
    def total(self) -> float:
        """Of all lags and the initial state: one."""
        return float(self.per_lag.sum() + self.initial)

    @property
    def half_life(self) -> float:
        """Lag at which the capacity of a step has halved, log-linear between lags; infinite if that is never."""
        logs = np.log2(self.per_lag[0]) - np.log2(self.per_lag)
        return float(np.interp(1.0, logs, np.arange(len(logs)), right=np.inf))


def forget(n_steps: int, alpha: float, n_positions: int = 16, diffusion: float = 1.0) -> Forgetting:
    """One unit of capacity on the last state, sent back through N local transitions, each with an input that leaks α/N.

    Parameters
    ----------
    n_positions : of the state, on a circle. diffusion : D; a step moves D/N of the capacity to either neighbour.

    Raises ``ValueError`` unless 0 < α ≤ N and N ≥ 2 D.

    >>> found = forget(4, 2.0)
    >>> found.per_lag.tolist(), found.total
    ([0.5, 0.25, 0.125, 0.0625], 1.0)
    """
    n_steps = positive_integer(n_steps, "n_steps")
    if not 0 < alpha <= n_steps:
        raise ValueError(f"alpha: found {alpha:g}, expected more than 0 and at most {n_steps}, one per step.")
    jump = diffusion / n_steps
    if not 0 <= jump <= 0.5:
        raise ValueError(f"diffusion: found {diffusion:g}, expected at least 0 and at most {n_steps / 2:g}, half of N.")
    local = ConvolutionTransport.of_offsets({-1: jump, 0: 1 - 2 * jump, 1: jump})
    step = Layer.leaky(local, side=alpha / n_steps)
    found = propagate(np.eye(n_positions)[0], [step] * n_steps)
    return Forgetting(found.side_mass[::-1], found.masses["input"], alpha)
