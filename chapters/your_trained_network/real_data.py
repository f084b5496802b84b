"""Eight real data sets that scikit-learn and matplotlib ship, in random splits: tables, images, series and a landscape.

Inputs, and values that are to be predicted, have mean 0 and variance 1 on the training examples of each split.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.cbook import get_sample_data
from sklearn import datasets

LAGS = 16
"""Past values from which the next one of a series is predicted."""
N_FOLDS, N_TRAIN = 5, 100
"""Of each split; data sets of fewer than 200 examples give half of them."""


class Source(NamedTuple):
    """All examples of a data set.

    x, y : (M, …) inputs, and (M, K) values, or labels as rows of the identity. loss : "squared" or "cross-entropy".
    series : whether examples are windows of a series, in order.
    """

    x: np.ndarray
    y: np.ndarray
    loss: str
    series: bool = False


def _labelled(x: np.ndarray, labels: np.ndarray) -> Source:
    return Source(x, np.eye(int(labels.max()) + 1)[labels], "cross-entropy")


def _digits(size: int, step: int, pooled: bool = False) -> Source:
    """Images as (M, patches, pixels): square patches of ``size`` pixels, ``step`` apart; pooled, their mean values."""
    data = datasets.load_digits()
    patches = np.lib.stride_tricks.sliding_window_view(data.images, (size, size), axis=(1, 2))[:, ::step, ::step]
    x = patches.reshape(len(patches), -1, size * size)
    return _labelled(x.mean(axis=2) if pooled else x, data.target)


def _windows(series: np.ndarray) -> Source:
    past = np.lib.stride_tricks.sliding_window_view(series[:-1], LAGS)
    return Source(past, series[LAGS:, None], "squared", series=True)


def _elevation() -> Source:
    """Elevations of the ground near Jacksboro by row and column of the map."""
    with np.load(get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as sample:
        heights = sample["elevation"].astype(float)
    where = np.stack(np.meshgrid(*map(np.arange, heights.shape), indexing="ij"), axis=-1)
    chosen = np.random.default_rng(0).choice(heights.size, 2000, replace=False)
    return Source(where.reshape(-1, 2)[chosen].astype(float), heights.reshape(-1, 1)[chosen], "squared")


def _volume() -> Source:
    with np.load(get_sample_data("goog.npz", asfileobj=False)) as sample:
        return _windows(np.log(sample["price_data"]["volume"].astype(float)))


def _diabetes() -> Source:
    x, y = datasets.load_diabetes(return_X_y=True)
    return Source(x, y[:, None], "squared")


SOURCES: dict[str, Callable[[], Source]] = {
    "diabetes": _diabetes,
    "elevation": _elevation,
    "volume": _volume,
    "EEG": lambda: _windows(np.fromfile(get_sample_data("eeg.dat", asfileobj=False), dtype=float)[::4]),
    "wine": lambda: _labelled(*datasets.load_wine(return_X_y=True)),
    "breast cancer": lambda: _labelled(*datasets.load_breast_cancer(return_X_y=True)),
    "iris": lambda: _labelled(*datasets.load_iris(return_X_y=True)),
    "digits": lambda: _digits(2, 2, pooled=True),
    "patches of digits": lambda: _digits(3, 2),
}
"""The last two are the same images: of 4 × 4 mean values, and as nine patches of 3 × 3 pixels for convolutions. Of the
electroencephalogram it is the first of four channels."""


@cache
def source(name: str) -> Source:
    """A data set by its name.

    >>> source("EEG").x.shape, source("digits").x.shape, source("patches of digits").x.shape
    ((784, 16), (1797, 16), (1797, 9, 9))
    """
    return SOURCES[name]()


class Split:
    """Split ``number`` of a data set: training examples, test examples, and five folds of the former.

    Examples of a series are a run of windows at a random place, those of tests do not overlap it, and folds are runs as
    well. All others are drawn at random.

    Attributes
    ----------
    x, y : (N, …) and (N, K) array
        For training.
    x_test, y_test : (M, …) and (M, K) array
        For tests.
    folds : (N,) array of int
        0 … 4, the part in which an example is left out.
    baseline : float
        Mean loss on the tests of the best constant of the training examples.
    loss : str
        "squared" or "cross-entropy".

    Examples
    --------
    >>> found = Split("wine", 0)
    >>> found.x.shape, found.x_test.shape, np.bincount(found.folds).tolist()
    ((89, 13), (89, 13), [18, 18, 18, 18, 17])
    """

    def __init__(self, name: str, number: int) -> None:
        data, rng = source(name), np.random.default_rng([number, 35])
        n, every = min(N_TRAIN, len(data.x) // 2), np.arange(len(data.x))
        if data.series:
            first = int(rng.integers(len(every) - n + 1))
            train = every[first : first + n]
            tests = every[(every < first - LAGS) | (every >= first + n + LAGS)]
            self.folds = np.arange(n) * N_FOLDS // n
        else:
            train, tests = np.split(rng.permutation(every), [n])
            self.folds = np.arange(n) % N_FOLDS
        axes = None if data.x.ndim == 3 else 0  # pixels have one scale
        mean, spread = data.x[train].mean(axis=axes), np.maximum(data.x[train].std(axis=axes), 1e-9)
        self.x, self.x_test = (data.x[train] - mean) / spread, (data.x[tests] - mean) / spread
        y, y_test = data.y[train], data.y[tests]
        if data.loss == "squared":
            centre, size = y.mean(axis=0), y.std(axis=0)
            y, y_test = (y - centre) / size, (y_test - centre) / size
            baseline = np.square(y_test).sum(axis=1).mean() / 2
        else:
            baseline = -(y_test @ np.log((y.sum(axis=0) + 1) / (n + y.shape[1]))).mean()
        self.y, self.y_test, self.baseline, self.loss = y, y_test, float(baseline), data.loss
