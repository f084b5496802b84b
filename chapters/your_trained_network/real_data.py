"""Eight real data sets that scikit-learn and matplotlib ship, in random splits: tables, images, series and a landscape.

Inputs, and values that are to be predicted, have mean 0 and variance 1 on the training examples of each split.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from matplotlib.cbook import get_sample_data
from sklearn import datasets

LAGS = 16
"""Past values from which the next one of a series is predicted."""
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Source:
    """All examples of a data set.

    Attributes
    ----------
    x : (M, …) array
        Inputs.
    y : (M, K) array
        Values, or labels as rows of the identity.
    loss : str
        "squared" or "cross-entropy".
    series : bool
        Whether examples are windows of a series, in order.
    n_train : int
        Training examples of a split.
    """

    x: np.ndarray
    y: np.ndarray
    loss: str
    series: bool
    n_train: int


@dataclass(frozen=True, eq=False)
class Split:
    """Training examples, test examples, and five folds of the former.

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
    """

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    folds: np.ndarray
    baseline: float
    loss: str


def _labelled(load: Callable[..., tuple[np.ndarray, np.ndarray]], n_train: int) -> Source:
    x, labels = load(return_X_y=True)
    return Source(x, np.eye(int(labels.max()) + 1)[labels], "cross-entropy", False, n_train)


def _digits(size: int, step: int) -> np.ndarray:
    """(M, patches, pixels) of images: square patches of ``size`` pixels, ``step`` apart."""
    images = datasets.load_digits().images
    patches = np.lib.stride_tricks.sliding_window_view(images, (size, size), axis=(1, 2))[:, ::step, ::step]
    return patches.reshape(len(images), -1, size * size)


def _read(x: np.ndarray) -> Source:
    return Source(x, np.eye(10)[datasets.load_digits().target], "cross-entropy", False, 100)


def _windows(series: np.ndarray) -> Source:
    past = np.lib.stride_tricks.sliding_window_view(series[:-1], LAGS)
    return Source(past, series[LAGS:, None], "squared", True, 100)


def _elevation() -> Source:
    """Elevations of the ground near Jacksboro by row and column of the map."""
    with np.load(get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as sample:
        heights = sample["elevation"].astype(float)
    where = np.stack(np.meshgrid(*map(np.arange, heights.shape), indexing="ij"), axis=-1)
    chosen = np.random.default_rng(0).choice(heights.size, 2000, replace=False)
    return Source(where.reshape(-1, 2)[chosen].astype(float), heights.reshape(-1, 1)[chosen], "squared", False, 100)


def _volume() -> Source:
    with np.load(get_sample_data("goog.npz", asfileobj=False)) as sample:
        return _windows(np.log(sample["price_data"]["volume"].astype(float)))


def _eeg() -> Source:
    """The first of four channels of an electroencephalogram."""
    return _windows(np.fromfile(get_sample_data("eeg.dat", asfileobj=False), dtype=float).reshape(-1, 4)[:, 0])


def _diabetes() -> Source:
    x, y = datasets.load_diabetes(return_X_y=True)
    return Source(x, y[:, None], "squared", False, 100)


SOURCES: dict[str, Callable[[], Source]] = {
    "diabetes": _diabetes,
    "elevation": _elevation,
    "volume": _volume,
    "EEG": _eeg,
    "wine": lambda: _labelled(datasets.load_wine, 89),
    "breast cancer": lambda: _labelled(datasets.load_breast_cancer, 100),
    "iris": lambda: _labelled(datasets.load_iris, 75),
    "digits": lambda: _read(_digits(2, 2).mean(axis=2)),
    "patches of digits": lambda: _read(_digits(3, 2)),
}
"""The last two are the same images: of 4 × 4 mean values, and as nine patches of 3 × 3 pixels for convolutions."""


@cache
def source(name: str) -> Source:
    """A data set by its name.

    >>> source("EEG").x.shape, source("digits").x.shape, source("patches of digits").x.shape
    ((784, 16), (1797, 16), (1797, 9, 9))
    """
    return SOURCES[name]()


def split(name: str, number: int) -> Split:
    """Split ``number`` of a data set.

    Examples of a series are a run of windows at a random place, those of tests do not overlap it, and folds are runs as
    well. All others are drawn at random.

    >>> found = split("wine", 0)
    >>> found.x.shape, found.x_test.shape, np.bincount(found.folds).tolist()
    ((89, 13), (89, 13), [18, 18, 18, 18, 17])
    """
    data, rng = source(name), np.random.default_rng([number, 35])
    n, every = data.n_train, np.arange(len(data.x))
    if data.series:
        first = int(rng.integers(len(every) - n + 1))
        train = every[first : first + n]
        tests = every[(every < first - LAGS) | (every >= first + n + LAGS)]
        folds = np.arange(n) * N_FOLDS // n
    else:
        order = rng.permutation(every)
        train, tests = order[:n], order[n:]
        folds = np.arange(n) % N_FOLDS
    mean, spread = _scales(data.x[train], data.x.ndim == 3)
    x, x_test = (data.x[train] - mean) / spread, (data.x[tests] - mean) / spread
    y, y_test = data.y[train], data.y[tests]
    if data.loss == "squared":
        centre, size = y.mean(axis=0), y.std(axis=0)
        y, y_test = (y - centre) / size, (y_test - centre) / size
        return Split(x, y, x_test, y_test, folds, float(np.square(y_test).sum(axis=1).mean() / 2), data.loss)
    shares = (y.sum(axis=0) + 1) / (n + y.shape[1])
    return Split(x, y, x_test, y_test, folds, float(-(y_test @ np.log(shares)).mean()), data.loss)


def _scales(x: np.ndarray, image: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean and spread of each input, or of all pixels together."""
    axes = None if image else 0
    return x.mean(axis=axes), np.maximum(x.std(axis=axes), 1e-9)
