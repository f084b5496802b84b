"""Partial rank correlations of many resamples at once, and the tests over series."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

RESAMPLES = 2000


class Effect(NamedTuple):
    """An effect, and both ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    def basic(self) -> "Effect":
        """The basic interval: that of percentiles, reflected about what was observed.

        >>> Effect(0.5, 0.25, 1.0).basic()
        Effect(mean=0.5, low=0.0, high=0.75)
        """
        return Effect(self.mean, 2 * self.mean - self.high, 2 * self.mean - self.low)


class Draws:
    """What was observed, and ``RESAMPLES`` of it: which stacks, seeds and series each has.

    Stacks that are one linear model have one far share, so that models are drawn, each with all of its stacks. The
    first resample has every stack, seed and series once.

    ``stacks`` (B, W), with −1 after the last one, ``seeds`` (B, W, K) of each of them, ``series`` (B, S).
    """

    def __init__(self, models: np.ndarray, n_seeds: int, n_series: int) -> None:
        rng = np.random.default_rng(39)
        groups = [np.flatnonzero(models == model) for model in np.unique(models)]
        chosen = rng.integers(len(groups), size=(RESAMPLES, len(groups)))
        rows = [np.arange(len(models)), *(np.concatenate([groups[i] for i in row]) for row in chosen)]
        self.stacks = np.full((RESAMPLES + 1, max(map(len, rows))), -1)
        for place, row in zip(self.stacks, rows, strict=True):
            place[: len(row)] = row
        self.seeds = rng.integers(n_seeds, size=(*self.stacks.shape, n_seeds))
        self.series = rng.integers(n_series, size=(RESAMPLES + 1, n_series))
        self.seeds[0], self.series[0] = np.arange(n_seeds), np.arange(n_series)

    def of(self, values: np.ndarray) -> np.ndarray:
        """(…, B, W) values (…, n) of the stacks; NaN after the last one."""
        return np.where(self.stacks >= 0, values[..., self.stacks].astype(float), np.nan)


def drawn_means(values: np.ndarray, drawn: Draws) -> np.ndarray:
    """(S, B, W) means over seeds of values (S, K, n), of each resample; NaN where no seed that was drawn has one."""
    drawn_values = np.where(drawn.stacks[..., None] >= 0, values[:, drawn.seeds, drawn.stacks[..., None]], np.nan)
    there = ~np.isnan(drawn_values)
    count = there.sum(axis=-1)
    return np.where(count, np.where(there, drawn_values, 0).sum(axis=-1) / np.maximum(count, 1), np.nan)


def interval(values: np.ndarray) -> Effect:
    """What was observed, the first value, and the interval of the resamples.

    >>> interval(np.array([0.5, 0.0, 1.0]))
    Effect(mean=0.5, low=0.025, high=0.975)
    """
    low, high = np.quantile(values[1:], [0.025, 0.975])
    return Effect(float(values[0]), float(low), float(high))


def over_series(values: np.ndarray, drawn: Draws) -> Effect:
    """The mean over series of values (S, B), and its interval, with series drawn as well."""
    return interval(np.take_along_axis(values.T, drawn.series, axis=1).mean(axis=1))


def sign_flips(effects: Sequence[float]) -> float:
    """One-sided p-value of the mean effect being below 0: the share of all signs with a mean as low.

    >>> sign_flips([-1.0, -2.0, -3.0]), sign_flips([1.0])
    (0.125, 1.0)
    """
    signs = np.array(list(product([1.0, -1.0], repeat=len(effects))))
    means = signs @ np.asarray(effects)
    return float(np.mean(means <= means[0] + 1e-12))


def chance(effect: Callable[[np.ndarray], np.ndarray], models: np.ndarray) -> np.ndarray:
    """(B,) the mean effect with the far shares of the models shuffled, in the same way for all series.

    effect : (B, n) the stack whose far share each stack gets → (S, B) effects. models : as in :func:`draws`.
    """
    rng = np.random.default_rng(40)
    _, first, of = np.unique(models, return_index=True, return_inverse=True)
    orders = np.array([rng.permutation(first)[of] for _ in range(RESAMPLES)])
    return effect(orders).mean(axis=0)
