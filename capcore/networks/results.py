"""The results of :func:`~capcore.networks.allocation.allocate_network`, for both methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from capcore.checks.arguments import finite_array, one_of, positive_number
from capcore.checks.memory import arrays, check_memory
from capcore.networks.dual import gram, reduced
from capcore.networks.leave_one_out import LeaveOneOut, leave_one_out
from capcore.networks.linearised import Linearised, optimum
from capcore.networks.losses import slopes_of, to_metric
from capcore.networks.problem import NetworkProblem
from capcore.networks.report import cautions, digits, report
from capcore.networks.response import Response
from capcore.networks.subspaces import by_group, shaped
from capcore.results.notebook import Record, bars, table

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes

ROW_SUMS = 1e-6
"""Largest sum of a row that counts as 0, relative to the sum of absolute values: single precision leaves less."""
STEP = 1e-5
"""Largest shift of the targets by which slopes are differentiated: about the cube root of rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class Capacities(Record):
    """The capacities of one response operator.

    Attributes
    ----------
    total : float
        tr S.
    per_output : (K,) array
        Sums to ``total``. For cross-entropy these parts depend on the root of W, here R = diag(√p) − p√pᵀ:
        multiplying R by a rotation of each example's outputs changes only these.
    per_position : (N, …) array
        Leverages of tokens or pixels, where each has a loss; they sum to ``total``.
    per_subspace : dict
        Name → array of the subspace's groups, or a number.
    """

    total: float
    per_output: np.ndarray = field(repr=False)
    per_position: np.ndarray = field(repr=False)
    per_subspace: dict[str, Any] = field(repr=False)

    @property
    def per_example(self) -> np.ndarray:
        """(N,) leverages; they sum to ``total``."""
        return self.per_position.reshape(len(self.per_position), -1).sum(axis=1)

    def __sub__(self, other: Capacities) -> Capacities:
        names = ("total", "per_output", "per_position")
        per_subspace = {name: values - other.per_subspace[name] for name, values in self.per_subspace.items()}
        total, per_output, per_position = (getattr(self, name) - getattr(other, name) for name in names)
        return Capacities(total, per_output, per_position, per_subspace)


def measure(response: Response, problem: NetworkProblem, prepared: Mapping[str, Any]) -> Capacities:
    """The capacities of a dense response."""
    leverage = response.diagonal
    per_subspace = {
        name: shaped(by_group(response.along(basis), labels, form), form)
        for name, (basis, labels, form) in prepared.items()
    }
    per_output = leverage.reshape(-1, problem.shape[problem.derivatives.axis]).sum(axis=0)
    per_position = problem.spread(leverage).sum(axis=problem.derivatives.axis)
    return Capacities(float(leverage.sum()), per_output, per_position, per_subspace)


@dataclass(frozen=True, eq=False, repr=False)
class NetworkLayer(Record):
    """Capacities of one group of parameters, in the four versions of a layer of :func:`~capcore.verbs.allocate`.

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

    @property
    def totals(self) -> dict[str, float]:
        """The four totals."""
        return {name: view.total for name, view in vars(self).items()}

    def _repr_html_(self) -> str:
        return table("Capacity of a layer", {name: f"{total:.6g}" for name, total in self.totals.items()})


@dataclass(frozen=True, eq=False, repr=False)
class NetworkAllocation(Capacities):
    """Where a network at given parameters spends its capacity, and how close to an optimum it is.

    Attributes
    ----------
    gauss_newton_total : float
        tr S without the residual curvature Σ e ∇²f: the number to report. The same as ``total`` unless the full Hessian
        was asked for.
    curvature : str
        "gauss-newton" or "full": which H everything else here is about.
    loss : str
    loss_value : float
        L(θ), R included.
    gradient_norm : float
        ‖∇L‖.
    decrement : float
        ½∇LᵀH⁻¹∇L / L: the share of the loss that a Newton step would remove.
    is_optimum : bool
        Whether ``decrement`` is below 1e-8 and no curvature of H is negative. The Gauss–Newton form has no negative
        curvature, and so does not tell a saddle from a minimum.
    largest_leverage : float
        How far an example's outputs follow a shift of their own targets at most: the largest eigenvalue of the (K, K)
        blocks of S. It is at most 1 in the Gauss–Newton form, and unbounded in the full one.
    n_negative, n_singular : int
        Eigenvalues of H below zero, and numerically zero.
    method : str
        "dense" or "dual".
    error : float
        Relative rounding error.
    """

    gauss_newton_total: float
    curvature: str = field(repr=False)
    loss: str
    loss_value: float
    gradient_norm: float
    decrement: float
    is_optimum: bool
    largest_leverage: float
    method: str
    error: float
    problem: NetworkProblem = field(repr=False)
    subspaces: Mapping[str, Any] = field(repr=False)
    n_negative: int
    n_singular: int
    _largest: int = field(repr=False)  # the example with the largest leverage
    _fitted: int = field(repr=False)  # number of examples whose leverage is 1
    _model: Linearised = field(repr=False)
    _hessian: np.ndarray = field(repr=False)
    _response: Response = field(repr=False)

    def report(self) -> str:
        """Which number to report and why, what the gradient means for it, where the capacity goes, and what to beware.

        >>> from capcore.networks.allocation import allocate_network
        >>> x = np.eye(4)[:, :2] + 0.5
        >>> allocation = allocate_network(lambda w, x: x @ w, np.ones(2), x, x @ np.ones(2), weight_decay=1.0)
        >>> print(allocation.report().splitlines()[0])
        1.33 of 2 parameters count; report this number.
        """
        return report(self)

    def response(self, shift: object) -> np.ndarray:
        """Change of the outputs, in their shape and to first order, after the targets moved by ``shift``: J H⁻¹ Jᵀ h.

        h is −∂²ℓ/∂f∂y times the shift, which is the shift itself for squared loss. Targets of cross-entropy stay
        probabilities, so each row of a shift sums to 0. Any other row would move all logits of its position alike,
        which only weight decay resists.
        """
        problem, h = self.problem, finite_array(shift, "shift", tuple(range(1, 9)))
        if h.shape not in (problem.shape, (problem.targets.size,)):
            raise ValueError(f"shift: found shape {h.shape}, expected {problem.shape}, that of the outputs.")
        h, axis = h.reshape(problem.shape), problem.derivatives.axis
        if problem.loss.dependent:
            rest = h.sum(axis, keepdims=True)
            if np.abs(rest).max() > ROW_SUMS * np.abs(h).sum(axis).max():
                raise ValueError(
                    f"shift: found a row of sum {rest.flat[np.abs(rest).argmax()]:.3g}, expected 0. Subtract its mean."
                )
            h = h - h.mean(axis, keepdims=True)
        outputs, step = problem.derivatives.outputs(problem.derivatives.params), STEP / max(np.abs(h).max(), STEP)
        moves = step * h.swapaxes(axis, -1).reshape(outputs.shape)
        below, above = (slopes_of(outputs, problem.targets + t * moves, problem.loss)[0] for t in (-1, 1))
        jacobian = self._model.jacobian
        moved = self._response.solve(jacobian.T @ (below - above).ravel() / (2 * step))
        return problem.spread(jacobian @ moved)

    @cached_property
    def layers(self) -> dict[str, NetworkLayer]:
        """Name of a group of parameters → its capacities, in the order of the parameters.

        Only the group responds, with all others constant ("independent"); the rest are differences of such responses.
        """
        problem = self.problem
        names, every = list(problem.layers), np.arange(problem.decay.size)
        metric = problem.at(problem.derivatives.params)[1:]
        if self.method == "dual":
            size = f"layers: found {len(names)} of {problem.targets.size:,} outputs"
            n_bytes = arrays(problem.targets.size, problem.targets.size, copies=len(names) + 6)
            check_memory(n_bytes, size, "Give fewer layers, or fewer examples.")
            parts, free, moved = gram(problem, list(problem.layers.values()))
        scaled = to_metric(self._model.jacobian, *metric)

        def of(chosen: list[str]) -> Capacities:
            columns = np.concatenate([every[:0], *(every[problem.layers[name]] for name in chosen)])
            if self.method == "dual":
                matrix = sum((parts[names.index(name)] for name in chosen), np.zeros_like(parts[0]))
                inside = free[:, np.isin(np.flatnonzero(problem.decay == 0), columns)]
                system = reduced(matrix, inside, moved).system(*metric)
            else:
                system = scaled[:, columns], self._hessian[np.ix_(columns, columns)]
            return measure(Response.of(*system), problem, self.subspaces)

        ahead = [of(names[:i]) for i in range(len(names))] + [self]
        behind = [self] + [of(names[i:]) for i in range(1, len(names) + 1)]
        layers = {}
        for i, name in enumerate(names):
            rest = of(names[:i] + names[i + 1 :])
            layers[name] = NetworkLayer(of([name]), ahead[i + 1] - ahead[i], behind[i] - behind[i + 1], self - rest)
        return layers

    def leave_one_out(self) -> LeaveOneOut:
        """Every example left out, by Gauss–Newton, whatever the allocation has.

        Raises
        ------
        TooLargeError
            If arrays would not fit into memory.

        Examples
        --------
        >>> from capcore.networks.allocation import allocate_network
        >>> x, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]]), np.array([0.0, 1.0, 1.0, 2.0])
        >>> allocation = allocate_network(lambda w, x: x @ w, np.linalg.lstsq(x, y)[0], x, y)
        >>> round(allocation.leave_one_out().mean_loss, 6)
        0.073696
        """
        problem, (jacobian, decay, params) = self.problem, self._model
        outputs = problem.derivatives.outputs(problem.derivatives.params)
        blocks = jacobian.reshape(*outputs.shape, -1)
        return leave_one_out(optimum(blocks, outputs, problem.targets, decay, decay * params, problem.loss), outputs)

    def decay_curve(self, scales: object) -> np.ndarray:
        """(m,) totals of the same linearised network at multiples (m,) of its weight decay, by Gauss–Newton.

        An eigenvalue s of S becomes s/(s + c(1 − s)) at c times the decay.

        >>> from capcore.networks.allocation import allocate_network
        >>> x = np.eye(3)
        >>> allocation = allocate_network(lambda w, x: x @ w, np.ones(3), x, np.ones(3), weight_decay=1.0)
        >>> allocation.decay_curve([1.0, 2.0]).round(9).tolist()
        [1.5, 1.0]
        """
        if self.curvature == "full":
            raise AttributeError("decay_curve: found a full Hessian, expected curvature='gauss-newton'.")
        s = np.maximum(self._response.spectrum, 0.0)  # which rounding may miss
        factors = [positive_number(scale, "scales") for scale in finite_array(scales, "scales", 1).tolist()]
        return np.array([(s / (s + factor * (1 - s))).sum() for factor in factors])

    def plot(
        self,
        ax: Axes | None = None,
        label: str | None = None,
        shape: tuple[int, int] | None = None,
        *,
        subspace: str | None = None,
        by: str = "subspace",
        **style: Any,
    ) -> Axes:
        """Capacity of the groups of a subspace, such as the inputs; with a ``shape`` as an image. Needs matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; those of another network, to compare the two.
        label : str, optional
            Name in the legend; of an image, its title.
        shape : (int, int), optional
            Rows and columns of the image, where inputs are pixels. Two-dimensional groups, such as patches, have one.
        subspace : str, optional
            By default the first of ``per_subspace``.
        by : str
            "subspace", or "layer" for bars of the four totals of every layer, as :meth:`to_dataframe` has them.
        **style : object
            For the line, the image, or the bars.

        Raises
        ------
        ValueError
            If there is no such subspace, or the groups do not fill the shape.
        """
        from capcore.plotting import axes_for, plot_groups, plot_image

        if one_of(by, "by", ("subspace", "layer")) == "layer":
            return self.to_dataframe(by).plot.barh(ax=axes_for(ax), xlabel="capacity", **style)
        several = [name for name, values in self.per_subspace.items() if np.ndim(values)]
        name = subspace if subspace is not None else next(iter(several), "")
        if name not in several:
            known = ", ".join(map(repr, several)) or "a subspace of several groups: pass subspaces to allocate_network"
            raise ValueError(f"subspace: found {name!r}, expected {known}.")
        values = np.atleast_1d(np.squeeze(self.per_subspace[name]))  # one channel of a series is a line
        if shape is not None or values.ndim == 2:
            return plot_image(values, values.shape if shape is None else shape, axes_for(ax), label, **style)
        return plot_groups(values.ravel(), axes_for(ax), name, label, **style)

    def to_dataframe(self, by: str = "example") -> pandas.DataFrame:
        """Capacities as a tidy table. Needs pandas.

        Parameters
        ----------
        by : str
            "example", "output", "subspace" (all groups of all subspaces) or "layer".
        """
        from capcore.results.tables import network_frame

        return network_frame(self, by)

    def to_xarray(self) -> xarray.Dataset:
        """All capacities, each with its own dimensions, as :mod:`capcore.results.tables` names them. Needs xarray."""
        from capcore.results.tables import dataset

        return dataset({by: self.to_dataframe(by) for by in ("example", "output", "subspace")})

    def _repr_html_(self) -> str:
        rows = {
            "report": f"{digits(self.gauss_newton_total)} (Gauss–Newton)",
            **({"response to retraining": f"{self.total:.6g} (full Hessian)"} if self.curvature == "full" else {}),
            "examples, outputs": f"{len(self.per_position):,}, {self.per_output.size:,}",
            "loss": f"{self.loss_value:.6g} ({self.loss})",
            "at an optimum": "yes" if self.is_optimum else f"no: gradient norm {self.gradient_norm:.2g}",
            "largest leverage": f"{self.largest_leverage:.3g}",
            "method": f"{self.method}, error about {self.error:.1g}",
            "beware": " ".join(cautions(self)) or "of nothing",
        }
        groups = [(name, np.ravel(v)) for name, v in self.per_subspace.items() if 1 < np.size(v) <= 64]
        return table("Capacity of a network", rows) + "".join(bars(v, f"capacity of {name}") for name, v in groups[:1])
