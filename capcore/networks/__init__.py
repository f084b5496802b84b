"""Trained networks: where they spend their capacity, from the response of their optimum to its targets.

:func:`~capcore.networks.allocation.allocate_network` takes a function of JAX or a module of PyTorch, its parameters and
its data. :mod:`capcore.networks.subspaces` has subspaces to ask for.
"""

from capcore.checks.names import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
