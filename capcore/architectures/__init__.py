"""Architectures: maps from parameters to the coefficients of a linear model, with their Jacobians.

An architecture has ``n_inputs``, ``input_dim``, ``n_params``, ``layers`` (name → slice of the parameter
vector), ``init(rng)``, ``coefficients(params)``, ``jacobian(params)`` and ``generic_capacity()``.
"""

from capcore.architectures.base import Architecture
from capcore.architectures.frozen import Frozen
from capcore.architectures.function import Function
from capcore.architectures.hierarchical import Hierarchical
from capcore.architectures.linear import Linear
from capcore.architectures.recurrent import Recurrent

__all__ = ["Architecture", "Frozen", "Function", "Hierarchical", "Linear", "Recurrent"]
