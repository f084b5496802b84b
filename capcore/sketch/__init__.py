"""Capacity of models that are no tensor trains: overlapping dilations, a reader's own function.

The Jacobian is known by its products J V and Jᵀ U only (:mod:`capcore.sketch.products`), Σ by FFT. Capacities are the
leverage scores of K̃ = ΣJ. A random sketch of its columns that is wider than κ holds their whole span, so that nothing
random is left in the answer; κ is at most some thousands for models of any length.
"""

from capcore.sketch.estimate import estimate_capacity
from capcore.sketch.products import JacobianProducts
from capcore.sketch.result import CapacityEstimate

__all__ = ["CapacityEstimate", "JacobianProducts", "estimate_capacity"]
