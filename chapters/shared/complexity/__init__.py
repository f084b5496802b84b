"""Effective complexity of trained networks: measures of what a network does, not of what it could do (slides, note).

A network is a list of weights and biases, or any object with ``coefs_`` and ``intercepts_``
(:mod:`chapters.shared.complexity.network`).
"""

from capcore.checks.names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
