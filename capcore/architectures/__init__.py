"""Architectures: maps from parameters to the coefficients of a linear model, with their Jacobians.

An architecture has ``n_inputs``, ``input_dim``, ``n_params``, ``layers`` (name → slice of the parameter
vector), ``init(rng)``, ``coefficients(params)``, ``jacobian(params)`` and ``generic_capacity()``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
