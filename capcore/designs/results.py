"""The result of a design: a table, a picture, sentences, and the text of a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from capcore.designs.candidates import Candidate
from capcore.designs.notes import cost

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Design:
    """Models for a process, from :func:`~capcore.designs.choosing.design`.

    Attributes
    ----------
    models : list of Candidate
        Those of the table, simplest family first.
    candidates : list of Candidate
        All that were tried.
    best : Candidate
        The recommended one: the best of the simplest family that is as good as any.
    variance : float
        v*, the least prediction variance with ``n_inputs`` inputs.
    variances : (n_inputs + 1,) array
        Least prediction variance from the last 0, 1, … inputs alone; of a series the least final prediction error.
    estimated : bool
        Whether the process was estimated from a series. Then v* is the variance within this series of a forecast with
        as many weights as inputs, and too low by a share of about n/m.
    n_inputs, max_params : int
        As asked for.
    n_observed : int or None
        Number of values that weights are estimated from.
    n_fitted : int or None
        Number of values that the process was estimated from; None for one that is known.
    wall : list of (int, float)
        Parameters, and the fitted bound of the loss of stacks with at least as many, and fewer than in the next entry.
        It covers stacks whose kernels multiply to ``n_inputs``, without overlap or skip connections, and may be too
        high where fits of two layers end in local optima. Empty without stacks.
    proven_wall : list of (int, float)
        The same by the proven bound, which is lower. Empty without stacks, and beyond 1,024 inputs.
    notes : list of str
        What to beware of.
    """

    from capcore.results.representation import record_repr as __repr__  # type: ignore[misc]

    models: list[Candidate] = field(repr=False)
    candidates: list[Candidate] = field(repr=False)
    best: Candidate
    variance: float
    variances: np.ndarray = field(repr=False)
    estimated: bool
    n_inputs: int
    max_params: int
    n_observed: int | None
    n_fitted: int | None
    wall: list[tuple[int, float]] = field(repr=False)
    proven_wall: list[tuple[int, float]] = field(repr=False)
    notes: list[str] = field(repr=False)

    def table(self) -> pandas.DataFrame:
        """The models, a row each: losses and bounds in units of v*. Needs pandas.

        ``prediction_error`` is in the units of the process squared; ``cost`` is the relative price of estimating.

        Examples
        --------
        >>> from capcore import PowerLaw, design
        >>> table = design(PowerLaw(), max_params=3, n_inputs=8, families=["autoregressive"]).table()
        >>> table["parameters"].tolist()
        [3, 2, 1]
        """
        from capcore.checks.arguments import library

        return library("pandas").DataFrame(self.rows())

    def to_dataframe(self) -> pandas.DataFrame:
        """The :meth:`table`, under the name that all results have for it."""
        return self.table()

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table, as plain values."""
        return [
            {
                "model": each.words,
                "family": each.family,
                "parameters": each.n_params,
                "capacity": each.capacity,
                "loss": each.loss / self.variance,
                "bound": each.bound / self.variance,
                "proven": each.proven / self.variance,
                "prediction_error": each.prediction_error,
                "cost": cost(each, self.n_observed, self.n_fitted),
                "far_share": each.far_share,
                "per_octave": each.per_octave.round(2).tolist(),
            }
            for each in self.models
        ]

    def reach(self, share: float) -> int:
        """How many of the last values tell this share of what all inputs tell: of the fall of the error variance.

        Parameters
        ----------
        share : float
            Between 0 and 1.

        Examples
        --------
        >>> from capcore import AutoRegressive, design
        >>> design(AutoRegressive([0.0, 0.5]), max_params=4, n_inputs=8).reach(0.9)
        2
        """
        fall = self.variances[0] - self.variances
        return int(np.argmax(fall >= share * fall[-1] * (1 - 1e-12)))

    def report(self) -> str:
        """All of it in plain words, as the command prints it."""
        from capcore.designs.words import report

        return report(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Parameters against loss, the fitted bound as a wall, and the cost of estimation as a line. Needs matplotlib.

        Points are coloured by the share of the capacity on the distant half of the inputs.
        """
        from capcore.designs.picture import plot_design

        return plot_design(self, ax)

    def torch(self, model: Candidate | int | None = None, hidden: int = 0) -> str:
        """The text of a PyTorch module with the skeleton of a model, to be trained on the data.

        Parameters
        ----------
        model : Candidate or int, optional
            One of ``models``, or its place there. Default: ``best``.
        hidden : int, default 0
            Nonlinear units after taps and pools; 0 keeps them linear.
        """
        from capcore.designs.code import torch_text

        return torch_text(self.chosen(model).arch, hidden)

    def jax(self, model: Candidate | int | None = None) -> str:
        """The text of two JAX functions, ``init`` and ``apply``, with the skeleton of a model.

        Parameters
        ----------
        model : Candidate or int, optional
            One of ``models``, or its place there. Default: ``best``.
        """
        from capcore.designs.code import jax_text

        return jax_text(self.chosen(model).arch)

    def chosen(self, model: Candidate | int | None) -> Candidate:
        """The candidate that is meant."""
        if model is None:
            return self.best
        if isinstance(model, Candidate):
            return model
        if isinstance(model, bool) or not isinstance(model, int | np.integer) or not -1 <= model < len(self.models):
            raise ValueError(
                f"model: found {model!r}, expected a place from 0 to {len(self.models) - 1}, or a candidate."
            )
        return self.models[int(model)]

    def _repr_html_(self) -> str:
        from capcore.designs.words import html

        return html(self)
