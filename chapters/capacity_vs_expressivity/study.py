"""What models of sets memorise, express, and can move: the stored experiment read, and what is computed beside it.

Capacity as memorisation, the random labels that a training procedure fits, belongs to a model *and* to what trains it
(Zhang et al., 2017; the note).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from capcore.complexity import Network, SetNetwork, parameter_rank, random_network
from capcore.validation import finite_array, finite_number
from chapters.capacity_vs_expressivity.orbits import closed_under_exchange
from chapters.shared.intervals import Interval

KAPPA = "κ (rank of Jacobian)"
"""The column of κ, carried over to networks as the rank of the parameter Jacobian."""
WIDTHS: dict[str, tuple[list[int], list[int]]] = {
    "invariant": ([3, 8, 6], [6, 8, 1]),
    "order-aware": ([], [12, 8, 8, 1]),
    "narrow": ([], [12, 6, 1]),
    "linear": ([], [12, 1]),
}
"""Small models of the figure of ranks: widths of the item network, and of the network above or of the whole."""


@dataclass(frozen=True, eq=False)
class MemorisationCurve:
    """Training accuracies on random labels.

    Attributes
    ----------
    sizes : (k,) numbers of labels, ascending. accuracies : (k, trials).
    """

    sizes: np.ndarray
    accuracies: np.ndarray

    def __post_init__(self) -> None:
        sizes, accuracies = finite_array(self.sizes, "sizes", 1), finite_array(self.accuracies, "accuracies", 2)
        if len(sizes) != len(accuracies) or np.any(np.diff(sizes) <= 0):
            raise ValueError(
                f"sizes: found {sizes.tolist()} for {len(accuracies)} rows of accuracies, expected one each, ascending."
            )
        if accuracies.min() < 0 or accuracies.max() > 1:
            raise ValueError(
                f"accuracies: found {accuracies.min():g} to {accuracies.max():g}, expected shares in [0, 1]."
            )
        object.__setattr__(self, "sizes", sizes.astype(int))
        object.__setattr__(self, "accuracies", accuracies)

    @property
    def medians(self) -> np.ndarray:
        """(k,) median accuracy over the trials."""
        return np.median(self.accuracies, axis=1)

    def memorised(self, threshold: float = 0.99) -> int:
        """The largest size up to which every median is at least ``threshold``; 0 if the first is below.

        >>> MemorisationCurve([8, 16, 32], [[1.0], [1.0], [0.8]]).memorised()
        16
        """
        share = finite_number(threshold, "threshold")
        if not 0 < share <= 1:
            raise ValueError(f"threshold: found {threshold!r}, expected a share above 0 and at most 1.")
        below = np.flatnonzero(self.medians < share)
        count = int(below[0]) if below.size else len(self.sizes)
        return int(self.sizes[count - 1]) if count else 0

    @property
    def at_edge(self) -> bool:
        """Whether all sizes are memorised, so that the capacity may be larger than any of them."""
        return self.memorised() == self.sizes[-1]


@dataclass(frozen=True, eq=False)
class TargetFit:
    """How well a target was learnt: accuracies (trials,) on the examples it was learnt from, and on fresh ones."""

    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class ModelAxes:
    """Capacity, expressivity and capacity allocation of one model.

    Attributes
    ----------
    name : of the model. n_params : weights and biases.
    memorisation : its accuracies on random labels.
    fits : target → its accuracies.
    ranks : (trials,) κ, the rank of the parameter Jacobian on data. odd_shares : (trials,) the share of it on functions
        that see a reordering, :meth:`~capcore.complexity.parameter_rank.ParameterRank.odd_share`.
    """

    name: str
    n_params: int
    memorisation: MemorisationCurve
    fits: Mapping[str, TargetFit] = field(default_factory=dict)
    ranks: np.ndarray = field(default_factory=lambda: np.empty(0))
    odd_shares: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def capacity(self) -> str:
        """Random labels memorised; "≥" where all sizes were."""
        return f"{'≥ ' if self.memorisation.at_edge else ''}{self.memorisation.memorised():,}"

    def row(self) -> dict[str, str]:
        """Column → text: medians over the trials, "–" for what was not measured."""
        cells = {"parameters": f"{self.n_params:,}", "random labels memorised": self.capacity}
        cells |= {f"{target}, test": f"{np.median(fit.test):.2f}" for target, fit in self.fits.items()}
        cells[KAPPA] = f"{np.median(self.ranks):.0f}" if self.ranks.size else "–"
        cells["share of κ that sees order"] = f"{np.median(self.odd_shares):.2f}" if self.odd_shares.size else "–"
        return cells


def axes_table(models: Iterable[ModelAxes]) -> dict[str, dict[str, str]]:
    """Model → column → text, for a table; columns that a model lacks are "–"."""
    rows = {model.name: model.row() for model in models}
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    return {name: {column: row.get(column, "–") for column in columns} for name, row in rows.items()}


def model_axes(content: Mapping[str, Any], ranks: Mapping[str, Any], trained_on: str = "order") -> dict[str, ModelAxes]:
    """Model → its three axes, from ``stored("capacity_vs_expressivity")`` and ``stored("expressivity_ranks")``.

    κ is that on examples which are all different; its allocation that on pairs.

    Parameters
    ----------
    trained_on : "order" or "random labels", the training after which κ and its allocation were taken; models that were
        trained on random labels only have those.
    """
    from chapters.capacity_vs_expressivity.sets import MODELS

    found = {}
    size = str(content["settings"]["kappa_size"])
    for name, rows in content["values"]["random labels"].items():
        curve = MemorisationCurve(
            np.array([int(key) for key in rows]), np.array([row["train"] for row in rows.values()])
        )
        tasks = content["values"]["targets"].get(name, {})
        fits = {task: TargetFit(np.array(row["train"]), np.array(row["test"])) for task, row in tasks.items()}
        after = "order" if tasks and trained_on == "order" else "random labels"
        at = tasks["order"] if after == "order" else rows[size]
        found[name] = ModelAxes(
            name,
            MODELS[name].n_params,
            curve,
            fits,
            np.array(ranks["values"][after][name]["rank"]),
            np.array(at["odd_share"]),
        )
    return found


def kappa_on_pairs(content: Mapping[str, Any], name: str) -> int:
    """κ of a model trained on the order target, on the stored pairs of examples; median over seeds."""
    return int(np.median(content["values"]["targets"][name]["order"]["rank"]))


def half_distance(fit: TargetFit, whole: bool = False) -> float:
    """Median over seeds of |test accuracy − ½|; with ``whole`` the largest over seeds, training and test set.

    >>> half_distance(TargetFit(np.array([0.5, 0.7]), np.array([0.5, 0.6])), whole=True)
    0.2
    """
    if whole:
        return float(np.round(np.abs(np.concatenate([fit.train, fit.test]) - 0.5).max(), 12))
    return float(np.median(np.abs(fit.test - 0.5)))


def accuracy_intervals(models: Mapping[str, ModelAxes]) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Model → target → mean test accuracy over seeds and the ends of its t-interval (95 %)."""
    found: dict[str, dict[str, tuple[float, float, float]]] = {}
    for name, each in models.items():
        found[name] = {}
        for task, fit in each.fits.items():
            over_seeds = Interval.of(fit.test)
            found[name][task] = (over_seeds.mean, over_seeds.low, over_seeds.high)
    return found


def capacity_correlation(models: Mapping[str, ModelAxes], of_parameters: bool = False) -> float:
    """Spearman's rank correlation between κ (median over seeds), or parameters, and the random labels memorised."""
    ranks = [each.n_params if of_parameters else float(np.median(each.ranks)) for each in models.values()]
    return float(spearmanr(ranks, [each.memorisation.memorised() for each in models.values()]).statistic)


def ranks_on_pairs(counts: Sequence[int], seed: int) -> dict[str, list[int]]:
    """Small model of :data:`WIDTHS` at random parameters → κ on as many pairs of examples, items 1 and 2 exchanged."""
    rng = np.random.default_rng(seed)
    networks = {name: _random_model(*widths, rng) for name, widths in WIDTHS.items()}
    items = rng.normal(size=(max(counts), 4, 3))
    found: dict[str, list[int]] = {name: [] for name in networks}
    for count in counts:
        pairs = closed_under_exchange(items[:count], np.ones(count))[0]
        for name, network in networks.items():
            read = pairs if isinstance(network, SetNetwork) else pairs.reshape(len(pairs), -1)
            found[name].append(parameter_rank(network, read).rank)
    return found


def untrained_accuracies(n_networks: int, n_pairs: int, seed: int) -> list[float]:
    """Accuracies of random invariant networks on a set closed under the exchange, labels drawn at random."""
    rng = np.random.default_rng(seed)
    items, labels = closed_under_exchange(rng.normal(size=(n_pairs, 4, 3)), rng.choice([-1.0, 1.0], n_pairs))
    nets = [_random_model(*WIDTHS["invariant"], rng) for _ in range(n_networks)]
    return [float(np.mean(np.where(net(items)[:, 0] > 0, 1.0, -1.0) == labels)) for net in nets]


def alpha_rows(content: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Model → what it was trained on → Σ α log₁₀ λ_max of its weights, mean and half-width over seeds, as text."""
    size = str(content["settings"]["kappa_size"])
    found = {}
    for name, tasks in content["values"]["targets"].items():
        after = {f"{size} random labels": content["values"]["random labels"][name][size], "order": tasks["order"]}
        found[name] = {f"trained on {what}": _mean_and_half(row["alpha_hat"]) for what, row in after.items()}
    return found


def live_comparison(content: Mapping[str, Any], name: str, task: str, n_seeds: int, tolerance: float = 0.05) -> str:
    """Train ``n_seeds`` of the stored runs again; in words whether median training and test accuracies agree."""
    if not n_seeds:
        return "no network was trained here"
    from chapters.capacity_vs_expressivity.experiment import express

    settings = {**content["settings"], "seeds": content["settings"]["seeds"][:n_seeds]}
    now, then = express(name, task, settings), content["values"]["targets"][name][task]
    gap = max(abs(float(np.median(now[k]) - np.median(then[k][:n_seeds]))) for k in ("train", "test"))
    return f"the stored accuracies are {'met' if gap <= tolerance else 'missed'} within {tolerance:.2f}"


def _random_model(items: list[int], rest: list[int], rng: np.random.Generator) -> Network | SetNetwork:
    above = random_network(rest, rng, 1.5, 0.5, "tanh")
    return SetNetwork(random_network(items, rng, 1.5, 0.5, "tanh"), above) if items else above


def _mean_and_half(values: Sequence[float | None]) -> str:
    numbers = np.array([value for value in values if value is not None])
    if len(numbers) < 2:
        return "no matrix with ten eigenvalues"
    found = Interval.of(numbers)
    return f"{found.mean:.1f} ± {found.half_width:.1f}"
