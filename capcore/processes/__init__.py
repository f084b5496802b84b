"""Stationary Gaussian processes: autocovariance, covariance and optimal linear predictor (paper 1, Appendix B).

Every process is a :class:`~capcore.processes.base.Process`; for a covariance and a target of your own there is
:class:`~capcore.processes.problem.Problem`, which the verbs take as well. Named families are in
:mod:`capcore.processes.families`, with the registry that ``make_process`` uses.
"""

from capcore.checks.names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
