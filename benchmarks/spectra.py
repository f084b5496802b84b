"""Weight spectra: fits, tables of a whole network and the bulk of noise, against WeightWatcher and powerlaw.

Both sides run in one process, in turn, on the same weights: networks with the shapes of ResNet-20 to ResNet-56 for
CIFAR-10 whose weights are drawn from a seed, and the trained ones where they lie beside the project. WeightWatcher
brings PyTorch with it, so that neither is in the group ``benchmarks``; an environment of its own has them::

    python -m venv /tmp/peers
    /tmp/peers/bin/pip install weightwatcher==0.7.7 powerlaw==2.0.0 safetensors -e .
    OMP_NUM_THREADS=1 /tmp/peers/bin/python -m benchmarks --suite spectra
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from time import process_time
from typing import Any

import numpy as np

from benchmarks import singular_values as large
from benchmarks import spectra_reports
from benchmarks import spectra_sources as sources
from benchmarks.measure import Row, Skipped, best_of_each, peer
from benchmarks.spectra_reports import INSTALL
from benchmarks.spectra_sources import Fits, Source, quietly
from capcore.checkpoints import read_checkpoint
from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, fit_power_laws, weightwatcher_details
from capcore.spectra.weightwatcher import LayerMatrices, singular_values

SAME = 1e-10
COLUMNS = ["alpha", "xmin", "D", "sigma", "lambda_max", "log_norm", "alpha_weighted", "log_alpha_norm", "stable_rank"]


def rows(quick: bool = False) -> Iterator[Row | Skipped]:
    """Networks drawn from a seed; without ``quick`` larger ones, and the trained ones too."""
    drawn: dict[str, Source] = {f"ResNet-{n}": sources.resnet_weights(n) for n in ((8,) if quick else (20, 32, 44, 56))}
    yield from _fits(drawn, "drawn", 3 if quick else 10)
    yield from _network("ResNet-8 drawn" if quick else "ResNet-56 drawn", list(drawn.values())[-1])
    yield from _large(quick)
    yield from spectra_reports.rows(quick)
    if quick:
        return
    trained = sources.supplied()
    if not trained:
        yield Skipped("trained networks", reason="Found no ../shared/data/checkpoints, expected networks there.")
        return
    yield from _fits(trained, "trained", 10)
    yield from _network("ResNet-56 trained", trained["resnet56"])


def _fits(networks: Mapping[str, Source], kind: str, every: int) -> Iterator[Row | Skipped]:
    """Power laws of all pooled layers on the same eigenvalues."""
    values = [each for source in networks.values() for each in sources.spectra(source)]
    work = f"power laws of {len(values)} pooled layers, {len(networks)} {kind} network(s)"
    yield _fit_row(f"{work}, together", "the published scan in NumPy", _together, sources.exhaustive_fits, values)
    if quietly(peer, "weightwatcher") is None:
        yield Skipped(work, "weightwatcher", install=INSTALL)
    else:
        theirs, name = partial(quietly, sources.reference_fits), f"WeightWatcher {version('weightwatcher')}"
        yield _fit_row(f"{work}, together", f"{name}, its fit layer by layer", _together, theirs, values)
        yield _fit_row(f"{work}, one by one", f"{name}, its fit layer by layer", _one_by_one, theirs, values)
    work = f"power laws of one in {every} of these layers, {kind}, together"
    if quietly(peer, "powerlaw") is None:
        yield Skipped(work, "powerlaw", install=INSTALL)
        return
    name, theirs = f"powerlaw {version('powerlaw')}, any α allowed", partial(quietly, sources.package_fits)
    yield _fit_row(work, name, _together, theirs, values[::every])


def _together(values: list[np.ndarray]) -> Fits:
    return [(fit.alpha, fit.x_min, fit.distance) for fit in fit_power_laws(values, threshold=0.0)]


def _one_by_one(values: list[np.ndarray]) -> Fits:
    return [fit for each in values for fit in _together([each])]


def _fit_row(
    work: str,
    name: str,
    ours: Callable[[list[np.ndarray]], Fits],
    theirs: Callable[[list[np.ndarray]], Fits],
    values: list[np.ndarray],
) -> Row:
    (seconds, found), (peer_seconds, expected) = best_of_each(lambda: ours(values), lambda: theirs(values), 3)
    a, b = np.array(found), np.array(expected)
    alpha, x_min, distance = (np.abs(a - b) / np.where([True, True, False], b, 1.0)).max(axis=0)
    agreement = f"largest differences: α {alpha:.0e}, x_min {x_min:.0e}, distance {distance:.0e}"
    return Row(work, name, seconds, peer_seconds, agreement, max(alpha, x_min, distance) < SAME)


def _network(name: str, source: Source) -> Iterator[Row | Skipped]:
    """What a table of all layers costs beyond the decompositions, and against WeightWatcher's, which has the same."""
    pooled = SpectraOptions(DensityOptions("pooled"))
    layers = sources.layers(source)
    n_pooled = sum(min(layer.stack.shape[1:]) >= pooled.density.minimum for layer in layers)
    n_slices = sum(layer.rf for layer in layers if min(layer.stack.shape[1:]) >= pooled.density.minimum)
    for work, table, n in (
        ("WeightWatcher's table", _table, len(layers)),
        (
            "our report of pooled layers without other laws",
            partial(_report, replace(pooled, alternatives=())),
            n_pooled,
        ),
        ("our report of pooled layers", partial(_report, pooled), n_pooled),
        ("our report of slices", partial(_report, SpectraOptions(DensityOptions("slices"))), n_slices),
    ):
        yield _decomposition_row(f"{work}, {name}", partial(table, source), len(layers) if n is None else n, layers)
    if quietly(peer, "weightwatcher") is None:
        yield Skipped(f"the table of a whole network, {name}", "weightwatcher", install=INSTALL)
        return
    reference = f"WeightWatcher {version('weightwatcher')}"
    for work, peer_name, repeats, noise, kind in (
        ("the table of a whole network", f"{reference}, its default run", 3, False, dict),
        ("the table of a whole network", f"{reference}, with no weights in its log", 3, False, sources.Terse),
        ("the same with the fit of noise", f"{reference}, mp_fit=True", 1, True, dict),
    ):
        ours = partial(_table, source, mp_fit=noise)
        theirs = partial(quietly, sources.analyze, source, kind, mp_fit=noise)
        yield _table_row(f"{work}, {name}", peer_name, *best_of_each(ours, theirs, repeats))


def _large(quick: bool) -> Iterator[Row | Skipped]:
    """Single large matrices, and the table of one as a layer, in CPU seconds."""
    yield from large.rows(quick)
    shape = (40, 160) if quick else (2048, 8192)
    work = f"the table of one layer, {shape[0]} × {shape[1]}, CPU time"
    if quietly(peer, "weightwatcher") is None:
        yield Skipped(work, "weightwatcher", install=INSTALL)
        return
    layer = {"fc.weight": np.random.default_rng(0).standard_normal(shape).astype(np.float32)}
    theirs = partial(quietly, sources.analyze, layer, sources.Terse)
    name = f"WeightWatcher {version('weightwatcher')}"
    yield _table_row(work, name, *best_of_each(partial(_table, layer), theirs, 2, process_time))


def _table(source: Source, mp_fit: bool = False) -> Any:
    return weightwatcher_details(read_checkpoint(source), mp_fit=mp_fit)


def _report(options: SpectraOptions, source: Source) -> Any:
    return analyse_spectra(source, options).spectra


def _decomposition_row(work: str, ours: Callable[[], Any], n: int, layers: list[LayerMatrices]) -> Row:
    """The share of our time that goes into singular values is the ratio."""
    (seconds, found), (least, _) = best_of_each(ours, lambda: [singular_values(layer, True) for layer in layers], 3)
    name = f"the part no method avoids: singular values of {sum(layer.rf for layer in layers)} matrices"
    return Row(work, name, seconds, least, f"{len(found)} spectra, {n} expected", len(found) == n)


def _table_row(work: str, name: str, ours: tuple[float, Any], theirs: tuple[float, Any]) -> Row:
    columns = [*COLUMNS, *(["mp_softrank"] if "mp_softrank" in ours[1] else [])]
    a, b = (table.set_index("longname")[columns].astype(float) for _, table in (ours, theirs))
    gaps = (a - b.loc[a.index]).abs() / b.loc[a.index].abs().clip(lower=1e-3)
    gap = float(gaps.to_numpy().max())
    agreement = f"{len(columns)} columns of {len(b)} layers: largest relative difference {gap:.0e}"
    return Row(work, name, ours[0], theirs[0], agreement, gap < SAME and len(a) == len(b))
