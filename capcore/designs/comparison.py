"""Compare architectures: every model is fitted from several starts, and what its optima agree on is said.

One fit of one start can mislead: it may end at a local optimum, and where the target is attained exactly, optima of one
loss differ in their capacity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from capcore import verbs
from capcore.architectures.base import Architecture
from capcore.architectures.own_model import architecture_of
from capcore.checks.arguments import Seed, library, of_kind, plain_seed, positive_integer, quiet
from capcore.designs.families import final_prediction_error
from capcore.designs.held_out import Tested, ahead, in_text, opened, rows_of
from capcore.fitting.optimum import STATIONARY
from capcore.large.fft import covariance_product
from capcore.processes import Process
from capcore.processes.problem import Problem
from capcore.results.fit_and_allocation import Allocation, Fit
from capcore.results.notebook import Record, frame
from capcore.results.text_table import text_table

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

EPS = float(np.finfo(float).eps)
LONGEST = 4096
"""Inputs of a tensor train beyond which it starts once: from a random start it takes hundreds of Newton steps, to where
its default start ends after some ten."""


@dataclass(frozen=True, eq=False)
class Optima:
    """What the starts of one model end at, best first.

    Attributes
    ----------
    arch : Architecture
        The model.
    fits : list of Fit
        By loss; those of the rounding of v* in the order of the starts, of which the first is the default one.
    groups : list of int
        The optimum that each fit is at: fits of one number have the same loss and the same coefficients.
    allocations : list of Allocation
        Of the first fits, those that tie for the best loss.
    held_out : Tested or None
        Its errors on the end of a series.
    """

    arch: Architecture
    fits: list[Fit]
    groups: list[int]
    allocations: list[Allocation] = field(repr=False)
    held_out: Tested | None = None

    @property
    def losses(self) -> np.ndarray:
        """(starts,) losses, ascending up to the rounding of v*."""
        return np.array([fit.loss for fit in self.fits])

    def excess(self, least_error: float) -> np.ndarray:
        """(starts,) variance of the forecast's error above ``least_error``, the v* of a window as long or longer.

        Above the v* of the model's own window where fits are by octaves, whose windows are the longest.
        """
        return self.losses + np.nan_to_num(self.variance - self.losses[0] - least_error)

    @property
    def variance(self) -> float:
        """Variance of the forecast's error at the best optimum; NaN for a fit by octaves, which does not give it."""
        return getattr(self.fits[0], "variance", np.nan)

    @property
    def totals(self) -> tuple[int, int]:
        """Least and largest κ of the optima that tie for the best."""
        totals = [allocation.total for allocation in self.allocations]
        return min(totals), max(totals)

    @property
    def profile(self) -> np.ndarray:
        """(3, n) capacity of every input: at the best optimum, and the least and the largest over those that tie.

        Of every octave of lag, where the allocation lists no inputs.
        """
        profiles = np.array([getattr(one, "per_input", one.per_octave) for one in self.allocations])
        return np.array([profiles[0], profiles.min(axis=0), profiles.max(axis=0)])


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Record):
    """What several models end at, from several starts each.

    Attributes
    ----------
    models : dict
        Name → :class:`Optima`.
    baselines : dict
        Name → :class:`~capcore.designs.held_out.Tested`; empty without a series.
    """

    models: dict[str, Optima]
    baselines: dict[str, Tested] = field(default_factory=dict, repr=False)

    @property
    def least_error(self) -> float:
        """v* of the longest window among the models: the error variance of the best linear forecast from it.

        NaN where all fits are by octaves, which do not give it.
        """
        return min((one.variance - one.losses[0] for one in self.models.values() if one.variance > 0), default=np.nan)

    def to_dataframe(self) -> pandas.DataFrame:
        """One row for each model; see :meth:`table` for the columns. ``excess`` and ``worst`` are variances."""
        return library("pandas").DataFrame(self._rows()).set_index("model")

    def table(self) -> str:
        """A row for each model, as text: how far its forecast is from the best, and what its starts agree on.

        ``error`` is the variance of the forecast's error at the best optimum, ``excess`` what that is above
        ``least_error``, one yardstick for windows of all lengths; ``worst`` is the excess of the worst start. ``agree``
        counts the starts at the best optimum, ``optima`` all optima; ``capacity`` is a range where several tie.

        Of a series, ``error`` is the root mean squared error on what was held out, ± half its interval, beside the one
        that was promised, and rows of baselines follow. Without a series nothing is held out.
        """
        rows = self._texts()
        return text_table(rows, [*rows[0]])

    def _repr_html_(self) -> str:
        return frame(self._texts())

    def _texts(self) -> list[dict[str, str]]:
        return in_text(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = [
            {
                "model": name,
                "inputs": one.arch.n_inputs,
                "weights": one.arch.n_params,
                "error": one.variance,
                "excess": float(excess[0]),
                "worst": float(excess.max()),
                "agree": f"{one.groups.count(0)}/{len(one.groups)}",
                "optima": len({*one.groups}),
                "capacity": "–".join(str(total) for total in dict.fromkeys(one.totals)),
            }
            for name, one in self.models.items()
            for excess in [one.excess(self.least_error)]
        ]
        if not self.baselines:
            return rows
        said = {row["model"]: {name: row[name] for name in ("inputs", "weights", "agree", "capacity")} for row in rows}
        return rows_of(said, {name: one.held_out for name, one in self.models.items()} | self.baselines)

    def plot(self) -> Figure:
        """One picture: excess of all starts, and the capacity of every input with its range. Needs matplotlib."""
        from capcore.plotting import plot_comparison

        return plot_comparison(self.models, self.least_error)


def compare(
    models: Mapping[str, Any],
    task: Process | Problem | Any,
    *,
    horizon: int = 1,
    differences: int = 0,
    season: int | None = None,
    starts: int = 10,
    rng: Seed = None,
    **options: Any,
) -> Comparison:
    """Fit every model from several starts, and allocate the capacity of its best optima.

    The first start of a model is its default, all others are random. Tensor trains of more than 4,096 inputs start
    once: random starts of theirs take hundreds of long steps, to the same optimum. So do fits by octaves, which have no
    other start.

    Two fits are at the same optimum if their losses differ by at most a millionth, and their coefficients, in the
    metric Σ of the prediction, by at most two thousandths of the square root of the loss: at the relative offset of
    10⁻³ at which Bates & Watts call a fit converged, each may be half as far off. Losses that no longer show in the sum
    v* + loss, in double precision, are equal.

    Parameters
    ----------
    models : dict
        Name → architecture or network, as :func:`~capcore.verbs.fit` takes it; or a pair of one and its parameters.
    task : Process, Problem or (m,) array_like
        What they predict; a posed problem for models of its size. The end of a series is held out: fits are to the
        covariance of the values before, and weights are then fitted anew before each stretch, as in
        :func:`~capcore.designs.choosing.design`.
    horizon, differences, season : int, optional
        As there.
    starts : int, default 10
        Of every model.
    rng : numpy.random.Generator or int, default 0
        The same seed gives the same answer, whatever else is compared.
    **options : object
        Of :func:`~capcore.verbs.fit`: ``method``, ``rebalance``, ``max_iterations``, …; of networks ``inputs``, ….

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        For arguments that cannot be used, and for options that a model's method has not.
    TooLargeError
        For a model that would not fit into memory.

    Examples
    --------
    >>> from capcore.architectures import Hierarchical
    >>> from capcore.processes import PowerLaw
    >>> result = compare({"c = 1": Hierarchical(1, 4), "c = 2": Hierarchical(2, 4)}, PowerLaw(), starts=3)
    >>> print(result.table())  # doctest: +NORMALIZE_WHITESPACE
    model  inputs  weights    error      excess       worst  agree  optima  capacity
    c = 1      16        8  0.47798   0.0014763   0.0014763    3/3       1         5
    c = 2      16       24  0.47652  1.5642e-05  1.5642e-05    3/3       1        12
    """
    rng = plain_seed(rng)
    count = positive_integer(starts, "starts")
    of_kind(models, "models", Mapping, "a mapping of names to architectures")
    if not models:
        raise ValueError("models: found none, expected a mapping of names to architectures, such as {'small': arch}.")
    for name in models:
        of_kind(name, "models", str, "names that are text")
    where = [options.pop(name, None) for name in ("inputs", "output", "time_axis")]
    pairs = {key: one if isinstance(one, tuple) and len(one) == 2 else (one, None) for key, one in models.items()}
    archs = {key: architecture_of(*one, *where * (not isinstance(one[0], Architecture))) for key, one in pairs.items()}
    longest = max(arch.n_inputs for arch in archs.values())
    process, future, trial = opened(task, n_inputs=longest, horizon=horizon, differences=differences, season=season)
    if own := [name for name in ("start", "n_starts") if name in options]:
        raise ValueError(f"{own[0]}: found {options[own[0]]!r}, expected none: compare chooses it. Set starts instead.")
    seeds = np.random.default_rng(0 if rng is None else rng).integers(2**63, size=count).tolist()
    optima = {}
    for name, arch in archs.items():
        task = process if future.size == 1 else ahead(process, arch.n_inputs, future)
        method = options.get("method", "auto")
        method = verbs.fit_method(arch, task, "auto", {}, True) if method == "auto" else method
        once = method == "octaves" or (method == "riemannian-newton" and arch.n_inputs > LONGEST)
        fits = [
            verbs.fit(arch, task, start="random" if i else "auto", rng=seed, **options)
            for i, seed in enumerate(seeds[:1] if once else seeds)
        ]
        ordered, groups, tied = _groups(arch, task, fits)
        with quiet():  # what a warning would say is in the table
            allocations = [verbs.allocate(arch, fit, task) for fit in ordered[:tied]]
        one = optima[name] = Optima(arch, ordered, groups, allocations)
        if trial:
            promise = final_prediction_error(one.variance, one.totals[0], int(process.pairs[0]))
            tested, _ = trial.tested(arch, ordered[0].params, trial.posed(arch.n_inputs), promise)
            optima[name] = replace(one, held_out=tested)
    most = min(longest, max(arch.n_params for arch in archs.values()))
    return Comparison(optima, trial.baselines(most) if trial else {})


def _groups(arch: Architecture, task: Any, fits: Sequence[Fit]) -> tuple[list[Fit], list[int], int]:
    """The fits by loss, the optimum that each is at, and how many tie for the best loss."""
    if len(fits) == 1:
        return [*fits], [0], 1
    floor = EPS * min(fit.variance for fit in fits)
    ordered = sorted(fits, key=lambda fit: max(fit.loss, floor))
    product = covariance_product(task, arch.n_inputs, arch.input_dim)

    def same_loss(first: Fit, second: Fit) -> bool:
        return second.loss <= max((1 + STATIONARY**2) * first.loss, floor)

    def same(first: Fit, second: Fit) -> bool:
        gap = (first.coefficients - second.coefficients)[:, None]
        squared = float(gap[:, 0] @ product(gap)[:, 0])
        return same_loss(first, second) and squared <= max(4 * STATIONARY**2 * first.loss, 4 * floor)

    firsts: list[Fit] = []
    for fit in ordered:
        if not any(same(first, fit) for first in firsts):
            firsts.append(fit)
    groups = [next(k for k, first in enumerate(firsts) if same(first, fit)) for fit in ordered]
    return ordered, groups, sum(same_loss(ordered[0], fit) for fit in ordered)
