"""Capacities by output, example and subspace, those of layers, and the intervals of what is estimated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import t

from capcore.results.notebook import as_table, table

LEVEL = 0.95
"""Level of the intervals whose half-widths are reported as errors."""
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Capacities:
    """The capacities of one response operator.

    Attributes
    ----------
    total : float
        tr S.
    per_output : (K,) array
        Sums to ``total``. For cross-entropy these parts depend on the root of W, here R = diag(√p) − p√pᵀ:
        multiplying R by a rotation of each example's outputs changes only these.
    per_example : (N,) array
        Leverages; they sum to ``total``.
    per_subspace : dict
        Name → array of the subspace's groups, or a number.
    """

    total: float
    per_output: np.ndarray = field(repr=False)
    per_example: np.ndarray = field(repr=False)
    per_subspace: dict[str, Any] = field(repr=False)

    def __sub__(self, other: Capacities) -> Capacities:
        mine, theirs = self.per_subspace, other.per_subspace
        return Capacities(
            self.total - other.total,
            self.per_output - other.per_output,
            self.per_example - other.per_example,
            {name: mine[name] - theirs[name] for name in mine},
        )

    _repr_html_ = as_table


@dataclass(frozen=True, eq=False)
class NetworkLayer:
    """Capacities of one group of parameters, in the four versions of
    :class:`~capcore.capacity.allocation.LayerAllocation`.

    Attributes
    ----------
    independent : Capacities
        As if all other layers were constants.
    forward : Capacities
        Given all layers before it.
    backward : Capacities
        Given all layers after it.
    marginal : Capacities
        Given all other layers.
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    independent: Capacities
    forward: Capacities
    backward: Capacities
    marginal: Capacities

    @property
    def totals(self) -> dict[str, float]:
        """The four totals."""
        return {name: view.total for name, view in vars(self).items()}

    def _repr_html_(self) -> str:
        return table("Capacity of a layer", {name: f"{total:.6g}" for name, total in self.totals.items()})


def half_widths(samples: np.ndarray, quadratic: bool = False) -> np.ndarray:
    """(…) half-widths of 95 % intervals of means of samples (…, m), by Student's law of m − 1 degrees of freedom.

    Parameters
    ----------
    samples : (…, m) array
        Independent and identically distributed along the last axis.
    quadratic : bool
        Whether they are values of a non-negative quadratic form. Their scatter grows with their mean, so a mean that is
        too low comes with an interval that is too short. On a logarithmic scale the interval ends at mean·exp(x) for
        a relative half-width of x; the half-width is this end's, to second order. Such samples have x at most
        Student's factor.

    Examples
    --------
    >>> half_widths(np.array([1.0, 2.0, 3.0])).round(2), half_widths(np.array([1.0, 2.0, 3.0]), True).round(2)
    (np.float64(2.48), np.float64(4.03))
    """
    m = samples.shape[-1]
    factor = float(t.ppf((1 + LEVEL) / 2, m - 1))
    widths = factor * samples.std(axis=-1, ddof=1) / np.sqrt(m)
    if not quadratic:
        return widths
    return widths * (1 + widths / np.maximum(np.abs(samples.mean(axis=-1)), widths / factor + TINY) / 2)


def measure(response: Any, shape: tuple[int, int], prepared: Mapping[str, Any]) -> Capacities:
    """The capacities of a dense response."""
    leverage = response.diagonal.reshape(shape)
    per_subspace = {
        name: shaped(by_group(response.along(basis), labels, form), form)
        for name, (basis, labels, form) in prepared.items()
    }
    return Capacities(float(leverage.sum()), leverage.sum(axis=0), leverage.sum(axis=1), per_subspace)


def by_group(values: np.ndarray, labels: np.ndarray, form: tuple[int, ...]) -> np.ndarray:
    """(groups, …) sums over the groups of the first axis, in the order of an array of shape ``form``."""
    sums = np.zeros((int(np.prod(form)), *values.shape[1:]))
    np.add.at(sums, labels, values)
    return sums


def shaped(values: np.ndarray, form: tuple[int, ...]) -> Any:
    """An array of shape ``form``, or a number for ()."""
    return values.reshape(form) if form else float(values[0])
