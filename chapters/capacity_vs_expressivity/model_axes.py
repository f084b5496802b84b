"""One report for the three questions: what can a model memorise, what can it express, and where can it move?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from chapters.capacity_vs_expressivity.memorisation import MemorisationCurve, TargetFit

KAPPA = "κ (rank of Jacobian)"
"""The column of κ, carried over to networks as the rank of the parameter Jacobian."""


@dataclass(frozen=True, eq=False)
class ModelAxes:
    """Capacity, expressivity and capacity allocation of one model.

    Attributes
    ----------
    name : of the model. n_params : weights and biases.
    memorisation : its accuracies on random labels.
    fits : target → its accuracies.
    ranks : (trials,) κ, the rank of the parameter Jacobian on data. odd_shares : (trials,) the share of it on functions
        that see a reordering, :meth:`~capcore.complexity.parameter_rank.ParameterRank.odd_share`.
    """

    name: str
    n_params: int
    memorisation: MemorisationCurve
    fits: Mapping[str, TargetFit] = field(default_factory=dict)
    ranks: np.ndarray = field(default_factory=lambda: np.empty(0))
    odd_shares: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def capacity(self) -> str:
        """Random labels memorised; "≥" where all sizes were."""
        return f"{'≥ ' if self.memorisation.at_edge else ''}{self.memorisation.memorised():,}"

    def row(self) -> dict[str, str]:
        """Column → text: medians over the trials, "–" for what was not measured."""
        cells = {"parameters": f"{self.n_params:,}", "random labels memorised": self.capacity}
        cells |= {f"{target}, test": f"{np.median(fit.test):.2f}" for target, fit in self.fits.items()}
        cells[KAPPA] = f"{np.median(self.ranks):.0f}" if self.ranks.size else "–"
        cells["share of κ that sees order"] = f"{np.median(self.odd_shares):.2f}" if self.odd_shares.size else "–"
        return cells

    def __repr__(self) -> str:
        return f"ModelAxes({self.name}: " + ", ".join(f"{key} {value}" for key, value in self.row().items()) + ")"


def axes_table(models: Iterable[ModelAxes]) -> dict[str, dict[str, str]]:
    """Model → column → text, for a table; columns that a model lacks are "–"."""
    rows = {model.name: model.row() for model in models}
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    return {name: {column: row.get(column, "–") for column in columns} for name, row in rows.items()}
