"""The command ``capcore spectra``, which runs what its arguments (:mod:`capcore.commands.arguments`) ask for."""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capcore.commands.arguments import options_of, parser, problems
from capcore.commands.outcome import refuse, say, write_figure, write_whole
from capcore.commands.shared import run_command

if TYPE_CHECKING:
    from capcore.checkpoints.tensors import Checkpoint
    from capcore.spectra.options import SpectraOptions
    from capcore.spectra.results import SpectraReport


def main(argv: Sequence[str], prog: str = "capcore spectra") -> int:
    """Run ``capcore spectra`` with the arguments ``argv`` and return its exit status."""
    return run_command(_run, parser(prog), argv, {})


def _run(arguments: argparse.Namespace, prog: str) -> int:
    from capcore.commands.rendering import description, preset
    from capcore.spectra.layers import selected

    refuse(problems(arguments))
    options = options_of(arguments)
    arguments.width = None if arguments.output else shutil.get_terminal_size((400, 24)).columns
    networks, base, refused = _read(arguments)
    if not (arguments.keep_going and networks):
        refuse(refused)
    choice = {"layers": arguments.layers, "skip": arguments.skip, "drop": bool(arguments.preset)}
    networks = [selected(network, **choice) for network in networks]
    if arguments.layer:  # refused before any computation starts
        selected(networks[0], arguments.layer.partition("[")[0])
    for line in refused:
        say(prog, line)
    if arguments.preset:
        text, failed, counts = preset(networks, arguments)
    elif arguments.describe:
        text, failed, counts = description(networks, options, arguments.format, arguments.width)
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
    networks = []
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


def _analysed(
    arguments: argparse.Namespace, networks: Sequence[Checkpoint], base: Checkpoint | None, options: SpectraOptions
) -> tuple[str, int, list[int]]:
    """Return the reports as text, the number of weights without an exponent, and that of each network's spectra.

    Writes the figures.
    """
    from capcore.commands.rendering import render
    from capcore.spectra.analysis import analyse_spectra

    settings = {name: getattr(arguments, name) for name in ("workers", "progress")}
    reports = [analyse_spectra(network, options, base=base, **settings) for network in networks]
    text = render(reports, arguments.format, summary=arguments.summary, width=arguments.width)
    if arguments.plot or arguments.figures:
        _draw(arguments, reports)
    counts = [sum(row.ok for row in report.spectra) for report in reports]
    return text, sum(len(report.not_analysed) for report in reports), counts


def _draw(arguments: argparse.Namespace, reports: Sequence[SpectraReport]) -> None:
    with chdir(Path(__file__).parent):  # matplotlib would read settings in the working folder, beside the weights
        from matplotlib.pyplot import close

        from capcore.spectra.figure import report_figure

    if arguments.plot:
        write_figure(Path(arguments.plot), report_figure(reports, spectrum=arguments.layer))
    rows = [(report, row) for report in reports for row in report.spectra if row.ok]
    for number, (report, row) in enumerate(rows if arguments.figures else (), 1):
        Path(arguments.figures).mkdir(exist_ok=True)
        safe = re.sub(r"[^\w.-]+", "_", row.name, flags=re.ASCII)[:80].strip("._")
        figure = report_figure([report], spectrum=row.name)
        write_figure(Path(arguments.figures) / f"{number:04d}-{safe}.png", figure)
        close(figure)
