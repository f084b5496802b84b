"""What models of sets memorise, express, and can move: the stored experiments read, and drawn.

Capacity as memorisation, the random labels that a training procedure fits, belongs to a model *and* to what trains it
(Zhang et al., 2017; the note).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import spearmanr

from capcore.plotting import CYCLE, MARKERS
from chapters.capacity_vs_expressivity.sets import MODELS

KAPPA = "κ (rank of Jacobian)"
"""The column of κ, carried over to networks as the rank of the parameter Jacobian."""
TASKS = {"invariant": "length"}
"""Targets that a table calls otherwise: "invariant" is also the name of a model."""


@dataclass(frozen=True, eq=False)
class MemorisationCurve:
    """Training accuracies on random labels.

    Attributes
    ----------
    sizes : (k,) numbers of labels, ascending. accuracies : (k, trials).
    """

    sizes: np.ndarray
    accuracies: np.ndarray

    @property
    def medians(self) -> np.ndarray:
        """(k,) median accuracy over the trials."""
        return np.median(self.accuracies, axis=1)

    def memorised(self) -> int:
        """The largest size up to which every median is at least 0.99; 0 if the first is below.

        >>> MemorisationCurve(np.array([8, 16, 32]), np.array([[1.0], [1.0], [0.8]])).memorised()
        16
        """
        return max(self.sizes[np.minimum.accumulate(self.medians >= 0.99)].tolist(), default=0)

    @property
    def at_edge(self) -> bool:
        """Whether all sizes are memorised, so that the capacity may be larger than any of them."""
        return self.memorised() == self.sizes[-1]


class ModelAxes:
    """Capacity, expressivity and capacity allocation of one model.

    Attributes
    ----------
    name : of the model. n_params : weights and biases.
    memorisation : its accuracies on random labels.
    fits : target → accuracies ``train``, on the examples it was learnt from, ``test``, on fresh ones; a row a trial.
    ranks : (trials,) κ, the rank of the parameter Jacobian on data. odd_shares : (trials,) the share of it on functions
        that see a reordering, :func:`~chapters.shared.complexity.parameter_rank.odd_share`.
    """

    def __init__(self, name: str, content: Mapping[str, Any], ranks: Mapping[str, Any], trained_on: str) -> None:
        rows, tasks = content["values"]["random labels"][name], content["values"]["targets"].get(name, {})
        accuracies = np.array([row["train"] for row in rows.values()])
        self.name, self.n_params = name, MODELS[name].n_params
        self.memorisation = MemorisationCurve(np.array([*map(int, rows)]), accuracies)
        self.fits = {task: pd.DataFrame(row) for task, row in tasks.items()}
        after = "order" if tasks and trained_on == "order" else "random labels"
        at = tasks["order"] if after == "order" else rows[str(content["settings"]["kappa_size"])]
        self.ranks, self.odd_shares = np.array(ranks["values"][after][name]["rank"]), np.array(at["odd_share"])

    @property
    def capacity(self) -> str:
        """Random labels memorised; "≥" where all sizes were."""
        return f"{'≥ ' if self.memorisation.at_edge else ''}{self.memorisation.memorised():,}"

    def row(self) -> dict[str, str]:
        """Column → text: medians over the trials."""
        cells = {"parameters": f"{self.n_params:,}", "random labels memorised": self.capacity}
        cells |= {f"{TASKS.get(name, name)}, test": f"{np.median(fit.test):.2f}" for name, fit in self.fits.items()}
        share = f"{np.median(self.odd_shares):.2f}"
        return cells | {KAPPA: f"{np.median(self.ranks):.0f}", "share of κ that sees order": share}


def model_axes(content: Mapping[str, Any], ranks: Mapping[str, Any], trained_on: str = "order") -> dict[str, ModelAxes]:
    """Model → its three axes, from ``stored("capacity_vs_expressivity")`` and ``stored("expressivity_ranks")``.

    κ is that on examples which are all different; its allocation that on pairs.

    Parameters
    ----------
    trained_on : "order" or "random labels", the training after which κ and its allocation were taken; models that were
        trained on random labels only have those.
    """
    return {name: ModelAxes(name, content, ranks, trained_on) for name in content["values"]["random labels"]}


def half_distance(fit: pd.DataFrame, whole: bool = False) -> float:
    """Median over seeds of |test accuracy − ½|; with ``whole`` the largest over seeds, training and test set.

    >>> half_distance(pd.DataFrame({"train": [0.5, 0.7], "test": [0.5, 0.6]}), whole=True)
    0.2
    """
    if whole:
        return float(np.round(np.abs(np.concatenate([fit.train, fit.test]) - 0.5).max(), 12))
    return float(np.median(np.abs(fit.test - 0.5)))


def capacity_correlation(models: Mapping[str, ModelAxes], of_parameters: bool = False) -> float:
    """Spearman's rank correlation between κ (median over seeds), or parameters, and the random labels memorised."""
    ranks = [model.n_params if of_parameters else float(np.median(model.ranks)) for model in models.values()]
    return float(spearmanr(ranks, [model.memorisation.memorised() for model in models.values()]).statistic)


def model_style(name: str) -> dict[str, Any]:
    """The same colour and mark of a model in all figures."""
    k = list(MODELS).index(name)
    return {"color": CYCLE[k], "marker": MARKERS[k], "label": name}


def plot_plane(models: Mapping[str, ModelAxes], task: str, ax: Axes) -> Axes:
    """Test accuracy on a target against random labels memorised, a named mark per model; an arrow where all were.

    Dashed: guessing.
    """
    for name, one in models.items():
        style = model_style(name)
        place = (one.memorisation.memorised(), float(np.median(one.fits[task].test)))
        ax.plot(*place, linestyle="none", markersize=9, zorder=3, **style)
        side: dict[str, Any] = {"ha": "left", "xytext": (8, 3)}
        if one.memorisation.at_edge:
            side = {"ha": "right", "xytext": (-8, 3)}
            arrow = {"arrowstyle": "<-", "color": style["color"]}
            ax.annotate("", place, (34, 0), textcoords="offset points", arrowprops=arrow)
        ax.annotate(name, place, textcoords="offset points", va="bottom", **side)
    ax.axhline(0.5, color="0.25", linestyle="--", linewidth=0.9)
    sizes = next(iter(models.values())).memorisation.sizes
    ax.set(xscale="log", xlabel="random labels memorised (capacity)", xlim=(sizes[0] / 1.5, 2 * sizes[-1]))
    ax.set(ylabel=f"test accuracy on {task} (expressivity)", ylim=(0.45, 1.02))
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.xaxis.minorticks_off()
    return ax


def plot_against_kappa(points: Mapping[str, tuple[float, float]], ax: Axes) -> Axes:
    """Labels memorised against κ, a mark per model with its name; dashed, multiples of κ.

    Parameters
    ----------
    points : model → κ and labels.
    """
    span = np.array([min(k for k, _ in points.values()) / 1.5, 1.5 * max(k for k, _ in points.values())])
    for slope, style, name in ((1, "--", "1 label"), (2, ":", "2 labels")):
        ax.plot(span, slope * span, color="0.25", linestyle=style, linewidth=0.9, label=f"{name} per unit of κ")
    for name, (kappa, labels) in points.items():
        ax.plot(kappa, labels, linestyle="none", **model_style(name))
    ax.set(xscale="log", yscale="log", xlabel="κ after training on random labels", ylabel="random labels memorised")
    return ax


def plot_shares(points: Mapping[str, tuple[float, float]], ax: Axes) -> Axes:
    """Test accuracy on the order target against the share of κ that sees the order, a mark per model."""
    for name, (share, accuracy) in points.items():
        ax.plot(share, accuracy, linestyle="none", **model_style(name))
    ax.axhline(0.5, color="0.25", linestyle="--", linewidth=0.9)
    ax.set(xlabel="share of κ that sees the exchange", ylabel="test accuracy, order target", ylim=(0.45, 1.02))
    ax.set_xlim(-0.03, 0.63)
    return ax
