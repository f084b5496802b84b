"""The two forces behind the error of a coefficient: large targets get more capacity, and are harder (App. B.3 (ii))."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from capcore.architectures.base import Architecture
from capcore.processes import FAMILIES
from chapters.shared.rank_correlation import partial_spearman, spearman
from chapters.shared.survey import Case, case


class Forces(NamedTuple):
    """Rank correlations over the inputs at one optimum; NaN where the target is attained and no error is left.

    Attributes
    ----------
    capacity : of |A*| with κ, the first force: larger targets get more capacity.
    difficulty : of |A*| with |Â − A*| at fixed κ, the second: larger targets are harder to reproduce.
    outcome : of |A*| with |Â − A*|, which of the two wins: positive if the difficulty does.
    """

    capacity: float
    difficulty: float
    outcome: float

    @property
    def exists(self) -> bool:
        """Whether there is an error to speak of."""
        return not np.isnan(self.outcome)


def forces(found: Case) -> Forces:
    """The two forces and their outcome at an optimum.

    >>> from capcore import AR1, Hierarchical
    >>> from chapters.shared import survey
    >>> forces(survey.case(Hierarchical(channels=1, n_layers=3), AR1())).exists
    False
    """
    size, capacity = np.abs(found.problem.target), found.allocation.per_input
    if found.attained:
        return Forces(spearman(size, capacity), np.nan, np.nan)
    error = np.abs(found.error)
    return Forces(spearman(size, capacity), partial_spearman(size, error, capacity), spearman(size, error))


def forces_across(archs: Mapping[str, Architecture], seed: int = 0) -> dict[str, list[Forces]]:
    """Family name → :class:`Forces` of each architecture, at the families' default parameters."""
    return {
        name: [forces(case(arch, family(), rng=seed)) for arch in archs.values()] for name, family in FAMILIES.items()
    }
