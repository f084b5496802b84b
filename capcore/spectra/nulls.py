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
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from threading import Lock
from typing import Any

import numpy as np

from capcore.spectra.densities import arrangement_of, layer_densities, matrices_of, names_of
from capcore.spectra.departures import Departures, departures
from capcore.spectra.laguerre import NONE, band, eigenvalues_of
from capcore.spectra.layers import Layer, slices
from capcore.spectra.metrics import fit_tails
from capcore.spectra.noise import fit_bulk, layer_generator
from capcore.spectra.options import SpectraOptions

BY_SHAPE, WITH_LARGE, SHUFFLED = "by shape", "with large entries", "shuffled"
AT_ONCE = 60_000  # eigenvalues that are fitted together
DRAWN = 20  # draws whose spikes are counted


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
    extreme = 1 + min(np.count_nonzero(draws <= alpha), np.count_nonzero(draws >= alpha))
    return float(min(1.0, 2 * extreme / (len(draws) + 1)))


def nulls_of(options: SpectraOptions) -> Nulls:
    """The :class:`Nulls` for these options: the same object each time, so that reports share their draws."""
    return SHARED.setdefault(json.dumps(asdict(options), sort_keys=True), Nulls(options))


class Nulls:
    """Draws of the null that ``options`` name, kept by shape. One instance serves any number of reports and threads.

    Parameters
    ----------
    options : SpectraOptions
        With a ``null``. Number of draws, seed and tail are those of the report.
    """

    def __init__(self, options: SpectraOptions) -> None:
        self.options = options
        self._by_key: dict[Any, Chance] = {}
        self._lock = Lock()

    def of_layer(self, layer: Layer) -> dict[str, Chance]:
        """Draw the null of a layer: a :class:`Chance` by the name of each of its spectra."""
        options = self.options
        arrangement = arrangement_of(layer, options.density)
        shape, number = matrices_of(layer, arrangement, options.density)
        names, parts = names_of(layer, arrangement), self._parts(layer, arrangement, shape)
        drawn = _how(parts, len(names), layer.kind == "stack")
        if drawn == SHUFFLED:
            return self._shuffled(layer)
        if drawn == WITH_LARGE:
            draws = self._with_large(layer.name, parts[0], shape, number)
            return {layer.name: self._chance(draws, shape, number, drawn)}
        if layer.kind == "stack" and len(names) == 1:
            draws = self._scaled(layer.name, np.array([part.sd for part in parts]), shape)
            return {layer.name: self._chance(draws, shape, number, drawn)}
        return dict.fromkeys(names, self._by_shape(shape, number))

    def _parts(self, layer: Layer, arrangement: str, shape: tuple[int, int]) -> list[Departures]:
        """What distinguishes the null from noise: of a layer, or of each matrix of a stack; none if it is shuffled."""
        if arrangement == "operator" or self.options.permute:
            return []
        stack = layer.kind == "stack"
        weights = slices(layer.weights()) if stack else [layer.weights()]
        if self.options.null == "shuffled":
            return [departures(part, shape) for part in weights]
        return [Departures(float(part.std(dtype=float)), 0.0, np.zeros(0), 0.0, min(shape)) for part in weights]

    def _by_shape(self, shape: tuple[int, int], number: int) -> Chance:
        key = (max(shape), min(shape), number)
        with self._lock:  # a second thread waits for the first one's draws
            if key not in self._by_key:
                rng = layer_generator(self.options.seed, f"{max(shape)} × {min(shape)}", BY_SHAPE)
                bands = (band(shape, rng, NONE) for _ in range(self.options.n_null * number))
                draws = _joined(map(eigenvalues_of, bands), number)
                self._by_key[key] = self._chance(draws, shape, number, BY_SHAPE)
        return self._by_key[key]

    def _with_large(self, name: str, part: Departures, shape: tuple[int, int], number: int) -> Iterator[np.ndarray]:
        """Draws for a layer with a mean or large entries, which lie in random places of its matrices."""
        rng = layer_generator(self.options.seed, name, WITH_LARGE)
        mean = part.mean * float(np.sqrt(np.prod(shape)))

        def bands() -> Iterator[list[np.ndarray]]:
            for _ in range(self.options.n_null):
                places = rng.choice(number * shape[0] * shape[1], size=len(part.large), replace=False)
                which, rows, columns = np.unravel_index(places, (number, *shape))
                hit = [which == i for i in range(number)]
                blocks = [_block(rows[own], columns[own], part.large[own], mean) for own in hit]
                yield from (_band_with(shape, rng, block) for block in blocks)

        return _joined(map(eigenvalues_of, bands()), number)

    def _scaled(self, name: str, scales: np.ndarray, shape: tuple[int, int]) -> Iterator[np.ndarray]:
        """Draws for pooled matrices that differ in scale."""
        rng = layer_generator(self.options.seed, name, BY_SHAPE)
        bands = (band(shape, rng, NONE) for _ in range(self.options.n_null * len(scales)))
        factors = np.repeat((scales / scales.max()) ** 2, min(shape))
        return (factors * draw for draw in _joined(map(eigenvalues_of, bands), len(scales)))

    def _shuffled(self, layer: Layer) -> dict[str, Chance]:
        """Draws of the layer's own weights in random order, NaN for a draw without a fit."""
        null = (layer_densities(layer, self.options.null_density(i)) for i in range(self.options.n_null))
        draws = [density for densities in null for density in densities]
        alphas: dict[str, list[float]] = {density.name: [] for density in draws}
        spikes: dict[str, list[int]] = {density.name: [] for density in draws}
        fits = fit_tails([density.eigenvalues for density in draws], self.options)
        for density, fit in zip(draws, fits, strict=True):
            if len(alphas[density.name]) < DRAWN:
                spikes[density.name] += self._count(density.eigenvalues, density.shape, density.divided_by)
            alphas[density.name].append(fit.alpha)
        return {name: Chance(np.array(alphas[name]), np.array(spikes[name], float), SHUFFLED) for name in alphas}

    def _chance(self, draws: Iterator[np.ndarray], shape: tuple[int, int], number: int, drawn: str) -> Chance:
        """Fit draws of eigenvalues, some at a time, so that few are in memory."""
        alphas: list[float] = []
        spikes = []
        while batch := [*islice(draws, max(1, AT_ONCE // (number * min(shape))))]:
            for values in batch[: max(0, DRAWN - len(alphas))]:
                spikes += self._count(values, shape, 1.0)
            alphas += [fit.alpha for fit in fit_tails(batch, self.options)]
        return Chance(np.array(alphas), np.array(spikes, dtype=float), drawn)

    def _count(self, values: np.ndarray, shape: tuple[int, int], divisor: float) -> list[int]:
        """Number of eigenvalues above the bulk of noise, in a list that is empty if no bulk can be fitted."""
        if self.options.null != "shuffled":
            return []
        try:
            return [fit_bulk(values, shape, divisor=divisor).n_spikes]
        except ValueError:
            return []


SHARED: dict[str, Nulls] = {}
"""Options as JSON → their draws."""


def _how(parts: list[Departures], n_spectra: int, stack: bool) -> str:
    """How the null of a layer is drawn, whose matrices differ from noise by these ``parts``."""
    if not parts:
        return SHUFFLED
    if all(part.are_few and not part.n_blocked for part in parts if part.sd or not stack):
        return BY_SHAPE
    return WITH_LARGE if parts[0].are_few and n_spectra == 1 and not stack else SHUFFLED


def _joined(parts: Iterable[np.ndarray], number: int) -> Iterator[np.ndarray]:
    """Eigenvalues of ``number`` matrices after each other, for each draw."""
    return map(np.concatenate, zip(*[iter(parts)] * number, strict=True))


def _band_with(shape: tuple[int, int], rng: np.random.Generator, block: np.ndarray) -> list[np.ndarray]:
    """Diagonals of a band for noise with these entries in its first rows and columns, however many these are."""
    if 2 * len(block) <= min(shape):
        return band(shape, rng, block)
    matrix = rng.standard_normal(shape)
    corner = matrix[: len(block), : len(block)]
    entries = block[: corner.shape[0], : corner.shape[1]]
    corner[entries != 0] = entries[entries != 0]
    return [np.linalg.svd(matrix, compute_uv=False)]


def _block(rows: np.ndarray, columns: np.ndarray, entries: np.ndarray, mean: float) -> np.ndarray:
    """Square block with the entries at their places, rows and columns without any left out, and the mean's size."""
    if not len(entries) and not mean:
        return NONE
    places = [[*dict.fromkeys(part.tolist())] for part in (rows, columns)]
    block = np.zeros((max(map(len, places)) + (mean != 0),) * 2)
    for row, column, entry in zip(rows, columns, entries, strict=True):
        block[places[0].index(row), places[1].index(column)] = entry
    if mean:
        block[-1, -1] = mean
    return block
