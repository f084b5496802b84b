"""What :func:`~capcore.networks.allocation.allocate_network` returns, whichever route it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from capcore.networks.problem import NetworkProblem
from capcore.networks.response import DenseModel
from capcore.networks.subspaces import in_metric
from capcore.validation import finite_array


@dataclass(frozen=True, eq=False)
class Capacities:
    """The capacities of one response operator.

    Attributes
    ----------
    total : float
        tr S.
    per_output : (K,) array
        Sums to ``total``.
    per_example : (N,) array
        Leverages; sums to ``total``.
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


@dataclass(frozen=True, eq=False)
class NetworkLayer:
    """Capacities of one group of parameters, seen in the four ways of :class:`~capcore.allocation.LayerAllocation`.

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

    independent: Capacities
    forward: Capacities
    backward: Capacities
    marginal: Capacities

    def totals(self) -> dict[str, float]:
        """The four totals."""
        return {name: view.total for name, view in vars(self).items()}


@dataclass(frozen=True, eq=False)
class NetworkAllocation(Capacities):
    """Where a network at given parameters spends its capacity, and how much of an optimum it is.

    Attributes
    ----------
    gauss_newton_total : float
        tr S without the residual curvature Σ e ∇²f.
    loss : str
    loss_value : float
        L(θ), R included.
    gradient_norm : float
        ‖∇L‖.
    decrement : float
        ½∇LᵀH⁻¹∇L over L: the share of the loss that a Newton step would take off.
    is_optimum : bool
        Whether ``decrement`` is below 1e-8 and no curvature is negative.
    eigenvalues : (p,) array
        Of H, ascending; empty for "sketch".
    n_negative, n_singular : int
        Eigenvalues below zero, and numerically zero; −1 for "sketch".
    method : str
        "dense" or "sketch".
    error : float
        Standard error of ``total``; for "dense" what rounding may do, relatively.
    errors : Capacities or None
        Standard errors of all of them, for "sketch".
    """

    gauss_newton_total: float
    loss: str
    loss_value: float
    gradient_norm: float
    decrement: float
    is_optimum: bool
    eigenvalues: np.ndarray = field(repr=False)
    n_negative: int
    n_singular: int
    method: str
    error: float
    errors: Capacities | None = field(repr=False)
    problem: NetworkProblem = field(repr=False)
    _response: Any = field(repr=False)
    _model: Any = field(repr=False)
    _options: dict[str, Any] = field(repr=False)
    _subspaces: dict[str, Any] = field(repr=False)

    def dense(self, name: str) -> DenseModel:
        """J and H; refused for what was sketched."""
        if self.method != "dense":
            raise AttributeError(f"{name}: found a result of method 'sketch'. Use allocate_network(…, method='dense').")
        return self._model

    def capacity(self, columns: object) -> float:
        """tr ZᵀSZ of the subspace that columns (N·K, k) span, example by example, in units of the outputs."""
        array = finite_array(columns, "columns", (1, 2)).reshape(len(np.asarray(columns)), -1)
        basis = in_metric(array, self.problem)
        if basis.shape[1] == 0:
            raise ValueError("columns: found dimension 0, expected at least one that is not zero.")
        return float(np.einsum("im,im->", basis, self._response.apply(basis)))

    def response(self, shift: object) -> np.ndarray:
        """(N, K) change of the outputs, to first order, after the targets moved by ``shift`` (N, K): J H⁻¹ Jᵀ h."""
        h = finite_array(shift, "shift", (1, 2))
        shape = self.problem.targets.shape
        if h.size != np.prod(shape):
            raise ValueError(f"shift: found shape {h.shape}, expected {shape}, that of the targets.")
        derivatives = self.problem.derivatives
        gradient = derivatives.vjp(derivatives.params, h.reshape(1, *shape))
        return derivatives.jvp(derivatives.params, self._response.solve(gradient.T).T)[0]

    @cached_property
    def layers(self) -> dict[str, NetworkLayer]:
        """Name of a group of parameters → its capacities, in the order of the parameters.

        Only the group responds, with all others constant ("independent"); the rest are differences of such responses.
        """
        model, options = self.dense("layers"), self._options
        parts = {name: np.r_[part] for name, part in self.problem.layers.items()}
        names = list(parts)

        def of(chosen: list[str]) -> Capacities:
            columns = np.concatenate([parts[name] for name in chosen]) if chosen else np.empty(0, dtype=int)
            return measure(model.restricted(columns, **options), self.problem.targets.shape, self._subspaces)

        ahead = [of(names[:i]) for i in range(len(names))] + [self]
        behind = [self] + [of(names[i:]) for i in range(1, len(names) + 1)]
        found = {}
        for i, name in enumerate(names):
            rest = of(names[:i] + names[i + 1 :])
            found[name] = NetworkLayer(of([name]), ahead[i + 1] - ahead[i], behind[i] - behind[i + 1], self - rest)
        return found


def measure(response: Any, shape: tuple[int, int], prepared: Mapping[str, Any]) -> Capacities:
    """The capacities of a dense response."""
    leverage = response.diagonal.reshape(shape)
    per_subspace = {
        name: shaped(by_group(response.along(basis), labels, form), form)
        for name, (basis, labels, form) in prepared.items()
    }
    return Capacities(float(leverage.sum()), leverage.sum(axis=0), leverage.sum(axis=1), per_subspace)


def by_group(values: np.ndarray, labels: np.ndarray, form: tuple[int, ...]) -> np.ndarray:
    """(groups, …) sums over the groups of the first axis, group by group in the order of an array of shape ``form``."""
    sums = np.zeros((int(np.prod(form)), *values.shape[1:]))
    np.add.at(sums, labels, values)
    return sums


def shaped(values: np.ndarray, form: tuple[int, ...]) -> Any:
    """An array of shape ``form``, or a number for ()."""
    return values.reshape(form) if form else float(values[0])
