"""Handwritten digits, and points around them: halfway between two, off the data manifold, on lines between two."""

from functools import cache

import numpy as np

from chapters.shared.data import digits

PLACES = ("training", "test", "midpoints", "pixels", "box")
"""Where sensitivity is measured: images, points between two of them, independent pixels, a uniform box."""


def midpoints(x: np.ndarray, y: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, d) points halfway between two of x (m, d) of different labels y (m,), pairs drawn at random."""
    first = rng.integers(0, len(x), n)
    return (x[first] + x[_partners(y, first, rng)]) / 2


def _partners(y: np.ndarray, first: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(y != y[i])) for i in first])


def shuffled_features(x: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, d) points with every feature drawn from those of x (m, d) by itself.

    Each feature keeps its distribution, and nothing is left of how features go together: off the data manifold, at
    the same mean distance from the mean.
    """
    return x[rng.integers(0, len(x), (n, x.shape[1])), np.arange(x.shape[1])]


class Images:
    """The first ``n_images`` of 1,437 training images, 360 test images, and points drawn from a fixed seed.

    Attributes
    ----------
    x, x_test : (n, 64) pixels; mean 0 and variance 1 over all pixels of all training images.
    y, y_test : (n,) labels 0 … 9.
    places : for each of ``PLACES`` points (m, 64).
    starts, ends : (n_segments, 64) pairs of test images of different digits.
    """

    def __init__(self, n_images: int = 600, n_points: int = 360, n_segments: int = 30) -> None:
        data, rng = digits(dtype=float), np.random.default_rng(7)
        x, y, x_test = data.x[:n_images], data.y[:n_images], data.x_test
        self.x, self.y, self.x_test, self.y_test = x, y, x_test, data.y_test
        self.places = {
            "training": x[rng.permutation(n_images)[:n_points]],
            "test": x_test[:n_points],
            "midpoints": midpoints(x, y, n_points, rng),
            "pixels": shuffled_features(x, n_points, rng),
            "box": rng.uniform(x.min(axis=0), x.max(axis=0), (n_points, x.shape[1])),
        }
        first = rng.permutation(len(x_test))[:n_segments]
        second = _partners(self.y_test, first, rng)
        self.starts, self.ends = x_test[first], x_test[second]


images = cache(Images)
