"""What chance gives: exponents of shuffled or Gaussian weights, drawn once for all layers of a shape.

An exponent says something about training only if weights without structure would rarely have it. The reference is the
same layer with its weights shuffled. Except for what :mod:`capcore.spectra.departures` names, the spectrum of shuffled
weights is that of Gaussian noise, whose eigenvalues can be drawn without a matrix (:mod:`capcore.spectra.laguerre`).
The exponent does not depend on the variance, so one set of draws serves all layers of a shape, in all reports of a
process. The random numbers depend on the seed and the shape alone, so neither the order of the layers nor the number of
workers changes a draw. A layer with a mean or a few large entries has its own draws, with these in random places. All
others are shuffled.

The p-value of an exponent counts the draws that are at least as extreme. If the layer's weights were in random order,
then all ranks of its exponent among n draws would be equally likely, so p ≤ 2j/(n + 1) with exactly this probability
for every j. Layers of one shape share their draws, so their p-values are not independent of each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from capcore.spectra.analysis import levelled
from capcore.spectra.band_reduction import gram_matrix
from capcore.spectra.densities import Density, Tap, arrangement_of, layer_densities, matrices_of, taps
from capcore.spectra.departures import Departures, departures
from capcore.spectra.laguerre import band, spectra
from capcore.spectra.lapack import available
from capcore.spectra.layers import Layer, unfolded
from capcore.spectra.metrics import fit_tails, null_draws
from capcore.spectra.noise import fit_bulk, layer_generator
from capcore.spectra.options import SpectraOptions

BY_SHAPE, WITH_LARGE, SHUFFLED = "by shape", "with large entries", "shuffled"
NONE = np.zeros((0, 0))
AT_ONCE = 60_000  # eigenvalues that are fitted together
DRAWN = 20  # draws whose eigenvalues a figure shows, and whose spikes are counted


@dataclass(frozen=True, eq=False)
class Chance:
    """Draws of the null for one spectrum.

    Attributes
    ----------
    alphas : (n,) array
        Exponent of each draw, or NaN if it has none.
    spikes : (k,) array
        Number of eigenvalues above the bulk of noise, for each of the first 20 draws to which a bulk could be fitted.
    drawn : str
        ``by shape``: Gaussian noise, for all layers of the shape. ``with large entries``: noise with the mean or the
        large entries of this layer. ``shuffled``: its weights in random order, or Gaussian weights for an operator.
    """

    alphas: np.ndarray
    spikes: np.ndarray
    drawn: str


def null_p_value(alpha: float, alphas: np.ndarray) -> float:
    """Two-sided p-value of an exponent among draws (n,) of the null: 2·(1 + min(n_below, n_above))/(n + 1), at most 1.

    Draws that equal the exponent count on both sides, and draws without an exponent (NaN) do not count. The result is
    NaN if there is no draw or no exponent.

    >>> null_p_value(1.5, np.arange(2.0, 101.0)), null_p_value(50.0, np.arange(2.0, 101.0))
    (0.02, 1.0)
    """
    draws = alphas[np.isfinite(alphas)]
    if not len(draws) or not np.isfinite(alpha):
        return float("nan")
    ends = 1 + min(np.count_nonzero(draws <= alpha), np.count_nonzero(draws >= alpha))
    return float(min(1.0, 2 * ends / (len(draws) + 1)))


def nulls_of(options: SpectraOptions) -> Nulls:
    """The :class:`Nulls` for these options: the same object each time, so that reports share their draws."""
    return _nulls(json.dumps(options.to_dict(), sort_keys=True))


@lru_cache(maxsize=16)
def _nulls(options: str) -> Nulls:
    return Nulls(SpectraOptions.from_dict(json.loads(options)))


class Nulls:
    """Draws of the null that ``options`` name, kept by shape. One instance serves any number of reports and threads.

    Parameters
    ----------
    options : SpectraOptions
        With a ``null``. Number of draws, seed and tail are those of the report.
    """

    def __init__(self, options: SpectraOptions) -> None:
        self.options = options
        self._found: dict[Any, Chance] = {}
        self._locks: dict[Any, Lock] = {}
        self._lock = Lock()

    def of_layer(self, layer: Layer) -> dict[str, Chance]:
        """Draw the null of a layer: a :class:`Chance` by the name of each of its spectra."""
        options, level = self.options, levelled(layer)[0]
        arrangement = arrangement_of(layer, options.density)
        if arrangement == "operator":
            return self._shuffled(level)
        shape, number = matrices_of(layer, arrangement, options.density)
        names = _names(layer, arrangement)
        if layer.kind == "stack":
            return self._of_stack(level, names, shape)
        weights = level.weights()
        if options.null == "gaussian":
            unit = self._unit(layer, float(weights.std(dtype=float)), shape)
            return dict.fromkeys(names, self._by_shape(shape, number, unit))
        found = departures(weights, shape)
        if found.are_few and not found.n_blocked:
            return dict.fromkeys(names, self._by_shape(shape, number, self._unit(layer, found.sd, shape)))
        if not found.are_few or len(names) > 1:
            return self._shuffled(level)
        draws = self._with_large(layer.name, found, shape, number, options.n_null)
        return {layer.name: self._chance(draws, shape, self._unit(layer, found.sd, shape), WITH_LARGE)}

    def eigenvalues(self, layer: Layer, tap: Tap) -> np.ndarray:
        """Eigenvalues (k,) of a few draws, in the units of the layer's density or of its slice, for a figure."""
        options, level = self.options, levelled(layer)[0]
        n_draws, arrangement = min(DRAWN, options.n_null), arrangement_of(layer, options.density)
        shape, number = matrices_of(layer, arrangement, options.density)
        if arrangement != "operator" and layer.kind != "stack":
            weights, gaussian = level.weights(), options.null == "gaussian"
            found = departures(weights, shape)
            sd = float(weights.std(dtype=float)) if gaussian else found.sd
            unit = sd**2 * options.density.factor(layer) ** 2 / options.density.divisor(shape)
            if gaussian or (found.are_few and not found.n_blocked):
                return unit * np.concatenate([*noise_draws(shape, number, options.seed, n_draws)])
            if found.are_few and arrangement != "slices":
                return unit * np.concatenate([*self._with_large(layer.name, found, shape, number, n_draws)])
        densities = (each for i in range(n_draws) for each in layer_densities(level, options.null_density(i)))
        return np.concatenate([np.zeros(0), *(each.eigenvalues for each in densities if each.tap == tap)])

    def _of_stack(self, layer: Layer, names: Sequence[str], shape: tuple[int, int]) -> dict[str, Chance]:
        """The null of a stack, whose matrices differ in variance: alone, or pooled with each at its own scale."""
        parts = [departures(layer.matrix(*tap), shape) for tap in taps(layer.kernel)]
        gaussian = self.options.null == "gaussian"
        if not gaussian and not all(each.are_few and not each.n_blocked for each in parts if each.sd):
            return self._shuffled(layer)
        if len(names) > 1:
            units = [self._unit(layer, each.sd, shape) for each in parts]
            return {name: self._by_shape(shape, 1, unit) for name, unit in zip(names, units, strict=True)}
        scales = np.array([each.sd for each in parts])
        draws = self._scaled(layer.name, scales, shape)
        unit = self._unit(layer, 1.0, shape) or 1 / float(scales.max(initial=0)) ** 2
        return {layer.name: self._chance(draws, shape, unit, BY_SHAPE)}

    def _unit(self, layer: Layer, sd: float, shape: tuple[int, int]) -> float | None:
        """Factor from eigenvalues of standard noise to the layer's, or None if no choice of the tail needs it."""
        options = self.options
        if options.x_min is options.x_max is options.threshold is None:
            return None
        return sd**2 * options.density.factor(layer) ** 2 / options.density.divisor(shape)

    def _by_shape(self, shape: tuple[int, int], number: int, unit: float | None) -> Chance:
        key = (max(shape), min(shape), number, unit)
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:  # a second thread waits for the first one's draws
            if key not in self._found:
                draws = noise_draws(shape, number, self.options.seed, self.options.n_null)
                self._found[key] = self._chance(draws, shape, unit, BY_SHAPE)
        return self._found[key]

    def _with_large(
        self, name: str, found: Departures, shape: tuple[int, int], number: int, n_draws: int
    ) -> Iterator[np.ndarray]:
        """Draws for a layer with a mean or large entries, which lie in random places of its matrices."""
        rng = layer_generator(self.options.seed, name, WITH_LARGE)
        mean = found.mean * float(np.sqrt(np.prod(shape)))

        def bands() -> Iterator[list[np.ndarray]]:
            for _ in range(n_draws):
                places = rng.choice(number * shape[0] * shape[1], size=len(found.large), replace=False)
                which, rows, columns = np.unravel_index(places, (number, *shape))
                hit = [which == i for i in range(number)]
                blocks = [_block(rows[own], columns[own], found.large[own], mean) for own in hit]
                yield from (_band_with(shape, rng, block) for block in blocks)

        return _joined(spectra(shape, bands(), apart=True), number)

    def _scaled(self, name: str, scales: np.ndarray, shape: tuple[int, int]) -> Iterator[np.ndarray]:
        """Draws for pooled matrices that differ in scale."""
        rng = layer_generator(self.options.seed, name, BY_SHAPE)
        bands = (band(shape, rng, NONE) for _ in range(self.options.n_null * len(scales)))
        factors = np.repeat(scales**2, min(shape))
        return (factors * each for each in _joined(spectra(shape, bands, apart=False), len(scales)))

    def _shuffled(self, layer: Layer) -> dict[str, Chance]:
        options, arrangement = self.options, arrangement_of(layer, self.options.density)
        shape, number = matrices_of(layer, arrangement, options.density)
        if options.null == "shuffled" and arrangement == "unfolded" and number == 1 and available():
            weights = layer.weights()
            if weights.size - np.count_nonzero(weights) < min(shape):  # too few zeros for a row or column of them
                unit = options.density.factor(layer) ** 2 / options.density.divisor(shape)
                draws = (_of_shuffled(layer.name, weights, options.seed, draw) for draw in range(options.n_null))
                return {layer.name: self._chance(draws, shape, unit, SHUFFLED)}
        found = null_draws(layer, self.options)
        return {name: Chance(alphas, self._spikes(each), SHUFFLED) for name, (each, alphas) in found.items()}

    def _chance(self, draws: Iterator[np.ndarray], shape: tuple[int, int], unit: float | None, how: str) -> Chance:
        """Fit draws of eigenvalues, some at a time, so that few are in memory."""
        alphas: list[float] = []
        spikes: list[int] = []
        waiting: list[np.ndarray] = []

        def fit() -> None:
            alphas.extend(each.alpha for each in fit_tails(waiting, self.options))
            waiting.clear()

        for i, values in enumerate(draws):
            waiting.append(values if unit is None else values * unit)
            spikes.extend(self._count(values, shape, 1.0) if i < DRAWN else [])
            if sum(map(len, waiting)) >= AT_ONCE:
                fit()
        fit()
        return Chance(np.array(alphas), np.array(spikes, dtype=float), how)

    def _spikes(self, found: Sequence[Density]) -> np.ndarray:
        counts = (self._count(each.eigenvalues, each.shape, each.divided_by) for each in found[:DRAWN])
        return np.array([number for each in counts for number in each], dtype=float)

    def _count(self, values: np.ndarray, shape: tuple[int, int], divisor: float) -> list[int]:
        """Number of eigenvalues above the bulk of noise, in a list that is empty if no bulk can be fitted."""
        if self.options.null != "shuffled":
            return []
        try:
            return [fit_bulk(values, shape, divisor=divisor, level=self.options.bulk_level).n_spikes]
        except ValueError:
            return []


def noise_draws(shape: tuple[int, int], number: int, seed: int, n_draws: int) -> Iterator[np.ndarray]:
    """Draw the eigenvalues (number·m,) of ``number`` matrices of standard noise, for all layers of this shape."""
    rng = layer_generator(seed, f"{max(shape)} × {min(shape)}", BY_SHAPE)
    bands = (band(shape, rng, NONE) for _ in range(n_draws * number))
    return _joined(spectra(shape, bands, apart=False), number)


def _of_shuffled(name: str, weights: np.ndarray, seed: int, draw: int) -> np.ndarray:
    """Eigenvalues (m,), descending, of a matrix of weights in the order of ``null_weights``, which permutes doubles."""
    order = layer_generator(seed, name, "shuffled", draw).permutation(weights.ravel())
    (matrix,) = unfolded(order.reshape(weights.shape).astype(float))
    found = np.linalg.eigvalsh(gram_matrix(matrix.T if matrix.shape[0] < matrix.shape[1] else matrix))
    return np.maximum(found, 0.0)[::-1]


def _joined(parts: Iterator[np.ndarray], number: int) -> Iterator[np.ndarray]:
    """Eigenvalues of ``number`` matrices after each other, for each draw."""
    return map(np.concatenate, zip(*[parts] * number, strict=True))


def _band_with(shape: tuple[int, int], rng: np.random.Generator, block: np.ndarray) -> list[np.ndarray]:
    """Diagonals of a band for noise with these entries in its first rows and columns, however many these are."""
    if 2 * len(block) <= min(shape):
        return band(shape, rng, block)
    matrix = rng.standard_normal(shape)
    part = matrix[: len(block), : len(block)]
    given = block[: part.shape[0], : part.shape[1]]
    part[given != 0] = given[given != 0]
    return [np.linalg.svd(matrix, compute_uv=False)]


def _names(layer: Layer, arrangement: str) -> list[str]:
    """Names of the spectra of a layer, as :class:`~capcore.spectra.densities.Density` has them."""
    if arrangement != "slices":
        return [layer.name]
    return [f"{layer.name}[{', '.join(map(str, tap))}]" for tap in taps(layer.kernel)]


def _block(rows: np.ndarray, columns: np.ndarray, entries: np.ndarray, mean: float) -> np.ndarray:
    """Square block with the entries at their places, rows and columns without any left out, and the mean's size."""
    if not len(entries) and not mean:
        return NONE
    (at, n_rows), (across, n_columns) = (_ranks(each.tolist()) for each in (rows, columns))
    block = np.zeros((max(n_rows, n_columns) + (mean != 0),) * 2)
    block[at, across] = entries
    if mean:
        block[-1, -1] = mean
    return block


def _ranks(values: list[int]) -> tuple[list[int], int]:
    """Number the different values in the order in which they occur: for each value its number, and their count."""
    found: dict[int, int] = {}
    return [found.setdefault(value, len(found)) for value in values], len(found)
