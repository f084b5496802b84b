"""``cc.design``: models of several families for one process, bounds of stacks, and what their differences mean."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore import verbs
from capcore.checks.arguments import finite_number, one_of, plain_number, plain_seed, positive_integer, quiet, warn
from capcore.checks.memory import covariance_bytes, covariance_too_large, fits
from capcore.designs.bonds import EPS
from capcore.designs.candidates import Candidate, best_of_each, final_prediction_error, values_behind
from capcore.designs.families import FAMILIES, USUAL, Found, Task
from capcore.designs.notes import notes
from capcore.designs.results import Design
from capcore.designs.stability import halves_agree
from capcore.designs.walls import fitted_wall, mended, proven_wall
from capcore.processes import Process
from capcore.processes.kernels import as_process
from capcore.processes.time_series import estimate_process


def design(
    process: Process | Any,
    *,
    max_params: int,
    n_inputs: int = 256,
    n_observed: int | None = None,
    far_share: float | None = None,
    families: Collection[str] = USUAL,
    n_best: int = 8,
    rng: np.random.Generator | int | None = None,
    progress: bool = False,
) -> Design:
    """Models with at most ``max_params`` parameters that predict a process or a series best, simplest families first.

    All are linear, with exact capacity. What a network with the same skeleton and nonlinear layers makes of the data
    after training is another question: linear designs have not been found to beat the usual recipes once trained. So
    choose a simple model, unless a difference is larger than what it costs to estimate.

    Parameters
    ----------
    process : Process or (m,) array_like
        What to predict. A series, oldest first, is estimated as by :func:`~capcore.processes.time_series.estimate_process`.
    max_params : int
        Number of parameters at most.
    n_inputs : int, default 256
        Receptive field of the models. Stacks have kernels that multiply to it, so powers of two give most of them.
    n_observed : int, optional
        Number of observed values from which weights will be estimated; of a series its length. Models are then ranked
        by what they err by on values to come, and otherwise by their loss.
    far_share : float, optional
        Least share of the capacity that must lie on the distant half of the inputs.
    families : list of str
        Some of "autoregressive", "near and pools", "log taps", "recurrent", "stacks", "overlapping stacks" (kernel 3,
        as in temporal convolutional networks) and "taps and stack". The usual ones take seconds at 256 inputs.
    n_best : int, default 8
        Models in the table: the best of each family, then the next best of all.
    rng : numpy.random.Generator or int, default 0
        For the starts of fits.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    Design

    Warns
    -----
    UserWarning
        If the budget is as large as the receptive field, if the two halves of a series disagree, and if optima are
        singular. These are also among the result's ``notes``.

    Raises
    ------
    ValueError
        For arguments that cannot be used, and where no model has the share asked for.
    TooLargeError
        If the covariance would not fit into memory.

    Notes
    -----
    The bounds, ``wall`` and ``proven_wall``, cover stacks whose kernels multiply to ``n_inputs``, each dilation the
    product of the kernels below it, without skip connections: no kernels that overlap, and no stacks of other lengths.
    The fitted bound is certain where two-layer fits are global (:mod:`capcore.designs.bonds`), and otherwise may be too
    high; a stack that is fitted below an entry lowers it. ``proven`` is certain without any fit, and lower.

    Examples
    --------
    >>> from capcore.processes import PowerLaw
    >>> found = design(PowerLaw(), max_params=24, n_inputs=64)
    >>> found.best.words
    '12 taps and 12 pools'
    >>> found.best.loss < min(each.loss for each in found.candidates if each.family == "stacks") / 10
    True
    """
    plain_seed(plain_number(rng, "rng"))
    n_inputs = positive_integer(n_inputs, "n_inputs", 2)
    max_params = positive_integer(max_params, "max_params")
    n_best = positive_integer(n_best, "n_best")
    names = chosen_families(families)
    if far_share is not None:
        far_share = finite_number(far_share, "far_share", "a number in [0, 1)")
        if not 0 <= far_share < 1:
            raise ValueError(f"far_share: found {far_share!r}, expected a number in [0, 1).")
    if n_observed is not None:
        n_observed = positive_integer(n_observed, "n_observed", 2)
    if not fits(covariance_bytes(n_inputs)):
        raise covariance_too_large(n_inputs)
    known, observed, series = posed(process, n_inputs)
    n_observed = n_observed or observed
    task = Task(known, n_inputs, max_params, n_observed, far_share is not None, rng)
    least = task.problem.variance
    found = [
        (name, model)
        for name in tqdm(names, desc="design", unit="family", disable=not progress)
        for model in FAMILIES[name](task)
    ]
    lowered = mended(task.table, [(arch, loss) for name, (arch, _, loss) in found if name == "stacks"])
    candidates = [candidate(task, name, model) for name, model in found]
    if not candidates:
        raise ValueError(
            f"max_params: found {max_params}, expected enough for one model of {', '.join(names)}. Allow more."
        )
    bounded = "stacks" in names
    allowed = [each for each in candidates if far_share is None or each.far_share >= far_share]
    if not allowed:
        most = max(each.far_share for each in candidates)
        raise ValueError(
            f"far_share: found {far_share}, expected at most {most:.3f}, the largest of these families with "
            f"{max_params} parameters. Ask for less, or allow more parameters."
        )
    best = recommended(allowed, names, n_observed)
    agreement = None if series is None else halves_agree(series, n_inputs)
    said = notes(allowed, best, task, agreement, lowered)
    for text, urgent in said:
        if urgent:
            warn(text, UserWarning)
    return Design(
        models=listed(allowed, best, names, n_best),
        candidates=candidates,
        best=best,
        variance=least,
        variances=task.variances if series is None else honest(task.variances, n_observed, observed),
        estimated=series is not None,
        n_inputs=n_inputs,
        max_params=max_params,
        n_observed=n_observed,
        n_fitted=values_behind(known),
        wall=fitted_wall(task.table, max_params) if bounded else [],
        proven_wall=proven_wall(task.table, max_params) if bounded else [],
        notes=[text for text, _ in said],
    )


def honest(variances: np.ndarray, n_observed: int | None, n_fitted: int | None) -> np.ndarray:
    """Variances of autoregressions of order 0, 1, … as final prediction errors, and the least of them so far."""
    errors = [final_prediction_error(float(v), order, n_observed, n_fitted) for order, v in enumerate(variances)]
    return np.minimum.accumulate(errors)


def chosen_families(families: Any) -> list[str]:
    """The names, simplest family first; raises for others."""
    if not isinstance(families, list | tuple | set | frozenset) or not families:
        raise ValueError(f"families: found {families!r}, expected a list of some of {', '.join(map(repr, FAMILIES))}.")
    asked = {one_of(each, "families", FAMILIES) for each in families}
    return [name for name in FAMILIES if name in asked]


def posed(process: Any, n_inputs: int) -> tuple[Process, int | None, Any]:
    """The process, and the number of values and the series that it was estimated from, if any."""
    if hasattr(process, "autocovariance") and not isinstance(process, type):
        known: Any = process
    elif hasattr(process, "__len__") and not isinstance(process, str | bytes | dict | set):
        estimated = estimate_process(process, n_inputs)
        return estimated, int(estimated.pairs[0]), process
    else:
        known = as_process(process, "process")
    if not isinstance(known, Process):
        raise TypeError(f"process: found {type(known).__name__}, expected a Process or a series of numbers.")
    if known.input_dim != 1:
        raise ValueError(f"process: found {known.input_dim} components per input, expected 1. Design for each of them.")
    return known, None, None


def candidate(task: Task, family: str, found: Found) -> Candidate:
    """All that is said of a model."""
    arch, params, loss = found
    loss = loss if loss > EPS * task.problem.variance else 0.0  # nothing that shows in v* + loss
    with quiet():
        whole = arch.n_inputs == task.n_inputs
        alloc = verbs.allocate(arch, params, task.problem if whole else task.process, method="dense")
    capacity = int(alloc.generic_total or alloc.total)
    bound, proven = (np.nan, np.nan)
    if family == "stacks":
        bound = task.table.bound(arch)
        proven = task.table.bound(arch, proven=True) if task.table.proven else np.nan
    elif family in ("autoregressive", "near and pools", "log taps"):
        bound = proven = loss
    fitted_to = values_behind(task.process)
    error = final_prediction_error(task.problem.variance + loss, capacity, task.n_observed, fitted_to)
    far = float(alloc.per_input[task.n_inputs // 2 :].sum() / max(alloc.total, 1))
    octaves = np.asarray(alloc.per_octave)
    return Candidate(family, arch, params, loss, capacity, bound, proven, error, far, octaves, int(alloc.total))


def recommended(candidates: list[Candidate], names: list[str], n_observed: int | None) -> Candidate:
    """The best model of the simplest family that is as good as any, within the error of the comparison."""
    best = min(candidates, key=lambda each: each.prediction_error)
    firsts = best_of_each(candidates)
    for name in names:
        first = firsts.get(name)
        if first is not None and first.prediction_error <= best.prediction_error * (
            1 + uncertainty(first, best, n_observed)
        ):
            return first
    return best


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


def listed(candidates: list[Candidate], best: Candidate, names: list[str], count: int) -> list[Candidate]:
    """The recommended model, the best of each family and the next best of all; simplest family first."""
    ordered = sorted(candidates, key=lambda each: (each.prediction_error, each.n_params))
    firsts = best_of_each(candidates)
    wanted = [best, *(firsts[name] for name in names if name in firsts), *ordered]
    kept = list({id(each): each for each in wanted}.values())[:count]
    return sorted(kept, key=lambda each: (names.index(each.family), each.prediction_error))
