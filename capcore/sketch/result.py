"""What :func:`~capcore.sketch.estimate.estimate_capacity` returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from capcore.scale.allocation import octave_edges


@dataclass(frozen=True, eq=False)
class CapacityEstimate:
    """Capacity of a model at given parameters, by input and by octave of lag.

    Attributes
    ----------
    total : κ, the numerical dimension of the constraint space; ``per_input`` sums to it, up to ``error``.
    generic_total : exact generic capacity, None where it is not known.
    per_input : (n_inputs,) capacity of each position, lag 0 first.
    error : bound, to first order, on what rounding does to the capacity of any group of inputs.
    singular_values : of the sketch, descending; those above the tolerance were kept.
    """

    total: int
    generic_total: int | None
    per_input: np.ndarray = field(repr=False)
    error: float
    singular_values: np.ndarray = field(repr=False)

    @property
    def edges(self) -> np.ndarray:
        """(k + 1,) edges 0, 1, 2, 4, 8, … n_inputs: octave i holds the lags edges[i] … edges[i + 1] − 1."""
        return octave_edges(self.per_input.size)

    @property
    def per_octave(self) -> np.ndarray:
        """(k,) capacity of every octave of lag, the last one perhaps cut short; sums to ``total``."""
        return np.add.reduceat(self.per_input, self.edges[:-1])
