"""``cc.design``: models of several families for one process, bounds of stacks, and what their differences mean."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from tqdm import tqdm

from capcore import verbs
from capcore.architectures.taps import Taps
from capcore.checks.arguments import finite_number, one_of, plain_number, plain_seed, positive_integer, quiet, warn
from capcore.checks.memory import covariance_bytes, covariance_too_large, fits
from capcore.designs.bonds import EPS
from capcore.designs.candidates import Candidate, best_of_each, final_prediction_error
from capcore.designs.families import FAMILIES, USUAL, Task
from capcore.designs.notes import remarks_of, warnings_of
from capcore.designs.results import Design
from capcore.designs.stability import halves_agree
from capcore.designs.walls import fitted_wall, mended, proven_wall
from capcore.processes import Process
from capcore.processes.kernels import as_process
from capcore.processes.time_series import estimate_process

ORDER = list(FAMILIES)


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
        What to predict. A series, oldest first, is estimated as by
        :func:`~capcore.processes.time_series.estimate_process`.
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
        Some of "autoregressive", "near and pools", "log taps", "stacks" and "overlapping stacks" (kernel 3, as in
        temporal convolutional networks; not among the usual ones, which take seconds at 256 inputs).
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
    plain_seed(plain_number(rng, "rng"))
    n_inputs = positive_integer(n_inputs, "n_inputs", 2)
    max_params = positive_integer(max_params, "max_params")
    n_best = positive_integer(n_best, "n_best")
    names = _chosen_families(families)
    least_share = 0.0 if far_share is None else finite_number(far_share, "far_share", "a number in [0, 1)")
    if not 0 <= least_share < 1:
        raise ValueError(f"far_share: found {far_share!r}, expected a number in [0, 1).")
    if n_observed is not None:
        n_observed = positive_integer(n_observed, "n_observed", 2)
    if not fits(covariance_bytes(n_inputs)):
        raise covariance_too_large(n_inputs)
    known, series = _posed(process, n_inputs)
    if series is not None:
        n_observed = n_observed or int(known.pairs[0])
    task = Task(known, n_inputs, max_params, n_observed, far_share is not None, rng)
    bar = tqdm(names, desc="design", unit="family", disable=not progress)
    models = [(name, *model) for name in bar for model in FAMILIES[name](task)]
    if not models:
        raise ValueError(
            f"max_params: found {max_params}, expected enough for one model of {', '.join(names)}. Allow more."
        )
    bounded = "stacks" in names
    if bounded:
        mended(task.table, [(arch, loss) for name, arch, _, loss in models if name == "stacks"])
    candidates = [_candidate(task, *model) for model in models]
    allowed = [one for one in candidates if one.far_share >= least_share]
    if not allowed:
        raise ValueError(
            f"far_share: found {far_share}, expected at most {max(one.far_share for one in candidates):.3f}, the "
            f"largest of these families with {max_params} parameters. Ask for less, or allow more parameters."
        )
    best = _recommended(allowed, n_observed)
    agreement = None if series is None else halves_agree(series, n_inputs)
    urgent = list(warnings_of(allowed, task, agreement))
    for message in urgent:
        warn(message, UserWarning)
    return Design(
        models=_listed(allowed, best, n_best),
        candidates=candidates,
        best=best,
        variance=task.problem.variance,
        variances=_honest(task) if task.n_fitted else task.variances,
        n_inputs=n_inputs,
        max_params=max_params,
        n_observed=n_observed,
        n_fitted=task.n_fitted,
        wall=fitted_wall(task.table, max_params) if bounded else [],
        proven_wall=proven_wall(task.table, max_params) if bounded else [],
        notes=[*urgent, *remarks_of(allowed, best, task)],
    )


def _honest(task: Task) -> np.ndarray:
    """Variances of autoregressions of order 0, 1, … as final prediction errors, and the least of them so far."""
    variances = enumerate(task.variances.tolist())
    return np.minimum.accumulate([final_prediction_error(v, q, task.n_observed, task.n_fitted) for q, v in variances])


def _chosen_families(families: Any) -> list[str]:
    """The names, simplest family first; raises for others."""
    if not isinstance(families, list | tuple | set | frozenset) or not families:
        raise ValueError(f"families: found {families!r}, expected a list of some of {', '.join(map(repr, FAMILIES))}.")
    asked = {one_of(name, "families", FAMILIES) for name in families}
    return [name for name in FAMILIES if name in asked]


def _posed(process: Any, n_inputs: int) -> tuple[Any, Any]:
    """The process, and the series that it was estimated from, if any."""
    if not hasattr(process, "autocovariance") and hasattr(process, "__len__") and not isinstance(process, str | dict):
        return estimate_process(process, n_inputs), process
    known = as_process(process)
    if not isinstance(known, Process):
        raise TypeError(f"process: found {type(known).__name__}, expected a Process or a series of numbers.")
    if known.input_dim != 1:
        raise ValueError(f"process: found {known.input_dim} components per input, expected 1. Design for each of them.")
    return known, None


def _candidate(task: Task, family: str, arch: Any, params: np.ndarray, loss: float) -> Candidate:
    """All that is said of a model."""
    variance, far = task.problem.variance, task.n_inputs // 2
    loss = loss if loss > EPS * variance else 0.0  # nothing that shows in v* + loss
    with quiet():
        known = task.problem if arch.n_inputs == task.n_inputs else task.process
        allocation = verbs.allocate(arch, params, known, method="dense")
    capacity = int(allocation.generic_total or allocation.total)
    bound = proven = loss if isinstance(arch, Taps) else np.nan
    if family == "stacks":
        bound = task.table.bound(arch)
        proven = task.table.bound(arch, proven=True) if task.table.proven else np.nan
    error, price = (final_prediction_error(v, capacity, task.n_observed, task.n_fitted) for v in (variance + loss, 1.0))
    far_share = float(allocation.per_input[far:].sum() / max(allocation.total, 1))
    octaves, total = np.asarray(allocation.per_octave), int(allocation.total)
    return Candidate(family, arch, params, loss, capacity, bound, proven, error, price - 1, far_share, octaves, total)


def _recommended(candidates: list[Candidate], n_observed: int | None) -> Candidate:
    """The best model of the simplest family that is as good as any, within the error of the comparison."""
    firsts = best_of_each(candidates)
    best, *_ = firsts.values()
    as_good = [
        name
        for name, first in firsts.items()
        if first.prediction_error <= best.prediction_error * (1 + uncertainty(first, best, n_observed))
    ]
    return firsts[min(as_good, key=ORDER.index)]


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


def _listed(candidates: list[Candidate], best: Candidate, count: int) -> list[Candidate]:
    """The recommended model, the best of each family and the next best of all; simplest family first."""
    firsts = sorted(best_of_each(candidates).values(), key=lambda one: ORDER.index(one.family))
    ordered = sorted(candidates, key=lambda one: (one.prediction_error, one.n_params))
    shown = list(dict.fromkeys([best, *firsts, *ordered]))[:count]
    return sorted(shown, key=lambda one: (ORDER.index(one.family), one.prediction_error))
