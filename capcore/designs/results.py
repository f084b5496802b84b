"""The result of a design: candidates, a table, a picture, sentences, and the text of a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from capcore.architectures.taps import AutoRegressiveTaps, LogTaps, NearAndPools
from capcore.checks.arguments import counted, library
from capcore.designs.held_out import HeldOut, Tested, in_short, in_text, rows_of
from capcore.results.notebook import Record, frame
from capcore.results.text_table import text_table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

FLOOR = 1e-16  # of v*: losses below it do not show in v* + loss
LEGEND = (
    "loss/v*: excess over the best linear forecast from all inputs. bound/v*: the model's fitted bound.",
    "error: v* + loss. far: share of the older half. Nothing was held out: the process is taken as given.",
)
TESTED = (
    "error: root mean squared error on what was held out, in the units of the series; ± half its 95% interval.",
    "promised: by the covariance of the values before the first stretch. weights by: what errs less.",
)


@dataclass(frozen=True, eq=False, repr=False)
class Candidate(Record):
    """One model of a design, with its best weights, and all that speaks for it and against it.

    Attributes
    ----------
    family : str
        The family that it comes from.
    arch : Architecture
        The model.
    params : (n_params,) array
        Its best weights for the process.
    loss : float
        Excess prediction variance.
    capacity : int
        κ, exact.
    bound : float
        Fitted bound of the loss of this model: the largest entry of the bond table for stacks, the loss itself for
        linear models, whose optimum is a projection, and NaN where none is known.
    proven : float
        A lower bound that needs no fit; NaN where it was not computed.
    prediction_error : float
        v* + loss, with what estimating the weights adds: :func:`~capcore.designs.families.final_prediction_error`.
    far_share : float
        Share of the capacity on the distant half of the inputs.
    """

    family: str
    arch: Any
    params: np.ndarray
    loss: float
    capacity: int
    bound: float
    proven: float
    prediction_error: float
    far_share: float
    held_out: Tested | None = None

    @property
    def n_params(self) -> int:
        """Number of parameters."""
        return int(self.arch.n_params)

    @property
    def words(self) -> str:
        """The model in a few words."""
        return described(self.arch)


@dataclass(frozen=True, eq=False, repr=False)
class Design(Record):
    """Models for a process, from :func:`~capcore.designs.choosing.design`.

    Attributes
    ----------
    models : list of Candidate
        Those of the table, simplest family first.
    candidates : list of Candidate
        All that were tried, family by family.
    best : Candidate
        The recommended one: the best of the simplest family that is as good as any.
    variance : float
        v*, the least prediction variance with ``n_inputs`` inputs. Of a series it is the variance within this series
        of a forecast with as many weights as inputs, and too low by a share of about n/m.
    variances : (n_inputs + 1,) array
        Least prediction variance from the last 0, 1, … inputs alone; of a series the least final prediction error.
    n_inputs, max_params : int
        As asked for.
    n_fitted : int or None
        Number of values that the process was estimated from; None for one that is known.
    wall : list of (int, float)
        Parameters, and the fitted bound of the loss of stacks with at least as many, and fewer than in the next entry.
        It covers stacks whose kernels multiply to ``n_inputs``, without overlap or skip connections, and may be too
        high where fits of two layers end in local optima. Empty without stacks.
    proven_wall : list of (int, float)
        The same by the proven bound, which is lower. Empty without stacks, and beyond 1,024 inputs.
    notes : list of str
        What to beware of.
    """

    models: list[Candidate] = field(repr=False)
    candidates: list[Candidate] = field(repr=False)
    best: Candidate
    variance: float
    variances: np.ndarray = field(repr=False)
    n_inputs: int
    max_params: int
    n_fitted: int | None
    held_out: HeldOut | None = field(repr=False)
    baselines: dict[str, Tested] = field(repr=False)
    wall: list[tuple[int, float]] = field(repr=False)
    proven_wall: list[tuple[int, float]] = field(repr=False)
    notes: list[str] = field(repr=False)

    def to_dataframe(self) -> pandas.DataFrame:
        """The models, a row each: losses and bounds in units of v*. Needs pandas.

        ``prediction_error`` is in the units of the process squared. Of a series: errors on what was held out, in its
        units, with rows of baselines.

        Examples
        --------
        >>> from capcore import PowerLaw, design
        >>> table = design(PowerLaw(), max_params=3, n_inputs=8, families=["autoregressive"]).to_dataframe()
        >>> table["parameters"].tolist()
        [3, 2, 1]
        """
        if self.held_out:
            return library("pandas").DataFrame(self._tested_rows())
        rows = [{"model": one.words, "parameters": one.n_params, **vars(one)} for one in self.models]
        table = library("pandas").DataFrame(rows).drop(columns=["arch", "params", "held_out"])
        table[["loss", "bound", "proven"]] /= self.variance
        return table

    def reach(self, share: float) -> int:
        """How many of the last values explain this share of what all inputs do: of the fall of the error variance.

        Parameters
        ----------
        share : float
            Between 0 and 1.

        Examples
        --------
        >>> from capcore import AutoRegressive, design
        >>> design(AutoRegressive([0.0, 0.5]), max_params=4, n_inputs=8).reach(0.9)
        2
        """
        fall = self.variances[0] - self.variances
        return int(np.argmax(fall >= share * fall[-1] * (1 - 1e-12)))

    def report(self) -> str:
        """All of it in plain words, as the command prints it: the answer, the table, and what to beware of."""
        rows = self._rows()
        return "\n".join([*self._answer(), "", text_table(rows, [*rows[0]], "<<>"), "", *self._legend()])

    def _repr_html_(self) -> str:
        before, after = (f"<p>{'<br>'.join(map(escape, lines))}</p>" for lines in (self._answer(), self._legend()))
        return f"{before}<div class='capcore-wide' style='overflow-x: auto'>{frame(self._rows())}</div>{after}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Parameters against loss, or the error on what was held out, a point for each model. Needs matplotlib.

        Losses of a process are shown with the fitted bound as a wall.
        """
        from capcore.plotting import MARKERS, axes_for

        axis, unit = axes_for(ax), self.variance
        for marker, (family, models) in zip(MARKERS, groupby(self.candidates, lambda one: one.family), strict=False):
            shown = [(one.n_params, one.held_out.error if one.held_out else one.loss / unit) for one in models]
            axis.plot(*np.maximum(np.transpose(shown), FLOOR), marker, label=family)
        if self.wall and not self.held_out:
            sizes, bounds = np.array([*self.wall, (self.max_params + 1, self.wall[-1][1])]).T
            heights = np.maximum(bounds / unit, FLOOR)
            axis.fill_between(sizes, FLOOR, heights, step="post", color="0.85", label="below the stacks' bound")
        label, least = ("error on what was held out", None) if self.held_out else ("loss / v*", FLOOR)
        axis.set(xscale="log", yscale="log", xlabel="parameters", ylabel=label, ylim=(least, None))
        axis.legend(fontsize="small")
        return axis

    def _answer(self) -> list[str]:
        best, trial = self.best, self.held_out
        if trial and (tested := best.held_out):
            others = ", ".join(f"{name} by {in_short(one.error, 3)}" for name, one in self.baselines.items())
            ahead = f", {trial.horizon} steps ahead" if trial.horizon > 1 else ""
            better = [f"Better still: {name}." for name, one in self.baselines.items() if one.beats(tested)]
            return [
                f"Use {best.words}, weights by {tested.fitted}: on {len(tested.squares)} stretches that it had not "
                f"seen, it erred by {tested}{ahead}; {others}.",
                *better[:1],
                "This is the baseline to beat before anything is trained.",
                f"Held out were the last {np.ptp(trial.origins):,} values. Weights are fitted to all values before "
                f"each stretch, shapes to those before the first, with a window of {self.n_inputs:,}.",
            ]
        n = self.n_inputs
        explained = 1 - self.variances[-1] / self.variances[0]
        most, nearly, every = map(self.reach, (0.9, 0.99, 1.0))
        return [
            f"Use {best.words}: {best.n_params} weights for the last {n:,} values.",
            f"Receptive field: all {n:,} values explain {explained:.0%} of the variance of the next.",
            f"90% of that are in the last {most:,}, 99% in the last {nearly:,}, and all in the last {every:,}.",
        ]

    def _legend(self) -> list[str]:
        unit, bound = self.variance, []
        if self.wall and not self.held_out:
            proven = "".join(f"; proven: {loss / unit:.1e} v*" for _, loss in self.proven_wall[-1:])
            bound = [
                f"Stacks without overlap or skip connections whose kernels multiply to {self.n_inputs:,}, of at most "
                f"{self.max_params:,} weights:",
                "  by fits of two layers, which may be too high, they lose at least "
                f"{self.wall[-1][1] / unit:.1e} v*{proven}.",
            ]
        return [*(TESTED if self.held_out else LEGEND), *bound, *(f"Note. {note}" for note in self.notes)]

    def _tested_rows(self) -> list[dict[str, Any]]:
        said = {one.words: {"weights": one.n_params, "capacity": one.capacity} for one in self.models}
        return rows_of(said, {one.words: one.held_out for one in self.models} | self.baselines)

    def _rows(self) -> list[dict[str, str]]:
        if self.held_out:
            return in_text([{"": "*" * (row["model"] == self.best.words), **row} for row in self._tested_rows()])
        return [
            {
                "": "*" if one is self.best else "",
                "model": one.words,
                "weights": f"{one.n_params:,}",
                "capacity": f"{one.capacity:,}",
                "loss/v*": f"{one.loss / self.variance:.1e}",
                "bound/v*": f"{one.bound / self.variance:.1e}",
                "error": f"{one.prediction_error:.5g}",
                "far": f"{one.far_share:.0%}",
            }
            for one in self.models
        ]


def described(arch: Any) -> str:
    """A model in a few words.

    >>> from capcore.architectures import Hierarchical
    >>> described(NearAndPools(16, 8)), described(Hierarchical([2, 3], kernel_size=[4, 4, 2]))
    ('16 taps and 8 pools', '3 layers, kernels 4·4·2, channels 2·3')
    """
    if isinstance(arch, AutoRegressiveTaps):
        return counted(arch.taps, "tap")
    if isinstance(arch, NearAndPools):
        return f"{counted(arch.near, 'tap')} and {counted(arch.pools, 'pool')}"
    if isinstance(arch, LogTaps):
        return f"{counted(arch.taps, 'tap')} at geometric lags"
    channels = f", channels {_dots(arch.channels)}" if arch.channels else ""
    return f"{counted(arch.n_layers, 'layer')}, kernels {_dots(arch.kernel_sizes)}{channels}"


def _dots(values: list[int]) -> str:
    return f"{values[0]}" if len(values) > 3 and len(set(values)) == 1 else "·".join(map(str, values))
