"""What a change of units does to the capacity of an input.

Multiply input i by s and its coefficient by 1/s: the predictions are the same, Σ becomes DΣD, the Jacobian D⁻¹J, and
𝒦 becomes D𝒦. The capacity of the input changes although nothing about the model did.
"""

from __future__ import annotations

import numpy as np

from capcore.constraints import ConstraintSpace
from capcore.validation import finite_array


def rescaled_capacity(space: ConstraintSpace, position: int, factors: object) -> np.ndarray:
    """(len(factors),) capacity of one input after it has been multiplied by each factor, computed anew from D𝒦.

    Parameters
    ----------
    position : index of the input, 0 … n − 1. factors : (m,) positive factors s.

    >>> space = ConstraintSpace.from_columns([1.0, 1.0])
    >>> rescaled_capacity(space, 0, [1.0, 3.0]).round(12).tolist()
    [0.5, 0.9]
    """
    scales = np.ones(space.n_inputs)
    result = []
    for factor in finite_array(factors, "factors", 1):
        scales[position] = factor
        result.append(ConstraintSpace.from_columns(scales[:, None] * space.basis).per_input()[position])
    return np.array(result)


def rescaled_odds(capacity: object, factors: object) -> np.ndarray:
    """The same in closed form: multiplying an input by s multiplies the odds κᵢ / (1 − κᵢ) of its capacity by s².

    Parameters
    ----------
    capacity : κᵢ in [0, 1] before. factors : (m,) positive factors s.

    >>> rescaled_odds(0.5, [1.0, 3.0]).tolist()
    [0.5, 0.9]
    """
    kappa, square = np.asarray(capacity, dtype=float), np.square(finite_array(factors, "factors", 1))
    return square * kappa / (1 + (square - 1) * kappa)
