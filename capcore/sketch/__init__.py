"""Capacity of models that are no tensor trains: overlapping dilations, a reader's own function.

The Jacobian is known by its products J V and Jᵀ U only (:mod:`capcore.sketch.products`), Σ by FFT. Capacities are the
leverage scores of K̃ = ΣJ, and there are three ways to them:

- "range": a random sketch of the columns. When its width exceeds κ it holds the column space *exactly*, so nothing
  random is left in the answer. The default, since κ is at most some thousands for models of any length.
- "whitened": the same answer without an n × κ array, from a sketch of the rows.
- "hutchinson": projections of random vectors, with limits that cover the statistical error, the solver's error and what
  the ridge hides.

Variance reduction by a low-rank part (Hutch++, XTrace, XDiag) is of no use here: a projector has no decaying spectrum,
all its eigenvalues are 0 or 1, and a low-rank part pays only at rank κ, where it is the first method. What helps is the
pair (projection, remainder), whose ratio has an exact distribution (:mod:`capcore.sketch.result`).
"""

from capcore.sketch.estimate import estimate_capacity
from capcore.sketch.products import JacobianProducts
from capcore.sketch.result import CapacityEstimate, Interval

__all__ = ["CapacityEstimate", "Interval", "JacobianProducts", "estimate_capacity"]
