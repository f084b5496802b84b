"""Three leverages of the inputs that share one total: of the model space, of the fit, and of the constraints.

All three are leverage scores (squared row norms of an orthonormal basis of the columns), of the Jacobian J, of
Σ^½J and of ΣJ. Each sums to the same κ, since Σ is invertible, and each answers another question.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from capcore.architectures.base import Architecture
from capcore.constraints import ConstraintSpace, join
from capcore.optimum import Problem
from capcore.processes import Process

WEIGHTINGS = {"model space": 0.0, "fit": 0.5, "constraints": 1.0}
"""Name of the leverage → power of Σ in front of the Jacobian."""


def leverages(arch: Architecture, params: np.ndarray, process: Process | Problem) -> dict[str, np.ndarray]:
    """Three leverages of each input, each (n_inputs,), at the given parameters:

    - "model space", of J: how freely the model can move each coefficient;
    - "fit", of Σ^½J with the symmetric root: the diagonal of the hat matrix of the linearised fit, its degrees of
      freedom;
    - "constraints", of ΣJ: how tightly the optimality conditions hold the error of each coefficient, the capacity of
      paper 1.

    >>> from capcore.architectures import Linear
    >>> from capcore.processes import PowerLaw
    >>> three = leverages(Linear(np.eye(4)[:, :2]), np.zeros(2), PowerLaw())
    >>> [round(float(values.sum()), 9) for values in three.values()]
    [2.0, 2.0, 2.0]
    """
    values, vectors = eigh(Problem.of(arch, process).covariance)
    result = {}
    for label, power in WEIGHTINGS.items():
        weight = (vectors * values**power) @ vectors.T
        spaces = [
            ConstraintSpace.from_columns(weight @ columns, equilibrated=True)
            for columns in arch.tangents(params).values()
        ]
        result[label] = join(spaces).per_input(arch.input_dim)
    return result
