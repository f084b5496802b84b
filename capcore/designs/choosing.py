"""``cc.design``: models of several families for one process or series, their errors on its end, and what to beware of.

A promise, the final prediction error, assumes that the series goes on as it was. Of a series the models are chosen by
what they err by on its end, which is held out (:mod:`capcore.designs.held_out`), with a note if a promise did not hold.
A break is told by Wald's test of both halves, as Chow's (1960), with a variance for each: at 600 values it finds breaks
that no error on the end shows.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import chi2

from capcore import verbs
from capcore.architectures.taps import AutoRegressiveTaps
from capcore.checks.arguments import all_of_kind, of_kind, one_of, positive_integer, quiet, warn
from capcore.checks.memory import check_covariance
from capcore.checks.progress import tqdm
from capcore.designs.bonds import EPS
from capcore.designs.families import FAMILIES, Task, final_prediction_error, projected
from capcore.designs.held_out import MOST_INPUTS, HeldOut, Tested, in_short, opened
from capcore.designs.results import Candidate, Design
from capcore.designs.search import mended, wall
from capcore.processes import Process
from capcore.processes.time_series import LENGTH_PER_LAG, estimate_process

UNLIKELY = 1e-3  # probability that both halves are of one process, below which there is a warning
MOST_LAGS = 20  # at which halves are compared
CERTAIN = 1e-3  # probability of a gain by chance, below which a remedy is told although the promise holds
STACKS = 8  # that are tried on what was held out: those that promise most


def design(
    process: Process | Any,
    *,
    max_params: int,
    n_inputs: int | None = None,
    horizon: int = 1,
    differences: int = 0,
    season: int | None = None,
    families: Collection[str] = (*FAMILIES,),
    n_best: int = 8,
    progress: bool = False,
) -> Design:
    """Models with at most ``max_params`` parameters that predict a process or a series best, simplest families first.

    All are linear, with exact capacity. The one that works on values that it has not seen is the baseline to beat
    before anything is trained: networks with the same skeleton have not been found to do better.

    The end of a series is held out, a fifth of it, in five to ten stretches. Shapes are searched once, on the values
    before the first of them, with the covariance of these; weights are fitted anew to all values before each stretch,
    to their covariance and by least squares. The recommended model is then the one with the least capacity whose
    squared errors exceed the least ones by no more than one standard error of the difference.

    Parameters
    ----------
    process : Process or (m,) array_like
        What to predict. A series, oldest first, may have missing values: each stands for the last one before it where
        it is an input, and is no target.
    max_params : int
        Number of parameters at most.
    n_inputs : int, optional
        Receptive field of the models. Stacks have kernels that multiply to it, so powers of two give most of them.
        Default: 256, or the largest power of two up to it that a series allows.
    horizon : int, default 1
        h: forecasts are of the h-th next value, directly.
    differences : int, default 0
        How often neighbours in a series are subtracted before models see it. Errors are those of the values themselves.
    season : int, optional
        Lag of a seasonal difference of a series, beside them.
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
        If a promise did not hold on the end of a series, if its two halves disagree, and if a small model attains the
        target. These are also among the result's ``notes``.

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
    n_inputs = n_inputs if n_inputs is None else positive_integer(n_inputs, "n_inputs", 2)
    max_params = positive_integer(max_params, "max_params")
    n_best = positive_integer(n_best, "n_best")
    all_of_kind(families, "families", str)
    asked = {one_of(name, "families", FAMILIES) for name in families}
    check_covariance(n_inputs or MOST_INPUTS)
    options: dict[str, Any] = {"n_inputs": n_inputs, "horizon": horizon, "differences": differences, "season": season}
    known, future, trial = opened(process, **options)
    of_kind(known, "process", Process, "a Process or a series of numbers")
    if (d := known.input_dim) != 1:
        raise ValueError(f"process: found {d} components per input, expected 1. Design for each of them.")
    task = Task(known, trial.n_inputs if trial else n_inputs or MOST_INPUTS, max_params, future)
    names = tqdm([name for name in FAMILIES if name in asked], desc="design", unit="family", disable=not progress)
    tried = [(name, *model) for name in names for model in FAMILIES[name](task)]
    if not tried:
        raise ValueError(f"max_params: found {max_params}, expected enough for one model of {', '.join(asked)}.")
    stacks = [(arch, loss) for name, arch, _, loss in tried if name == "stacks"]
    if stacks:
        mended(task.table, stacks)
    candidates = [_candidate(task, *model) for model in tried]
    if trial:
        candidates = [*_tested(candidates, trial)]
    best, models = _chosen(candidates, n_best)
    notes = list(warnings_of(candidates, task, halves_agree(process, task.n_inputs) if trial else None))
    if trial and best.held_out:
        broken = list(broken_promise(process, options, trial, best.held_out, max_params))
        notes += broken or trial.process.notes
    for message in notes:
        warn(message, UserWarning)
    return Design(
        models=models,
        candidates=candidates,
        best=best,
        variance=task.problem.variance,
        variances=np.minimum.accumulate(task.errors),
        n_inputs=task.n_inputs,
        max_params=max_params,
        n_fitted=task.n_fitted,
        held_out=trial,
        baselines=trial.baselines(min(max_params, trial.n_inputs)) if trial else {},
        wall=wall(task.table, max_params) if stacks else [],
        proven_wall=wall(task.table, max_params, proven=True) if stacks else [],
        notes=notes,
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
    error = final_prediction_error(variance + loss, capacity, task.n_fitted)
    far_share = float(allocation.per_input[far:].sum() / max(allocation.total, 1))
    return Candidate(family, arch, params, loss, capacity, bound, proven, error, far_share)


def _tested(candidates: list[Candidate], trial: HeldOut) -> Iterator[Candidate]:
    """Models with their errors on what was held out, and weights from all values; of stacks those that promise most."""
    stacks = sorted((one for one in candidates if one.family == "stacks"), key=lambda one: one.prediction_error)
    posed = trial.posed(trial.n_inputs)
    for one in candidates:
        if one not in stacks[STACKS:]:
            tested, params = trial.tested(one.arch, one.params, posed, one.prediction_error)
            yield replace(one, held_out=tested, params=params)


def _chosen(candidates: list[Candidate], count: int) -> tuple[Candidate, list[Candidate]]:
    """The recommended model, and those that are listed, simplest family first.

    The first has the least capacity of all that are as good as any: by squared errors on what was held out, within a
    standard error of the difference, or else by final prediction errors. It is listed with the best of each family, and
    the next best of all.
    """
    place = list(FAMILIES).index

    def rank(one: Candidate) -> tuple[float, int]:
        return (one.held_out.error if one.held_out else one.prediction_error), one.n_params

    def is_as_good(one: Candidate) -> bool:
        if one.held_out and least.held_out:
            return not least.held_out.beats(one.held_out)
        return one.prediction_error <= (1 + 1e-12) * least.prediction_error

    ordered = sorted(candidates, key=rank)
    least = ordered[0]
    best = min(filter(is_as_good, ordered), key=lambda one: (one.capacity, place(one.family), rank(one)))
    firsts = {one.family: one for one in reversed(ordered)}
    shown = list(dict.fromkeys([best, *firsts.values(), *ordered]))[:count]
    return best, sorted(shown, key=lambda one: (place(one.family), rank(one)))


def warnings_of(candidates: list[Candidate], task: Task, agreement: float | None) -> Iterator[str]:
    """What is urgent enough for a warning; ``agreement`` is the p-value of equal halves of the series, if any."""
    if agreement is not None and agreement < UNLIKELY:
        yield (
            f"process: found two halves of the series with different autoregressions (p = {agreement:.0e}), expected a "
            "stationary series. Go by the errors on what was held out."
        )
    simple = min((one for one in candidates if one.loss == 0), key=lambda one: one.n_params, default=None)
    if simple and simple.n_params < min(task.max_params, task.n_inputs):
        yield (
            f"process: found one that {simple.words} forecast(s) without loss, expected one that no small model "
            "attains. Larger models have singular optima, whose capacity depends on where a fit ends. Use it."
        )


def broken_promise(series: Any, options: dict[str, Any], trial: HeldOut, best: Tested, most: int) -> Iterator[str]:
    """Why the promise of a model did not hold, and what mends it; a remedy also where it did, if it clearly helps.

    Tried are differences, a seasonal difference, both, and a shorter window, each with the autoregression of the least
    final prediction error. The reason is what errs least, of those whose promise holds.
    """
    trend, season = {"differences": options["differences"] + 1}, {"season": trial.period}
    tries = {"a trend": trend, "too few values": {"n_inputs": max(trial.n_inputs // 4, 2)}}
    if trial.period and options["season"] is None:
        tries |= {f"a season of {trial.period}": season, f"a trend and a season of {trial.period}": trend | season}
    missed, helps = best.misses(), {}
    for reason, change in tries.items():
        with quiet(), suppress(ValueError):  # too short
            other = HeldOut(series, **options | change)
            task = Task(other.process, other.n_inputs, most, other.future)
            order = 1 + int(np.argmin(task.errors[1 : most + 1]))
            arch, params, _ = projected(task, AutoRegressiveTaps(order, task.n_inputs))
            one, _ = other.tested(arch, params, other.posed(task.n_inputs, ["covariance"]), task.errors[order])
            closer = abs(one.promised - one.error) < abs(best.promised - best.error) / 2
            if not one.misses() and ((missed and closer) or one.beats(best, CERTAIN)):
                remedy = ", ".join(f"{name}={value}" for name, value in change.items())
                helps[one.error] = f", as it has {reason}. With {remedy} it is {one}, as promised"
    if missed or helps:
        wanted = f"the promised {in_short(best.promised, 3)}" if missed else "less"
        advice = helps[min(helps)] if helps else ": go by the errors"
        yield f"process: found an error of {best} on what was held out, expected {wanted}{advice}."


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
