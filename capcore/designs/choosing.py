"""``cc.design``: models of several families for one process, bounds of stacks, and what to beware of.

Final prediction errors assume that the series goes on as it was. If its halves disagree, they rank models wrongly.
The test of that is Wald's, as Chow's (1960), with a variance for each half.
"""

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from scipy.stats import chi2

from capcore import verbs
from capcore.checks.arguments import all_of_kind, of_kind, one_of, positive_integer, quiet, warn
from capcore.checks.memory import check_covariance
from capcore.checks.progress import tqdm
from capcore.designs.bonds import EPS
from capcore.designs.families import FAMILIES, Task, final_prediction_error
from capcore.designs.results import Candidate, Design
from capcore.designs.search import mended, wall
from capcore.processes import Process
from capcore.processes.kernels import as_task
from capcore.processes.time_series import LENGTH_PER_LAG, estimate_process

UNLIKELY = 1e-3  # probability that both halves are of one process, below which there is a warning
MOST_LAGS = 20  # at which halves are compared


def design(
    process: Process | Any,
    *,
    max_params: int,
    n_inputs: int = 256,
    n_observed: int | None = None,
    families: Collection[str] = (*FAMILIES,),
    n_best: int = 8,
    progress: bool = False,
) -> Design:
    """Models with at most ``max_params`` parameters that predict a process or a series best, simplest families first.

    All are linear, with exact capacity. What a network with the same skeleton and nonlinear layers makes of the data
    after training is another question: linear designs have not been found to beat the usual recipes once trained. So
    choose a simple model, unless a difference is larger than what it costs to estimate.

    Parameters
    ----------
    process : Process or (m,) array_like
        What to predict. A series, oldest first, is estimated as by
        :func:`~capcore.processes.time_series.estimate_process`.
    max_params : int
        Number of parameters at most.
    n_inputs : int, default 256
        Receptive field of the models. Stacks have kernels that multiply to it, so powers of two give most of them.
    n_observed : int, optional
        Number of observed values from which weights will be estimated; of a series its length. Models are then ranked
        by what they err by on values to come, and otherwise by their loss.
    families : list of str
        Some of "autoregressive", "near and pools", "log taps" and "stacks".
    n_best : int, default 8
        Models in the table: the best of each family, then the next best of all.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    Design

    Warns
    -----
    UserWarning
        If the budget is as large as the receptive field, if the two halves of a series disagree, and if a small model
        attains the target. These are also among the result's ``notes``.

    Raises
    ------
    ValueError
        For arguments that cannot be used.
    TooLargeError
        If the covariance would not fit into memory.

    Notes
    -----
    The bounds, ``wall`` and ``proven_wall``, cover stacks whose kernels multiply to ``n_inputs``, each dilation the
    product of the kernels below it, without skip connections: no kernels that overlap, and no stacks of other lengths.
    Stacks of more than 8 channels are not tried, and count as free. The fitted bound is certain where two-layer fits
    are global (:mod:`capcore.designs.bonds`), and otherwise may be too high; a stack that is fitted below an entry
    lowers it. ``proven`` is certain without any fit, and lower.

    Examples
    --------
    >>> from capcore.processes import PowerLaw
    >>> result = design(PowerLaw(), max_params=24, n_inputs=64)
    >>> result.best.words
    '12 taps and 12 pools'
    >>> result.best.loss < min(one.loss for one in result.candidates if one.family == "stacks") / 10
    True
    """
    n_inputs = positive_integer(n_inputs, "n_inputs", 2)
    max_params = positive_integer(max_params, "max_params")
    n_best = positive_integer(n_best, "n_best")
    all_of_kind(families, "families", str)
    asked = {one_of(name, "families", FAMILIES) for name in families}
    if n_observed is not None:
        n_observed = positive_integer(n_observed, "n_observed", 2)
    check_covariance(n_inputs)
    series = process if hasattr(process, "__len__") else None
    known = as_task(process, "process") if series is None else estimate_process(series, n_inputs)
    of_kind(known, "process", Process, "a Process or a series of numbers")
    if known.input_dim != 1:
        raise ValueError(f"process: found {known.input_dim} components per input, expected 1. Design for each of them.")
    n_observed = n_observed or (None if series is None else int(known.pairs[0]))
    task = Task(known, n_inputs, max_params, n_observed)
    names = tqdm([name for name in FAMILIES if name in asked], desc="design", unit="family", disable=not progress)
    tried = [(name, *model) for name in names for model in FAMILIES[name](task)]
    if not tried:
        raise ValueError(f"max_params: found {max_params}, expected enough for one model of {', '.join(asked)}.")
    stacks = [(arch, loss) for name, arch, _, loss in tried if name == "stacks"]
    if stacks:
        mended(task.table, stacks)
    candidates = [_candidate(task, *model) for model in tried]
    best, models = _chosen(candidates, n_observed, n_best)
    notes = list(warnings_of(candidates, task, None if series is None else halves_agree(series, n_inputs)))
    for message in notes:
        warn(message, UserWarning)
    return Design(
        models=models,
        candidates=candidates,
        best=best,
        variance=task.problem.variance,
        variances=np.minimum.accumulate(task.errors),
        n_inputs=n_inputs,
        max_params=max_params,
        n_observed=n_observed,
        n_fitted=task.n_fitted,
        wall=wall(task.table, max_params) if stacks else [],
        proven_wall=wall(task.table, max_params, proven=True) if stacks else [],
        notes=[*getattr(known, "notes", ()), *notes],
    )


def _candidate(task: Task, family: str, arch: Any, params: np.ndarray, loss: float) -> Candidate:
    """All that is said of a model."""
    variance, far = task.problem.variance, task.n_inputs // 2
    loss = loss if loss > EPS * variance else 0.0  # nothing that shows in v* + loss
    with quiet():
        allocation = verbs.allocate(arch, params, task.problem, method="dense")
    capacity = arch.generic_capacity()
    bound = proven = loss
    if family == "stacks":
        bound = task.table.bound(arch)
        proven = task.table.bound(arch, proven=True) if task.table.proven else np.nan
    error, price = (final_prediction_error(v, capacity, task.n_observed, task.n_fitted) for v in (variance + loss, 1.0))
    far_share = float(allocation.per_input[far:].sum() / max(allocation.total, 1))
    return Candidate(family, arch, params, loss, capacity, bound, proven, error, price - 1, far_share)


def _chosen(candidates: list[Candidate], n_observed: int | None, count: int) -> tuple[Candidate, list[Candidate]]:
    """The recommended model, and those that are listed, simplest family first.

    The first is the best model of the simplest family that is as good as any, within the error of the comparison. It is
    listed with the best of each family, and the next best of all.
    """
    place = list(FAMILIES).index
    ordered = sorted(candidates, key=lambda one: (one.prediction_error, one.n_params))
    firsts: dict[str, Candidate] = {}
    for one in ordered:
        firsts.setdefault(one.family, one)
    least = ordered[0]
    room = {one: 1 + uncertainty(one, least, n_observed) for one in firsts.values()}
    good = [one.family for one, factor in room.items() if one.prediction_error <= factor * least.prediction_error]
    best = firsts[min(good, key=place)]
    shown = list(dict.fromkeys([best, *firsts.values(), *ordered]))[:count]
    return best, sorted(shown, key=lambda one: (place(one.family), one.prediction_error))


def uncertainty(one: Candidate, other: Candidate, n_observed: int | None) -> float:
    """Standard error of the ratio of two final prediction errors, at most: √(2(κ₁ + κ₂)) / m.

    m times the difference of the logarithms is one of two log-likelihood ratios, whose variances are 2κ (Wilks 1938).
    Without a number of observed values only rounding is left.

    >>> from types import SimpleNamespace as S
    >>> uncertainty(S(capacity=30), S(capacity=20), 1000)
    0.01
    """
    if n_observed is None:
        return 1e-12
    return float(np.sqrt(2 * (one.capacity + other.capacity)) / n_observed)


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
