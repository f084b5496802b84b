"""What to beware of in a design, in sentences, and whether the two halves of a series have the same autoregression.

Final prediction errors assume that the series goes on as it was. If its halves disagree, they rank models wrongly. It
is a Wald test, as Chow's (1960), for each variance.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import chi2

from capcore.checks.arguments import quiet
from capcore.designs.candidates import Candidate
from capcore.designs.families import Task
from capcore.processes.time_series import LENGTH_PER_LAG, estimate_process

UNLIKELY = 1e-3
MOST_LAGS = 20


def warnings_of(candidates: list[Candidate], task: Task, agreement: float | None) -> Iterator[str]:
    """What is urgent enough for a warning; ``agreement`` is the p-value of equal halves of the series, if any."""
    if task.max_params >= task.n_inputs:
        yield (
            f"max_params: found {task.max_params:,}, expected fewer than the {task.n_inputs:,} inputs: as many taps "
            "leave no loss. Use fewer parameters, or more inputs."
        )
    if agreement is not None and agreement < UNLIKELY:
        yield (
            f"process: found two halves of the series with different autoregressions (p = {agreement:.0e}), expected a "
            "stationary series. Compare models on held-out data."
        )
    simple = min((one for one in candidates if one.loss == 0), key=lambda one: one.n_params, default=None)
    if simple and simple.n_params < min(task.max_params, task.n_inputs):
        yield (
            f"process: found one that {simple.words} forecast(s) without loss, expected one that no small model "
            "attains. Larger models have singular optima, whose capacity depends on where a fit ends. Use it."
        )


def halves_agree(series: object, order: int) -> float | None:
    """The p-value of the hypothesis that both halves have one autoregression; None where they are too short.

    The coefficients of AR(q) estimated from a half with m/2 values have the covariance v Σ⁻¹ / (m/2), so that
    ΔᵀC⁻¹Δ has the χ² law of q degrees of freedom, with Δ the difference of the two estimates and C the sum of their
    covariances. That needs an order at which the errors are white: with five lags for a power law, 12 of 100
    stationary series have p < 0.05; with twenty lags, 4 have.

    Parameters
    ----------
    series : (m,) array_like
        Oldest first.
    order : int
        q, of which at most 20 are used.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=2000)
    >>> halves_agree(noise, 3) > 0.01, halves_agree(np.r_[noise[:1000], np.cumsum(noise[1000:])], 3) < 1e-6
    (True, True)
    """
    values = np.asarray(series)
    half = len(values) // 2
    order = min(order, MOST_LAGS, half // LENGTH_PER_LAG - 1)
    if order < 1:
        return None
    try:
        with quiet():
            processes = [estimate_process(part, order) for part in (values[:half], values[half:])]
            (first, one), (second, other) = (process.predictor(order) for process in processes)
    except ValueError:
        return None
    covariances = [np.linalg.inv(process.covariance(order)) / process.pairs[0] for process in processes]
    spread, difference = one * covariances[0] + other * covariances[1], first - second
    return float(chi2.sf(difference @ np.linalg.solve(spread, difference), order))
