"""The command ``capcore spectra``, which runs what its arguments (:mod:`capcore.commands.arguments`) ask for."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capcore.commands.arguments import options_of, parser, plain, problems
from capcore.commands.outcome import exit_status, refuse, say, write_whole

if TYPE_CHECKING:
    from capcore.checkpoints.differences import Opening
    from capcore.checkpoints.tensors import Checkpoint
    from capcore.spectra.options import SpectraOptions
    from capcore.spectra.report import SpectraReport


def main(argv: Sequence[str], prog: str = "capcore spectra") -> int:
    """Run ``capcore spectra`` with the arguments ``argv`` and return its exit status."""
    return exit_status(_run, parser(prog).parse_args(argv), prog, plain)


@dataclass(frozen=True)
class Network:
    """An open checkpoint, and how another process can open it."""

    checkpoint: Checkpoint
    opening: Opening


def _run(arguments: argparse.Namespace, prog: str) -> int:
    refuse(problems(arguments))
    options = options_of(arguments)
    networks, refused = _read(arguments)
    if not (arguments.keep_going and networks):
        refuse(refused)
    needed = {"matplotlib": arguments.plot or arguments.figures, "distributed": arguments.scheduler}
    missing = [name for name, wanted in needed.items() if wanted and find_spec(name) is None]
    refuse([f"found no {name}, which this needs. Install it: pip install {name}" for name in missing])
    networks = [replace(each, checkpoint=_selected(each.checkpoint, arguments)) for each in networks]
    if not arguments.preset:
        _check_layer(arguments.layer, networks, options)
    for line in refused:
        say(prog, plain(line))
    text, failed = _answer(arguments, networks, options)
    if arguments.output:
        write_whole(Path(arguments.output), lambda path: path.write_text(text, "utf8"))
    else:
        print(text, end="", flush=True)
    return 1 if refused or (arguments.strict and failed) else 0


def _answer(arguments: argparse.Namespace, networks: Sequence[Network], options: SpectraOptions) -> tuple[str, int]:
    """Return the requested text and the number of weights without an exponent, after writing the figures."""
    from capcore.commands.rendering import described, not_analysed, render

    form, width = arguments.format, None if arguments.output else shutil.get_terminal_size((400, 24)).columns
    if arguments.preset:
        return _preset(arguments, networks, width)
    if arguments.describe:
        told = [described(each.checkpoint, options, form, width) for each in networks]
        return "\n".join(text for text, _ in told), sum(number for _, number in told)
    found = [_analysed(arguments, network, options) for network in networks]
    reports = [report for report, _ in found]
    text = render(reports, form, summary=arguments.summary, beside=[beside for _, beside in found], width=width)
    if arguments.plot or arguments.figures:
        _draw(arguments, reports, networks)
    return text, sum(len(not_analysed(report)) for report in reports)


def _analysed(arguments: argparse.Namespace, network: Network, options: SpectraOptions) -> tuple[SpectraReport, Any]:
    from capcore.checkpoints.opening import read_checkpoint
    from capcore.commands.cluster import on_dask
    from capcore.spectra.layerwise import Asked, analyse_layers

    draws, resamples = arguments.null_draws is not None, arguments.bootstrap is not None
    asked = Asked(draws, resamples, arguments.alternatives, arguments.traceback)
    base = read_checkpoint(arguments.base, key=arguments.key) if arguments.base else None
    over = None
    if arguments.scheduler:
        over = on_dask(arguments.scheduler, network.opening, json.dumps(options.to_dict()), asked)
    settings: dict[str, Any] = {"workers": arguments.workers, "progress": arguments.progress}
    return analyse_layers(network.checkpoint, options, asked, base=base, over=over, **settings)


def _preset(arguments: argparse.Namespace, networks: Sequence[Network], width: int | None) -> tuple[str, int]:
    """Return WeightWatcher's numbers as text, and the number of layers that it calls failed or leaves out."""
    from tqdm import tqdm

    from capcore.checkpoints.tensors import shown
    from capcore.commands.rendering import preset_text
    from capcore.spectra.weightwatcher import preset_table

    pool, disable = arguments.view != "slices", None if arguments.progress is None else not arguments.progress
    tables = []
    for network in networks:
        total = sum(name.endswith(".weight") for name in network.checkpoint)
        name = shown(network.checkpoint.name)
        with tqdm(total=total, desc=name, disable=disable, unit="tensor", leave=False) as bar:
            wrapped = lambda found, bar=bar: (each for each in found if bar.update() or True)  # noqa: E731
            mp_fit, workers = arguments.mp_fit, arguments.workers
            table = preset_table(network.checkpoint, pool=pool, mp_fit=mp_fit, workers=workers, bar=wrapped)
        tables.append(table)
    checkpoints = [network.checkpoint for network in networks]
    text = preset_text(checkpoints, tables, arguments.format, pool=pool, summary=arguments.summary, width=width)
    failed = sum(row["status"] == "failed" for table in tables for row in table.rows)
    return text, failed + sum(len(table.left_out) for table in tables)


def _read(arguments: argparse.Namespace) -> tuple[list[Network], list[str]]:
    """Open the networks in the given order, and collect a message for each file that cannot be read."""
    from capcore.checkpoints.differences import Opening
    from capcore.checkpoints.opening import read_folder
    from capcore.checkpoints.tensors import CheckpointError

    settings: dict[str, Any] = {"key": arguments.key, "non_finite": arguments.non_finite}
    networks: list[Network] = []
    refused: list[str] = []
    base = str(Path(arguments.base).absolute()) if arguments.base else None
    for path in arguments.paths:
        try:
            place = os.path.abspath(path) if arguments.scheduler else path
            if not Path(path).is_dir():
                opening = Opening(place, None, base, **settings)
                networks.append(Network(opening.open(), opening))
                continue
            folder = read_folder(path, **settings)
            refused.extend(folder.refused.values())
            for found in folder.checkpoints:
                opening = Opening(place, found.name, base, **settings)
                networks.append(Network(opening.beside_base(found), opening))
        except CheckpointError as error:
            refused.append(str(error))
    return networks, refused


def _selected(checkpoint: Checkpoint, arguments: argparse.Namespace) -> Checkpoint:
    """Set aside, with the reason, the tensors that ``--layers`` and ``--skip`` exclude."""
    if not (arguments.layers or arguments.skip):
        return checkpoint
    names = [*checkpoint]
    for flag, patterns in (("--layers", arguments.layers), ("--skip", arguments.skip)):
        for pattern in patterns:
            if not any(_fits(name, pattern) for name in names):
                matrices = [name for name, tensor in checkpoint.tensors.items() if len(tensor.shape) > 1] or names
                told = ", ".join(map(repr, get_close_matches(pattern, matrices, 3, 0.3) or matrices[:3]))
                raise ValueError(f"{flag}: found no tensor that matches {pattern!r}, expected a name such as {told}.")
    tensors = {}
    for name, tensor in checkpoint.tensors.items():
        wanted = not arguments.layers or any(_fits(name, pattern) for pattern in arguments.layers)
        wanted &= not any(_fits(name, pattern) for pattern in arguments.skip)
        if wanted or not arguments.preset:
            tensors[name] = tensor if wanted else replace(tensor, aside="Left out by --layers or --skip.")
    return replace(checkpoint, tensors=tensors)


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(name.removesuffix(".weight"), pattern)


def _check_layer(name: str | None, networks: Sequence[Network], options: SpectraOptions) -> None:
    """Refuse an unknown ``--layer`` before any computation starts."""
    names = [layer.name for each in networks for layer in options.layers(each.checkpoint).layers]
    if name and not any(name == each or name.startswith(f"{each}[") for each in names):
        near = ", ".join(map(repr, get_close_matches(name, names, 3, 0.3) or names[:3]))
        raise ValueError(f"--layer: found {name!r}, which is not a layer, expected a name such as {near}.")


def _draw(arguments: argparse.Namespace, reports: Sequence[SpectraReport], networks: Sequence[Network]) -> None:
    with chdir(Path(__file__).parent):  # matplotlib would read settings in the working folder, beside the weights
        from capcore.spectra.figure import report_figure, spectrum_figure

    single = networks[0].checkpoint if len(networks) == 1 else None
    if arguments.plot:
        figure = report_figure(reports, spectrum=arguments.layer, checkpoint=single)
        write_whole(Path(arguments.plot), figure.savefig)
    for i, (report, network) in enumerate(zip(reports, networks, strict=True) if arguments.figures else ()):
        Path(arguments.figures).mkdir(exist_ok=True)
        for j, row in enumerate(report.spectra):
            safe = re.sub(r"[^\w.-]+", "_", row.name, flags=re.ASCII)[:80].strip("._")
            name = f"{i + 1}-{j + 1:04d}-{safe}.png" if len(reports) > 1 else f"{j + 1:04d}-{safe}.png"
            if (drawn := spectrum_figure(report, row, network.checkpoint)) is not None:
                write_whole(Path(arguments.figures) / name, drawn.savefig)
