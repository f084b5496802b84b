"""The results of :func:`~capcore.networks.allocation.allocate_network`, for both methods."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from capcore.capacity.allocation import CapacityWarning
from capcore.checks.arguments import finite_array
from capcore.networks.capacities import Capacities, NetworkLayer, measure
from capcore.networks.problem import NetworkProblem
from capcore.networks.report import CONTRACTION, SLACK, cautions, number, report
from capcore.networks.response import DenseModel
from capcore.networks.subspaces import in_metric
from capcore.results.notebook import bars, table

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes

    from capcore.networks.decay_curve import DecayCurve
    from capcore.networks.leave_one_out import LeaveOneOut

ROW_SUMS = 1e-6
"""Largest sum of a row that counts as 0, relative to the sum of absolute values: single precision leaves less."""


@dataclass(frozen=True, eq=False)
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
        blocks of S. It is at most 1 in the Gauss–Newton form, and unbounded in the full one. For "sketch" it is a
        lower bound, from the four examples that seem to have the largest.
    n_negative, n_singular : int
        Eigenvalues below zero, and numerically zero; −1 for "sketch".
    method : str
        "dense" or "sketch".
    error : float
        Half-width of the 95 % interval of ``total``, by Student's law with ``probes`` − 1 degrees of freedom, plus what
        the solves may lack; for "dense" the relative rounding error.
    errors : Capacities or None
        For "sketch" the half-widths of all capacities. Subspaces with at most ``probes`` columns are not sampled: their
        error is what the solves may lack.
    seconds : float
        How long it took.
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    gauss_newton_total: float
    curvature: str = field(repr=False)
    loss: str
    loss_value: float
    gradient_norm: float
    decrement: float
    is_optimum: bool
    largest_leverage: float
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
    seconds: float = field(default=0.0, repr=False)

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """(p,) eigenvalues of H, ascending, computed when they are first asked for; empty for "sketch"."""
        return self._response.eigenvalues if self.method == "dense" else np.empty(0)

    def report(self) -> str:
        """Which number to report and why, what the gradient means for it, where the capacity goes, and what to beware.

        >>> from capcore.networks.allocation import allocate_network
        >>> x = np.eye(4)[:, :2] + 0.5
        >>> found = allocate_network(lambda w, x: x @ w, np.ones(2), x, x @ np.ones(2), weight_decay=1.0)
        >>> print(found.report().splitlines()[0])
        Report 1.33: so many of the 2 parameters count.
        """
        return report(self)

    def dense(self, name: str) -> DenseModel:
        """J and H; raises ``AttributeError`` for a sketch, which does not have them."""
        if self.method != "dense":
            raise AttributeError(f"{name}: found a result of method 'sketch'. Use allocate_network(…, method='dense').")
        return self._model

    def capacity(self, columns: object) -> float:
        """tr ZᵀSZ of the subspace that columns (N·K, k) span, example by example, in units of the outputs.

        Warns if it exceeds the dimension, which is possible with the full Hessian.
        """
        array = finite_array(columns, "columns", (1, 2)).reshape(len(np.asarray(columns)), -1)
        basis = in_metric(array, self.problem)
        if basis.shape[1] == 0:
            raise ValueError("columns: found dimension 0, expected at least one that is not zero.")
        found = float(np.einsum("im,im->", basis, self._response.apply(basis)))
        if found > basis.shape[1] * (1 + SLACK):
            warnings.warn(
                f"columns: found a capacity of {found:.6g} in {basis.shape[1]} dimensions, expected at most 1 in each. "
                f"{CONTRACTION}",
                CapacityWarning,
                stacklevel=2,
            )
        return found

    def response(self, shift: object) -> np.ndarray:
        """(N, K) change of the outputs, to first order, after the targets moved by ``shift`` (N, K): J H⁻¹ Jᵀ h.

        Targets of cross-entropy stay probabilities, so each row of a shift sums to 0. Any other row would move all
        logits of its example alike, which only weight decay resists.
        """
        h = finite_array(shift, "shift", (1, 2))
        shape = self.problem.targets.shape
        if h.shape not in (shape, (self.problem.targets.size,)):
            raise ValueError(f"shift: found shape {h.shape}, expected {shape}, that of the targets.")
        h = h.reshape(shape)
        if self.loss == "cross-entropy":
            rest = h.sum(axis=1, keepdims=True)
            if np.abs(rest).max() > ROW_SUMS * np.abs(h).sum(axis=1).max():
                raise ValueError(
                    f"shift: found a row that sums to {rest[np.abs(rest).argmax(), 0]:.3g}, expected 0 in each: the "
                    "targets of cross-entropy are probabilities. Take the difference of two such targets, or subtract "
                    "each row's mean."
                )
            h = h - rest / shape[1]
        derivatives = self.problem.derivatives
        gradient = derivatives.vjp(derivatives.params, h.reshape(1, *shape))
        return derivatives.jvp(derivatives.params, self._response.solve(gradient.T).T)[0]

    @cached_property
    def layers(self) -> dict[str, NetworkLayer]:
        """Name of a group of parameters → its capacities, in the order of the parameters.

        Only the group responds, with all others constant ("independent"); the rest are differences of such responses.
        """
        model = self.dense("layers")
        options = {name: self._options[name] for name in ("full", "tolerance", "time")}
        every = np.arange(self.problem.derivatives.n_params)
        parts = {name: every[part] for name, part in self.problem.layers.items()}
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

    def plot(
        self,
        ax: Axes | None = None,
        label: str | None = None,
        shape: tuple[int, int] | None = None,
        *,
        subspace: str | None = None,
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
        **style : object
            For the line, or the image.

        Raises
        ------
        ValueError
            If there is no such subspace, or the groups do not fill the shape.
        """
        from capcore.plotting import axes_for, plot_groups, plot_image

        several = [name for name, values in self.per_subspace.items() if np.ndim(values)]
        name = subspace if subspace is not None else next(iter(several), "")
        if name not in several:
            known = ", ".join(map(repr, several)) or "a subspace of several groups: pass subspaces to allocate_network"
            raise ValueError(f"subspace: found {name!r}, expected {known}.")
        values = np.atleast_1d(np.squeeze(self.per_subspace[name]))  # one channel of a series is a line
        if shape is not None or values.ndim == 2:
            return plot_image(values, values.shape if shape is None else shape, axes_for(ax), label, **style)
        errors = None if self.errors is None else np.ravel(self.errors.per_subspace[name])
        return plot_groups(values.ravel(), axes_for(ax), name, label, errors, **style)

    def to_dataframe(self, by: str = "example") -> pandas.DataFrame:
        """Capacities as a tidy table, with ``error`` beside them for a sketch. Needs pandas.

        Parameters
        ----------
        by : str
            "example", "output", "subspace" (all groups of all subspaces) or "layer" (dense only).
        """
        from capcore.results.tables import network_frame

        return network_frame(self, by)

    def to_xarray(self) -> xarray.Dataset:
        """All capacities, each with its own dimensions, as :mod:`capcore.results.tables` names them. Needs xarray."""
        from capcore.results.tables import network_dataset

        return network_dataset(self)

    def sharpened(self, columns: object = None, rng: object = None, progress: bool = False) -> NetworkAllocation:
        """A sketch with leverages known to a percent or so; see :func:`~capcore.networks.folded.sharpened`."""
        from capcore.networks.folded import sharpened

        return sharpened(self, columns, rng, progress)

    def leave_one_out(self) -> LeaveOneOut:
        """Every example left out; see :func:`~capcore.networks.generalisation.left_out`."""
        from capcore.networks.generalisation import left_out

        return left_out(self)

    @property
    def gcv(self) -> float:
        """Generalised cross-validation; see :func:`~capcore.networks.generalisation.cross_validated`."""
        from capcore.networks.generalisation import cross_validated

        return cross_validated(self)

    def decay_curve(self, decays: object = None, noise: float | None = None, **sketch: Any) -> DecayCurve:
        """What other weight decays would give; see :func:`~capcore.networks.generalisation.curve`."""
        from capcore.networks.generalisation import curve

        return curve(self, decays, noise, **sketch)

    def _repr_html_(self) -> str:
        rows = {
            "report": f"{number(self)} (Gauss–Newton)",
            **({"response to retraining": f"{self.total:.6g} (full Hessian)"} if self.curvature == "full" else {}),
            "examples, outputs": f"{self.per_example.size:,}, {self.per_output.size:,}",
            "loss": f"{self.loss_value:.6g} ({self.loss})",
            "at an optimum": "yes" if self.is_optimum else f"no: gradient norm {self.gradient_norm:.2g}",
            "largest leverage": f"{self.largest_leverage:.3g}",
            "method": f"{self.method}, error about {self.error:.1g}",
            **{"beware" if i == 0 else f"beware ({i + 1})": each.text for i, each in enumerate(cautions(self))},
        }
        groups = [(name, np.ravel(each)) for name, each in self.per_subspace.items() if 1 < np.size(each) <= 64]
        return table("Capacity of a network", rows) + "".join(bars(v, f"capacity of {name}") for name, v in groups[:1])
