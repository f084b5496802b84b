"""The series: eight made here from fixed seeds, six measured ones that packages ship, and three without far structure.

Each has at most 1,600 values. Scans read neighbouring rows of an image there and back, so that no step is a jump.
"""

import gzip
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from matplotlib.cbook import get_sample_data
from scipy.integrate import solve_ivp
from scipy.linalg import cholesky, toeplitz
from sklearn.datasets import load_sample_images

from capcore.processes import FractionalGaussianNoise, PowerLaw

LENGTH = 1600
Series = Callable[[np.random.Generator], np.ndarray]


def gaussian(covariances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A Gaussian series with these autocovariances (LENGTH,), lag 0 first."""
    return np.asarray(cholesky(toeplitz(covariances), lower=True) @ rng.normal(size=len(covariances)))


def warped(series: np.ndarray) -> np.ndarray:
    """Values v as sign(v) |v|^1.3.

    >>> warped(np.array([-1.0, 0.0, 8.0])).round(2).tolist()
    [-1.0, 0.0, 14.93]
    """
    return np.sign(series) * np.abs(series) ** 1.3


def season(rng: np.random.Generator) -> np.ndarray:
    """A season of 48 steps that drifts out of phase, beside a slow decay, warped."""
    t = np.arange(LENGTH)
    values = 0.5 * np.cos(2 * np.pi * t / 48) * np.exp(-t / 1500) + 0.3 * (1 + t) ** -0.4 + 0.2 * (t == 0)
    return warped(gaussian(values, rng))


def two_seasons(rng: np.random.Generator) -> np.ndarray:
    """Seasons of 17 and 90 steps, beside a slow decay, warped."""
    t = np.arange(LENGTH)
    short, long = (np.cos(2 * np.pi * t / period) * np.exp(-t / decay) for period, decay in ((17, 300), (90, 900)))
    return warped(gaussian(0.35 * short + 0.35 * long + 0.2 * (1 + t) ** -0.4 + 0.1 * (t == 0), rng))


def thresholds(rng: np.random.Generator) -> np.ndarray:
    """An autoregression that is pushed up or down by the sign of the value 40 steps ago."""
    values = np.zeros(LENGTH + 400)
    for t in range(40, len(values)):
        values[t] = 0.6 * values[t - 1] + 0.5 * np.sign(values[t - 40]) + rng.normal()
    return values[400:]


def mackey_glass(rng: np.random.Generator) -> np.ndarray:
    """Mackey and Glass's delay equation with delay 17, in steps of one, with a tenth of its spread as noise."""
    parts, delay = 10, 170
    values = np.full(delay + parts * (LENGTH + 300), 1.2)
    for t in range(delay, len(values)):
        late = values[t - delay]
        values[t] = values[t - 1] + (0.2 * late / (1 + late**10) - 0.1 * values[t - 1]) / parts
    return noisy(values[parts - 1 :: parts][-LENGTH:], rng)


def lorenz(rng: np.random.Generator) -> np.ndarray:
    """The third coordinate of Lorenz's system in steps of 0.05, with a tenth of its spread as noise."""

    def slope(_: float, at: np.ndarray) -> list[float]:
        x, y, z = at
        return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]

    times = 20 + 0.05 * np.arange(LENGTH)
    solution: Any = solve_ivp(slope, (0, times[-1]), [1.0, 1.0, 20.0], t_eval=times, rtol=1e-9, atol=1e-9)
    return noisy(solution.y[2], rng)


def noisy(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """With noise of a tenth of the spread."""
    return values + 0.1 * values.std() * rng.normal(size=len(values))


def switching(rng: np.random.Generator) -> np.ndarray:
    """Two levels in turn, each for a time with a heavy tail, with noise."""
    times = np.ceil(10 * (1 + rng.pareto(1.5, size=LENGTH)))
    levels = np.repeat(np.arange(LENGTH) % 2, times.astype(int))[:LENGTH]
    return 2.0 * levels + 0.5 * rng.normal(size=LENGTH)


def scan(image: np.ndarray, first: int) -> np.ndarray:
    """Rows of an image from the ``first`` on, there and back, until there are LENGTH values.

    >>> scan(np.arange(3200.0).reshape(4, 800), 1)[[0, 799, 800, 1599]].tolist()
    [800.0, 1599.0, 2399.0, 1600.0]
    """
    rows = image[first : first + LENGTH // image.shape[1] + 1].astype(float)
    rows[1::2] = rows[1::2, ::-1]
    return rows.ravel()[:LENGTH]


def sample(name: str) -> str:
    """The place of a file that Matplotlib ships."""
    return str(get_sample_data(name, asfileobj=False))


def volume(_: np.random.Generator) -> np.ndarray:
    """The logarithm of Google's daily volume of trade; 1,047 values."""
    with np.load(sample("goog.npz")) as archive:
        return np.log(archive["price_data"]["volume"].astype(float))


def elevation(_: np.random.Generator) -> np.ndarray:
    """Elevations of the ground near Jacksboro along rows of the map."""
    with np.load(sample("jacksboro_fault_dem.npz")) as archive:
        return scan(archive["elevation"], 170)


def slice_of_head(_: np.random.Generator) -> np.ndarray:
    """Brightness along rows of a magnetic resonance image."""
    with gzip.open(sample("s1045.ima.gz")) as file:
        return scan(np.frombuffer(file.read(), np.uint16).reshape(256, 256), 120)


def photograph(number: int, first: int) -> Series:
    """Brightness along rows of a photograph of scikit-learn's."""
    return lambda _: scan(load_sample_images().images[number].mean(axis=2), first)


SERIES: dict[str, Series] = {
    "fractional Gaussian noise": lambda rng: gaussian(FractionalGaussianNoise(0.9).autocovariance(LENGTH), rng),
    "power law": lambda rng: gaussian(PowerLaw(0.5).autocovariance(LENGTH), rng),
    "warped season": season,
    "two warped seasons": two_seasons,
    "threshold autoregression": thresholds,
    "Mackey–Glass": mackey_glass,
    "Lorenz": lorenz,
    "switching levels": switching,
    "volume of trade": volume,
    "membrane current": lambda _: np.fromfile(sample("membrane.dat"), np.float32)[::5][:LENGTH].astype(float),
    "elevation": elevation,
    "head scan": slice_of_head,
    "temple": photograph(0, 250),
    "flower": photograph(1, 200),
}
NULLS: dict[str, Series] = {
    "white noise": lambda rng: rng.normal(size=LENGTH),
    "AR(1)": lambda rng: gaussian(0.5 ** np.arange(LENGTH), rng),
    "shuffled volume": lambda rng: rng.permutation(volume(rng)),
}
"""Without structure at lags 33 … 64."""


@cache
def series(name: str) -> np.ndarray:
    """A series by its name, of mean 0 and variance 1.

    >>> series("volume of trade").shape, series("flower").std().round(6).item()
    ((1047,), 1.0)
    """
    known = SERIES | NULLS
    values = known[name](np.random.default_rng([list(known).index(name), 37]))
    return (values - values.mean()) / values.std()
