"""The result of a design: a table, a picture, sentences, and the text of a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from capcore.designs import code, words
from capcore.designs.candidates import Candidate
from capcore.designs.picture import plot_design

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
        v*, the least prediction variance with ``n_inputs`` inputs. Of a series it is the variance within this series
        of a forecast with as many weights as inputs, and too low by a share of about n/m.
    variances : (n_inputs + 1,) array
        Least prediction variance from the last 0, 1, … inputs alone; of a series the least final prediction error.
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
    n_inputs: int
    max_params: int
    n_observed: int | None
    n_fitted: int | None
    wall: list[tuple[int, float]] = field(repr=False)
    proven_wall: list[tuple[int, float]] = field(repr=False)
    notes: list[str] = field(repr=False)

    def to_dataframe(self) -> pandas.DataFrame:
        """The models, a row each: losses and bounds in units of v*. Needs pandas.

        ``prediction_error`` is in the units of the process squared; ``cost`` is the relative price of estimating.

        Examples
        --------
        >>> from capcore import PowerLaw, design
        >>> table = design(PowerLaw(), max_params=3, n_inputs=8, families=["autoregressive"]).to_dataframe()
        >>> table["parameters"].tolist()
        [3, 2, 1]
        """
        from capcore.checks.arguments import library

        rows = [
            {
                "model": one.words,
                "family": one.family,
                "parameters": one.n_params,
                "capacity": one.capacity,
                "loss": one.loss / self.variance,
                "bound": one.bound / self.variance,
                "proven": one.proven / self.variance,
                "prediction_error": one.prediction_error,
                "cost": one.cost,
                "far_share": one.far_share,
                "per_octave": one.per_octave.round(2).tolist(),
            }
            for one in self.models
        ]
        return library("pandas").DataFrame(rows)

    def reach(self, share: float) -> int:
        """How many of the last values explain this share of what all inputs do: of the fall of the error variance.

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
        return words.report(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Parameters against loss, the fitted bound as a wall, and the cost of estimation as a line. Needs matplotlib.

        Points are coloured by the share of the capacity on the distant half of the inputs.
        """
        return plot_design(self, ax)

    def torch(self, model: Candidate | None = None) -> str:
        """The text of a PyTorch module with the skeleton of ``model``, by default ``best``, to be trained on data."""
        return code.torch_text((model or self.best).arch)

    def jax(self, model: Candidate | None = None) -> str:
        """The same as two JAX functions, ``init`` and ``apply``."""
        return code.jax_text((model or self.best).arch)

    def _repr_html_(self) -> str:
        return words.html(self)
