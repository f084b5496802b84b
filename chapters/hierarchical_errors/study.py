"""Errors of fitted models: stopped runs, model against truth, and the two forces behind an error.

Paper 1, Figure 6 and App. B.3. L-BFGS-B has not converged when it is stopped, and its path is chaotic: the round-off of
another processor sends every run elsewhere. The 30 runs of the registered checks are therefore stored, with longer and
shorter ones, and a few of them are run again where they are used.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from capcore import Architecture, Hierarchical
from capcore.processes import FAMILIES, PowerLaw, Process
from chapters.claims.registry import load
from chapters.gaussian_prediction.response import model_autocorrelation
from chapters.hierarchical_errors.experiment import architecture
from chapters.hierarchical_errors.runs import Runs
from chapters.kit import stored as results
from chapters.shared.profiles import distant, recent
from chapters.shared.rank_statistics import spearman
from chapters.shared.survey import Case, case


class StoppingExperiment(NamedTuple):
    """L-BFGS-B runs stopped after more and more iterations (power law), and stopped early for the five families.

    Attributes
    ----------
    by_stop : most iterations → ``Runs``, ascending. families : family name → the same.
    settings : what they were made with.
    """

    by_stop: dict[int, Runs]
    families: dict[str, Runs]
    settings: dict[str, Any]

    @classmethod
    def load(cls, path: str | Path | None = None) -> Self:
        """Read the committed file, or another."""
        content = results.load(path or results.path_of("lbfgs_stopping"))
        by_stop = {int(stop): Runs.from_json(stored) for stop, stored in content["values"]["by_stop"].items()}
        families = {name: Runs.from_json(stored) for name, stored in content["values"]["families"].items()}
        return cls(by_stop, families, content["settings"])

    def paper(self, arch: Hierarchical, process: Process, stop: int) -> Runs | None:
        """The stored runs up to ``stop`` iterations if they are of this model and process, and None otherwise."""
        same = repr(arch) == repr(architecture(self.settings)) and process == PowerLaw()
        return self.by_stop.get(stop) if same else None


def beyond_limit(runs: Runs) -> np.ndarray:
    """Indices of the inputs whose mean share of the squared error exceeds the mean of its limit.

    An error with KᵀX = 0 has x_i² ≤ (1 − κ_i)‖X‖² (paper 1, section 3.3), so at stationary points there are none. The
    limit is the normalised bound times n − κ.
    """
    free = runs.inputs.bounds.mean.size - runs.totals.min()
    return np.flatnonzero(runs.inputs.errors.mean > 1.01 * free * runs.inputs.bounds.mean)


class PredictionErrors(NamedTuple):
    """Model against truth; coefficients (n,) at lags 0 … n − 1, autocorrelations (n + 1,) at lags 0 … n.

    Attributes
    ----------
    target, model : A* and Â. autocorrelation, model_autocorrelation : C and Ĉ, both 1 at lag 0.
    exists : False where the target is attained to rounding, so that the errors mean nothing.
    """

    target: np.ndarray
    model: np.ndarray
    autocorrelation: np.ndarray
    model_autocorrelation: np.ndarray
    exists: bool

    @classmethod
    def of(cls, optimum: Case) -> Self:
        """The errors of an architecture at its optimum. Raises ``ValueError`` for a model that is unstable."""
        n = optimum.problem.target.size
        c = optimum.process.autocovariance(n + 1)
        model = optimum.fit.coefficients
        return cls(optimum.problem.target, model, c / c[0], model_autocorrelation(model, n + 1), not optimum.attained)

    @property
    def coefficient_error(self) -> np.ndarray:
        """(n,) X = Â − A*."""
        return self.model - self.target

    @property
    def autocorrelation_error(self) -> np.ndarray:
        """(n + 1,) Ĉ − C, zero at lag 0."""
        return self.model_autocorrelation - self.autocorrelation

    def short_long_ratio(self) -> float:
        """Root mean square of Ĉ − C over the first eighth of lags 1 … n, divided by that over their second half.

        It is 1 where both are zero.
        """
        error = self.autocorrelation_error[1:]
        short, long = (float(np.sqrt(np.mean(np.square(error[w(error.size)])))) for w in (recent, distant))
        return short / long if long > 0 else (1.0 if short == 0 else np.inf)


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


def forces(optimum: Case) -> Forces:
    """The two forces and their outcome at an optimum.

    >>> from capcore import AR1, Hierarchical
    >>> from chapters.shared import survey
    >>> forces(survey.case(Hierarchical(channels=1, n_layers=3), AR1())).exists
    False
    """
    size, capacity = np.abs(optimum.problem.target), optimum.allocation.per_input
    if optimum.attained:
        return Forces(spearman(size, capacity), np.nan, np.nan)
    error = np.abs(optimum.error)
    return Forces(spearman(size, capacity), spearman(size, error, capacity), spearman(size, error))


def forces_across(archs: Mapping[str, Architecture], seed: int) -> dict[str, list[Forces]]:
    """Family name → :class:`Forces` of each architecture, at the families' default parameters."""
    return {name: [forces(case(arch, family(), seed)) for arch in archs.values()] for name, family in FAMILIES.items()}


def ends(stack: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Where L-BFGS-B ended, and the lowest loss of all runs, of a stack in the stored result ``stopped_stacks``."""
    lowest = min((stop for run in stack["runs"].values() for stop in run), key=lambda stop: stop["loss"])
    return stack["runs"]["l-bfgs-b"][-1], lowest


def passes(claim_id: str, /, **values: float) -> bool:
    """Whether every value passes the test that the registry holds for the check of that name.

    Raises ``ClaimsError`` for an unknown claim or check.

    >>> passes("P1.48", recent_share=0.3), passes("P1.48", recent_share=0.2)
    (True, False)
    """
    claim = load()[claim_id]
    return all(claim.check(name).test.holds(value) for name, value in values.items())
