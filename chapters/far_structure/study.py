"""What the stored networks say: effects of each series and kind of unit, pairs, and the answer."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from chapters.far_structure import criteria, experiment, resampling
from chapters.far_structure.networks import train_all
from chapters.far_structure.resampling import Draws, drawn_means, interval, over_series
from chapters.far_structure.series import LENGTH, NULLS, SERIES, series
from chapters.far_structure.stacks import N_INPUTS, Stack, alike
from chapters.kit.stored import stored
from chapters.shared.rank_statistics import partial_spearman

NONLINEAR = ("tanh", "gated")
LEAST = 0.5
"""Of stored far errors, in their units of 1e-4, so that a rounded 0 has a logarithm."""


class Networks:
    """The networks of several series of the stored ``values``, as arrays over stacks (n).

    Attributes
    ----------
    names : tuple of str
        Series, S of them.
    capacity, models : (n,) array
        Of each stack: its κ, and the number of the linear model that it is.
    parameters : dict
        Kind of unit → (n,).
    share : (S, n) array
        Far share of the linear stack.
    loss, far : dict
        Kind of unit → (S, K, n) logarithms of test loss and far error; NaN where a network diverged.
    """

    def __init__(self, values: Mapping[str, Any], names: Iterable[str]) -> None:
        stacks, kinds = values["stacks"], list(values["networks"])
        self.names = tuple(names)
        self.capacity = np.array([stack["capacity"] for stack in stacks], dtype=float)
        models = [Stack(tuple(stack["kernels"]), tuple(stack["channels"])).model for stack in stacks]
        self.models = np.array([models.index(model) for model in models])
        by_kind = np.array([stack["parameters"] for stack in stacks], float).T
        self.parameters = dict(zip(kinds, by_kind, strict=True))
        self.share = np.array([values["series"][name]["far share"] for name in self.names])

        def log_tables(quantity: str, least: float) -> dict[str, np.ndarray]:
            rows = {kind: [values["networks"][kind][name][quantity] for name in self.names] for kind in kinds}
            return {kind: np.log(np.maximum(np.array(row, dtype=float), least)) for kind, row in rows.items()}

        self.loss, self.far = log_tables("loss", 0), log_tables("far", LEAST)

    def effects(self, kind: str) -> tuple[np.ndarray, Draws]:
        """(S, B) partial correlations of far share and far error over the stacks, and the draws.

        Parameters, κ and test loss are held fixed.
        """
        drawn = Draws(self.models, self.far[kind].shape[1], len(self.names))
        loss, error = (drawn_means(table[kind], drawn) for table in (self.loss, self.far))
        fixed = [drawn.of(column) for column in (self.parameters[kind], self.capacity)]
        return partial_spearman(drawn.of(self.share), error, [*fixed, loss]), drawn

    def shuffled(self, kind: str, orders: np.ndarray) -> np.ndarray:
        """(S, B) effects with the far shares that orders (B, n) of :func:`chance` give the stacks."""
        loss, error = (np.nanmean(table[kind], axis=1)[:, None] for table in (self.loss, self.far))
        return partial_spearman(self.share[:, orders], error, [self.parameters[kind], self.capacity, loss])

    def pairs(self, kind: str) -> np.ndarray:
        """(S, 2) of pairs of stacks with about the same test loss: how many the larger far share wins, and how many."""
        one, other = np.triu_indices(len(self.models), 1)
        loss, far = (np.nanmean(table[kind], axis=1) for table in (self.loss, self.far))
        gap = self.share[:, one] - self.share[:, other]
        same = (np.abs(loss[:, one] - loss[:, other]) <= np.log1p(criteria.SAME_LOSS)) & (gap != 0)
        wins = np.sign(gap) * (far[:, other] - far[:, one]) > 0
        return np.stack([(wins & same).sum(axis=1), same.sum(axis=1)], axis=1)

    def repeated(self, kind: str) -> np.ndarray:
        """(S,) rank correlation, over the stacks, of the far error of two seeds with that of the others.

        A mean over all seeds is about twice as long a test as either half: that it would have the reliability
        2r/(1 + r) is Spearman and Brown's formula, and no predictor can correlate with it by more than the root.
        """
        few, rest = (np.nanmean(part, axis=1) for part in np.split(self.far[kind], [2], axis=1))
        return partial_spearman(few, rest)

    def diverged(self, kind: str) -> float:
        """Share of networks that diverged."""
        return float(np.isnan(self.far[kind]).mean())


@cache
def networks() -> tuple[Networks, Networks]:
    """The stored networks of the series that count, and of those without far structure."""
    values = stored("far_structure")["values"]
    return Networks(values, structured(values)), Networks(values, NULLS)


def structured(values: Mapping[str, Any]) -> list[str]:
    """The series whose far autocorrelation is large enough to count."""
    outside = {name: np.array(values["series"][name]["autocorrelation"])[N_INPUTS // 2 + 1 :] for name in SERIES}
    return [name for name, far in outside.items() if np.sqrt(np.mean(far**2)) >= criteria.STRUCTURE]


class Findings:
    """The effects and the answer, of series with and without far structure.

    Attributes
    ----------
    by_series : dict
        Kind of unit, or "nonlinear" → series → effect.
    effect : dict
        The same kinds → mean effect over series.
    null : dict
        The same kinds → mean effect over series without far structure.
    p : float
        Of the test over series, of nonlinear networks.
    chance : float
        The effect that 5 % of shuffles of the far shares get below.
    diverged : dict
        Kind of unit → share of diverged networks.
    answer : str
        "yes", "no" or "undecided".
    """

    def __init__(self, some: Networks, without: Networks) -> None:
        kinds = {kind: (some.effects(kind), without.effects(kind)) for kind in some.far}
        first, second = (kinds[kind] for kind in NONLINEAR)
        one, other = (((a + b) / 2, drawn) for (a, drawn), (b, _) in zip(first, second, strict=True))
        kinds["nonlinear"] = one, other
        names = some.names + without.names
        self.by_series = {
            kind: dict(zip(names, map(interval, (*both[0][0], *both[1][0])), strict=True))
            for kind, both in kinds.items()
        }
        self.effect, self.null = ({kind: over_series(*both[i]).basic() for kind, both in kinds.items()} for i in (0, 1))
        self.p = resampling.sign_flips(one[0][:, 0].tolist())

        def mixed(orders: np.ndarray) -> np.ndarray:
            return np.asarray(np.mean([some.shuffled(kind, orders) for kind in NONLINEAR], axis=0))

        self.chance = float(np.quantile(resampling.chance(mixed, some.models), 0.05))
        self.diverged = {kind: some.diverged(kind) for kind in some.far}
        lost = float(np.mean([self.diverged[kind] for kind in NONLINEAR]))
        effect, null = self.effect["nonlinear"], self.null["nonlinear"]
        self.answer = criteria.over_series(*effect, self.p, self.chance, null.high, lost)


class Again:
    """The stack with the most far share on a series, with some units, from all seeds, as the stored run has it.

    Attributes
    ----------
    far, before : (K,) array
        Far errors of the seeds, now and stored; NaN where a network diverged.
    curve : (65,) array
        Autocorrelation of what they generate.
    """

    def __init__(self, name: str, units: str) -> None:
        content = stored("far_structure")
        settings, values = content["settings"], content["values"]
        stacks, seeds, burn_in = alike(), settings["seeds"], settings["burn_in"]
        number = experiment.ends(values["series"][name]["far share"])[1]
        shape = settings["n_sequences"], burn_in + LENGTH
        networks = train_all(stacks[number], units, *experiment.padded([name]), seeds, settings["steps"], shape)
        judgement = experiment.judged(networks, experiment.autocorrelation(series(name))[None], burn_in)
        self.far, self.curve = judgement["far"][0], judgement["curve"][0]
        self.before = np.array([row[number] for row in values["networks"][units][name]["far"]], dtype=float) / 1e4
