"""Architectures: maps from parameters to the coefficients of a linear model, with their Jacobians.

An architecture is a parametrised class of linear models, W ↦ A_W (paper 1, Eqs 11–12). It has ``n_inputs``,
``input_dim``, ``n_params``, ``layers`` (name → slice of the parameter vector), ``init(rng)``, ``coefficients(params)``,
``jacobian(params)`` and ``generic_capacity()``.
"""

from capcore.checks.names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
