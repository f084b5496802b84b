"""The command ``capcore spectra``, which runs what its arguments (:mod:`capcore.commands.arguments`) ask for."""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capcore.commands.arguments import options_of, parser, plain, problems
from capcore.commands.outcome import exit_status, refuse, say, write_whole

if TYPE_CHECKING:
    from capcore.checkpoints.differences import Opening
    from capcore.checkpoints.tensors import Checkpoint
    from capcore.spectra.options import SpectraOptions
    from capcore.spectra.results import SpectraReport


def main(argv: Sequence[str], prog: str = "capcore spectra") -> int:
    """Run ``capcore spectra`` with the arguments ``argv`` and return its exit status."""
    return exit_status(_run, parser(prog).parse_args(argv), prog, plain)


@dataclass(frozen=True)
class Network:
    """An open checkpoint, and how another process can open it."""

    checkpoint: Checkpoint
    opening: Opening


def _run(arguments: argparse.Namespace, prog: str) -> int:
    from capcore.spectra.layers import selected

    refuse(problems(arguments))
    options = options_of(arguments)
    networks, refused = _read(arguments)
    if not (arguments.keep_going and networks):
        refuse(refused)
    if (arguments.plot or arguments.figures) and find_spec("matplotlib") is None:
        refuse(["found no matplotlib, which this needs. Install it: pip install matplotlib"])
    choice = {"layers": arguments.layers, "skip": arguments.skip, "drop": bool(arguments.preset)}
    networks = [replace(each, checkpoint=selected(each.checkpoint, **choice)) for each in networks]
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
    from capcore.commands.rendering import described, render

    form, width = arguments.format, None if arguments.output else shutil.get_terminal_size((400, 24)).columns
    if arguments.preset:
        return _preset(arguments, networks, width)
    if arguments.describe:
        told = [described(each.checkpoint, options, form, width) for each in networks]
        return "\n".join(text for text, _ in told), sum(number for _, number in told)
    reports = [_analysed(arguments, network, options) for network in networks]
    text = render(reports, form, summary=arguments.summary, width=width)
    if arguments.plot or arguments.figures:
        _draw(arguments, reports)
    return text, sum(len(report.not_analysed) for report in reports)


def _analysed(arguments: argparse.Namespace, network: Network, options: SpectraOptions) -> SpectraReport:
    from capcore.spectra.analysis import analyse_spectra

    settings = {name: getattr(arguments, name) for name in ("workers", "progress", "traceback")}
    return analyse_spectra(network.checkpoint, options, base=network.opening.base_checkpoint(), **settings)


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
    from capcore.checkpoints.opening import read_checkpoint, read_folder
    from capcore.checkpoints.tensors import CheckpointError

    settings: dict[str, Any] = {"key": arguments.key, "non_finite": arguments.non_finite}
    networks: list[Network] = []
    refused: list[str] = []
    beside = {name: getattr(arguments, name) for name in ("base", "adapter")}
    settings |= {name: str(Path(path).absolute()) for name, path in beside.items() if path}
    for path in arguments.paths:
        try:
            if not Path(path).is_dir():
                opening = Opening(path, **settings)
                checkpoint = read_checkpoint(path, key=arguments.key, non_finite=arguments.non_finite)
                networks.append(Network(_used(opening, checkpoint, arguments), opening))
                continue
            folder = read_folder(path, key=arguments.key, non_finite=arguments.non_finite)
            refused.extend(folder.refused.values())
            for found in folder.checkpoints:
                opening = Opening(path, found.name, **settings)
                networks.append(Network(_used(opening, found, arguments), opening))
        except CheckpointError as error:
            refused.append(str(error))
    return networks, refused


def _used(opening: Opening, found: Checkpoint, arguments: argparse.Namespace) -> Checkpoint:
    """The weights as they are used; for the preset, as they are stored, because the tool takes them so."""
    return found if arguments.preset else opening.used(found)


def _check_layer(name: str | None, networks: Sequence[Network], options: SpectraOptions) -> None:
    """Refuse an unknown ``--layer`` before any computation starts."""
    names = [layer.name for each in networks for layer in options.layers(each.checkpoint).layers]
    if name and not any(name == each or name.startswith(f"{each}[") for each in names):
        near = ", ".join(map(repr, get_close_matches(name, names, 3, 0.3) or names[:3]))
        raise ValueError(f"--layer: found {name!r}, which is not a layer, expected a name such as {near}.")


def _draw(arguments: argparse.Namespace, reports: Sequence[SpectraReport]) -> None:
    with chdir(Path(__file__).parent):  # matplotlib would read settings in the working folder, beside the weights
        from capcore.spectra.figure import report_figure, spectrum_figure

    if arguments.plot:
        write_whole(Path(arguments.plot), report_figure(reports, spectrum=arguments.layer).savefig)
    for i, report in enumerate(reports if arguments.figures else ()):
        Path(arguments.figures).mkdir(exist_ok=True)
        for j, row in enumerate(report.spectra):
            safe = re.sub(r"[^\w.-]+", "_", row.name, flags=re.ASCII)[:80].strip("._")
            name = f"{i + 1}-{j + 1:04d}-{safe}.png" if len(reports) > 1 else f"{j + 1:04d}-{safe}.png"
            if (drawn := spectrum_figure(report, row)) is not None:
                write_whole(Path(arguments.figures) / name, drawn.savefig)
