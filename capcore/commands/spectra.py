"""The command ``capcore spectra``, which runs what its arguments (:mod:`capcore.commands.arguments`) ask for."""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Sequence
from contextlib import chdir
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capcore.commands.arguments import options_of, parser, plain, problems
from capcore.commands.outcome import exit_status, refuse, say, write_figure, write_whole

if TYPE_CHECKING:
    from capcore.checkpoints.tensors import Checkpoint
    from capcore.spectra.options import SpectraOptions
    from capcore.spectra.results import SpectraReport


def main(argv: Sequence[str], prog: str = "capcore spectra") -> int:
    """Run ``capcore spectra`` with the arguments ``argv`` and return its exit status."""
    return exit_status(_run, parser(prog).parse_args(argv), prog, plain)


def _run(arguments: argparse.Namespace, prog: str) -> int:
    from capcore.spectra.layers import selected

    refuse(problems(arguments))
    options = options_of(arguments)
    networks, base, refused = _read(arguments)
    if not (arguments.keep_going and networks):
        refuse(refused)
    choice = {"layers": arguments.layers, "skip": arguments.skip, "drop": bool(arguments.preset)}
    networks = [selected(network, **choice) for network in networks]
    if arguments.layer:
        _check_layer(arguments.layer, networks, options)
    for line in refused:
        say(prog, plain(line))
    if arguments.preset:
        text, failed, counts = _preset(arguments, networks)
    elif arguments.describe:
        from capcore.commands.rendering import description

        text, failed, counts = description(networks, options, arguments.format, _width(arguments))
    else:
        text, failed, counts = _analysed(arguments, networks, base, options)
    if arguments.output:
        write_whole(Path(arguments.output), text.encode())
    else:
        print(text, end="", flush=True)
    empty = [network.name for network, count in zip(networks, counts, strict=True) if not count]
    for name in empty:
        say(prog, f"{name}: found nothing to analyse, expected weights of layers. --describe lists all that is there.")
    return 1 if refused or empty or (arguments.strict and failed) else 0


def _read(arguments: argparse.Namespace) -> tuple[list[Checkpoint], Checkpoint | None, list[str]]:
    """The networks in the given order, their base, and a message for each file that cannot be read.

    The weights are as they are used; for the preset, as they are stored but for names of wrappers, as the
    tool takes them.
    """
    from capcore.checkpoints.differences import unwrapped, used
    from capcore.checkpoints.opening import read_checkpoint, read_folder
    from capcore.checkpoints.tensors import CheckpointError

    reading: dict[str, Any] = {"key": arguments.key, "non_finite": arguments.non_finite}
    base = used(read_checkpoint(arguments.base, **reading)) if arguments.base else None
    adapter = read_checkpoint(arguments.adapter, **reading) if arguments.adapter else None
    networks: list[Checkpoint] = []
    refused: list[str] = []
    for path in arguments.paths:
        try:
            if Path(path).is_dir():
                folder = read_folder(path, **reading)
                refused.extend(folder.refused.values())
                stored = folder.checkpoints
            else:
                stored = (read_checkpoint(path, **reading),)
            networks += [unwrapped(one) if arguments.preset else used(one, base, adapter) for one in stored]
        except CheckpointError as error:
            refused.append(str(error))
    return networks, base, refused


def _width(arguments: argparse.Namespace) -> int | None:
    return None if arguments.output else shutil.get_terminal_size((400, 24)).columns


def _analysed(
    arguments: argparse.Namespace, networks: Sequence[Checkpoint], base: Checkpoint | None, options: SpectraOptions
) -> tuple[str, int, list[int]]:
    """Return the reports as text, the number of weights without an exponent, and that of each network's spectra.

    Writes the figures.
    """
    from capcore.commands.rendering import render
    from capcore.spectra.analysis import analyse_spectra

    settings = {name: getattr(arguments, name) for name in ("workers", "progress", "traceback")}
    reports = [analyse_spectra(network, options, base=base, **settings) for network in networks]
    text = render(reports, arguments.format, summary=arguments.summary, width=_width(arguments))
    if arguments.plot or arguments.figures:
        _draw(arguments, reports)
    counts = [sum(row.ok for row in report.spectra) for report in reports]
    return text, sum(len(report.not_analysed) for report in reports), counts


def _preset(arguments: argparse.Namespace, networks: Sequence[Checkpoint]) -> tuple[str, int, list[int]]:
    """Return WeightWatcher's numbers as text, the number of layers that failed or are left out, and those of rows."""
    from capcore.checkpoints.tensors import shown
    from capcore.checks.progress import tqdm
    from capcore.commands.rendering import preset_text
    from capcore.spectra.weightwatcher import preset_table

    disable = None if arguments.progress is None else not arguments.progress
    pool, tables = arguments.view != "slices", []
    for network in networks:
        total = sum(name.endswith(".weight") for name in network)
        bar = partial(tqdm, total=total, desc=shown(network.name), disable=disable, unit="tensor", leave=False)
        tables.append(preset_table(network, pool=pool, mp_fit=arguments.mp_fit, workers=arguments.workers, bar=bar))
    text = preset_text(
        networks, tables, arguments.format, pool=pool, summary=arguments.summary, width=_width(arguments)
    )
    failed = sum(row["status"] == "failed" for table in tables for row in table.rows)
    failed += sum(len(table.left_out) for table in tables)
    return text, failed, [len(table.rows) for table in tables]


def _check_layer(name: str, networks: Sequence[Checkpoint], options: SpectraOptions) -> None:
    """Refuse an unknown ``--layer`` before any computation starts."""
    names = [layer.name for network in networks for layer in options.layers(network).layers]
    if not any(name == known or name.startswith(f"{known}[") for known in names):
        near = ", ".join(map(repr, get_close_matches(name, names, 3, 0.3) or names[:3]))
        raise ValueError(f"--layer: found {name!r}, which is not a layer, expected a name such as {near}.")


def _draw(arguments: argparse.Namespace, reports: Sequence[SpectraReport]) -> None:
    with chdir(Path(__file__).parent):  # matplotlib would read settings in the working folder, beside the weights
        from capcore.spectra.figure import report_figure, spectrum_figure

    if arguments.plot:
        write_figure(Path(arguments.plot), report_figure(reports, spectrum=arguments.layer))
    for i, report in enumerate(reports if arguments.figures else ()):
        Path(arguments.figures).mkdir(exist_ok=True)
        for j, row in enumerate(report.spectra):
            safe = re.sub(r"[^\w.-]+", "_", row.name, flags=re.ASCII)[:80].strip("._")
            name = f"{i + 1}-{j + 1:04d}-{safe}.png" if len(reports) > 1 else f"{j + 1:04d}-{safe}.png"
            if (drawn := spectrum_figure(report, row)) is not None:
                write_figure(Path(arguments.figures) / name, drawn)
