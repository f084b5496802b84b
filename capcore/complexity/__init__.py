"""Effective complexity of trained networks: measures of what a network does, not of what it could do (slides, note).

A network is a list of weights and biases, or any object with ``coefs_`` and ``intercepts_``
(:mod:`capcore.complexity.network`).
"""

from capcore.complexity.network import Network, as_network, random_network
from capcore.complexity.training import TrainingRun, train

__all__ = [
    "Network",
    "as_network",
    "random_network",
    "train",
    "TrainingRun",
]
