"""A fitted model against the process it predicts: coefficients and autocorrelation (paper 1, App. B.3, Fig. 14)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chapters.gaussian_prediction.response import model_autocorrelation
from chapters.shared.profiles import distant, recent
from chapters.shared.survey import Case


@dataclass(frozen=True, eq=False)
class PredictionErrors:
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
    def of(cls, found: Case) -> PredictionErrors:
        """The errors of an architecture at its optimum. Raises ``ValueError`` for a model that is unstable."""
        n = found.problem.target.size
        c = found.process.autocovariance(n + 1)
        model = found.fit.coefficients
        return cls(found.problem.target, model, c / c[0], model_autocorrelation(model, n + 1), not found.attained)

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


def relative_to(error: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """``error`` / ``truth``, NaN where the truth is zero (drawn as a gap).

    >>> relative_to(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    return np.divide(error, truth, out=np.full(error.shape, np.nan), where=truth != 0)
