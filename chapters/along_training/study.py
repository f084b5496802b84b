"""What the chapter on training reads off its measures: ratios with intervals, verdicts, tables, rank correlations.

Rules 1 to 4 were written down before any measure was computed. Intervals are Student's at 95 %, over seeds, of the mean
logarithm.

1. *Goes up* or *goes down*: the interval of the ratio of end to start, paired by seed, excludes 1; for right and for
   shuffled labels separately.
2. *Tells memorised from learnt*: the interval of the ratio of shuffled to right labels excludes 1, paired by start; at
   the end, and at equal training loss. There the network with right labels is taken at the loss at which the one with
   shuffled labels ended, the logarithm of the measure interpolated between snapshots in the logarithm of the loss.
3. *Agree*: the interval of Spearman's ρ over the final networks of one activation excludes 0.
4. *The rank is known*: it is a count of the parameters that the data leave. For ReLU networks it was not.

:class:`Within` came afterwards, too.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy.stats import rankdata

from chapters.shared.correlation import copula_interval
from chapters.shared.intervals import geometric_interval, student_interval
from chapters.shared.numbers import with_error
from chapters.shared.rank_statistics import spearman

Table = Mapping[str, np.ndarray]  # measure → (n_snapshots, n_seeds)
Kinds = Mapping[str, Table]  # "right" and "shuffled" → their tables
Interval = tuple[float, float, float]  # a mean or a correlation, and both ends

RELU = {
    "rank": "rank on training images",
    "participation": "participation ratio",
    "boundary.ball": "boundary density, ball of all images",
    "boundary.near": "boundary density, near test images",
    "pieces": "linear pieces between images",
    "patterns": "activation patterns between images",
    "transitions": "switches on a circle",
    "length": "length of a circle's image",
    "logits": "slope of the logits",
    "fisher": "Fisher–Rao norm, squared",
    "probabilities": "slope of the probabilities",
    "unevenness": "unevenness of the leverage",
}
"""Measures of ReLU networks and their labels, in the order of tables and figures."""

TANH = {name: RELU[name] for name in ("rank", "participation")} | {
    "curve": "curve complexity (nats)",
    **{name: RELU[name] for name in ("logits", "fisher", "probabilities")},
}
"""The same for tanh networks, which have no boundaries."""

COUNTS = ("participation", "boundary.ball", "boundary.near", "pieces", "patterns", "transitions")
STEEP = ("length", "logits", "fisher")
"""Two groups of measures that go together over all networks, and against each other among networks of equal labels."""
PLANE = {
    "rank,\nleverage": ("rank", "unevenness"),
    "boundaries,\nparticipation": ("boundary.ball", *COUNTS[2:], "participation"),
    "length, slope\nof the logits": ("length", "logits"),
    "slope of the\nprobabilities": ("probabilities",),
    "Fisher–\nRao norm": ("fisher",),
}
"""How the first picture calls the measures, and each group's first one, at which the name stands."""


def labels_ratio(kinds: Kinds, name: str, at: int = -1) -> np.ndarray:
    """(n_seeds,) a measure after shuffled labels over that after right ones, at a snapshot, seed by seed."""
    return kinds["shuffled"][name][at] / kinds["right"][name][at]


def equal_loss_ratio(kinds: Kinds, name: str) -> np.ndarray:
    """(n_seeds,) the same with right labels at the loss at which the shuffled ones ended.

    The logarithm of the measure is interpolated between snapshots in the logarithm of the loss.

    The losses of the right labels fall from one snapshot to the next, and pass that one.
    """
    right, wrong = kinds["right"], kinds["shuffled"]
    columns = np.log([wrong["loss"][-1], *right["loss"][::-1]]).T, np.log(right[name][::-1]).T
    logs = [np.interp(target, losses, values) for (target, *losses), values in zip(*columns, strict=True)]
    return wrong[name][-1] / np.exp(logs)


def interval(samples: np.ndarray) -> Interval:
    """Geometric mean and 95 % interval of ratios (n_seeds,)."""
    mean, low, high = geometric_interval(samples)
    return float(mean), float(low), float(high)


def verdict(found: Interval) -> str:
    """Either "up" or "down" where the interval excludes 1 by more than rounding, and otherwise "level".

    >>> verdict((2.0, 1.5, 3.0)), verdict((1.0, 1.0 + 1e-15, 1.0 + 1e-15))
    ('up', 'level')
    """
    return "up" if found[1] > 1 + 1e-9 else "down" if found[2] < 1 - 1e-9 else "level"


def ratios(kinds: Kinds, names: Sequence[str]) -> dict[str, dict[str, Interval]]:
    """What is compared → measure → interval; "equal loss" only of measures that every snapshot has."""
    whole = [name for name in names if len(kinds["right"][name]) == len(kinds["right"]["loss"])]
    return {
        **{kind: {name: interval(table[name][-1] / table[name][0]) for name in names} for kind, table in kinds.items()},
        "labels": {name: interval(labels_ratio(kinds, name)) for name in names},
        "equal loss": {name: interval(equal_loss_ratio(kinds, name)) for name in whole},
    }


def overview(kinds: Kinds, labels: Mapping[str, str]) -> dict[str, list[str]]:
    """Label of a measure → means at the start, after right and after shuffled labels; their ratio at equal loss."""
    table, compared = {}, ratios(kinds, list(labels))["equal loss"]
    for name, label in labels.items():
        right, wrong = (student_interval(kinds[kind][name].T) for kind in ("right", "shuffled"))
        cells = [(right[0][0], right[1][0]), (right[0][-1], right[1][-1]), (wrong[0][-1], wrong[1][-1])]
        table[label] = [*(with_error(*cell) for cell in cells), text(compared[name]) if name in compared else "–"]
    return table


def text(found: Interval) -> str:
    """Text such as "1.23 [1.10, 1.40]": a ratio with its interval, three digits or two decimals, whole from 100 on.

    >>> text((12.345, 9.87, 150.2)), text((0.0034, 0.003, 0.004)), text((0.552, 0.49, 1.618))
    ('12.3 [9.87, 150]', '0.00340 [0.00300, 0.00400]', '0.55 [0.49, 1.62]')
    """
    mean, low, high = (_short(value) for value in found)
    return f"{mean} [{low}, {high}]"


def _short(value: float) -> str:
    return f"{value:.2f}" if 0.1 <= value < 9.995 else f"{value:#.3g}" if value < 100 else f"{value:,.0f}"


def correlation(kinds: Kinds, first: str, second: str) -> Interval:
    """Spearman's ρ of two measures over the final networks, with its 95 % interval.

    The interval is the one of ``copula_interval``, for 20 networks or fewer.
    """
    x, y = (np.concatenate([table[name][-1] for table in kinds.values()]) for name in (first, second))
    rho = spearman(x, y)
    return (rho, *copula_interval(rho, len(x)))


def sign(found: Interval) -> int:
    """1 or −1 where the interval of a correlation excludes 0, and otherwise 0."""
    return int(found[1] > 0) - int(found[2] < 0)


def agreement(kinds: Kinds, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """(k, k) matrices: ρ over all final networks, and its sign where that is clear."""
    rho, clear = np.eye(len(names)), np.zeros((len(names), len(names)), int)
    for i, j in combinations(range(len(names)), 2):
        pair = correlation(kinds, names[j], names[i])
        rho[i, j] = rho[j, i] = pair[0]
        clear[i, j] = clear[j, i] = sign(pair)
    return rho, clear


class Within:
    """Rank correlations of measures among final networks of one kind of labels, both kinds pooled.

    A seed stands for two networks that share a start, so seeds are exchanged and not networks.

    Attributes
    ----------
    names : of the k measures.
    rho : (k, k) Spearman's ρ of ranks that were taken within each kind; 0 for a measure that is constant.
    draws : (n_draws, k, k) the same after the seeds of one side were exchanged at random, for both kinds alike: what
        chance makes of measures that have nothing to do with one another.

    Examples
    --------
    >>> a, b = np.array([[1.0, 2.0, 3.0]]), np.array([[3.0, 2.0, 1.0]])  # against each other, in both kinds
    >>> round(Within({"right": {"a": a, "b": b}, "shuffled": {"a": a + 9, "b": b + 9}}, ["a", "b"]).rho[0, 1])
    -1
    """

    def __init__(self, kinds: Kinds, names: Sequence[str], n_draws: int = 10_000) -> None:
        ranks = np.stack([[rankdata(kinds[kind][name][-1]) for kind in kinds] for name in names])
        ranks = ranks - ranks.mean(axis=2, keepdims=True)  # (k, n_kinds, n_seeds)
        size = np.sqrt(np.square(ranks).sum(axis=(1, 2), keepdims=True))
        ranks = np.divide(ranks, size, out=np.zeros_like(ranks), where=size > 0)
        flat, rng, n_seeds = ranks.reshape(len(names), -1), np.random.default_rng(0), ranks.shape[2]
        draws = [ranks[:, :, rng.permutation(n_seeds)].reshape(flat.shape) @ flat.T for _ in range(n_draws)]
        self.names, self.rho, self.draws = tuple(names), flat @ flat.T, np.array(draws)

    @property
    def chance(self) -> np.ndarray:
        """(k, k) share of the draws that are as far from 0: the two-sided p-value of each pair."""
        return (np.abs(self.draws) >= np.abs(self.rho) - 1e-9).mean(axis=0)

    def block(self, first: Sequence[str], second: Sequence[str]) -> tuple[np.ndarray, float]:
        """ρ of each of the first measures with each of the second, and the p-value of their mean."""
        at = np.ix_([self.names.index(name) for name in first], [self.names.index(name) for name in second])
        drawn = np.array([draw[at].mean() for draw in self.draws])
        return self.rho[at], float(np.mean(np.abs(drawn) >= abs(self.rho[at].mean()) - 1e-9))
