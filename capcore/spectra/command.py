"""``capcore spectra``: metrics of the weights in files, on a terminal or for scripts."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from capcore.spectra.analysis import analyse_spectra
from capcore.spectra.arguments import options_of, parser
from capcore.spectra.checkpoints import read_checkpoint, read_folder
from capcore.spectra.figure import report_figure
from capcore.spectra.formats import PLAIN, TORCH
from capcore.spectra.preset import preset_text
from capcore.spectra.rendering import render
from capcore.spectra.tensors import Checkpoint, CheckpointError

FIGURES = (".png", ".svg", ".pdf")


class RefusedError(ValueError):
    """Why nothing is done, one line per reason."""


def main(argv: Sequence[str], prog: str = "capcore spectra") -> int:
    """Exit status of ``capcore spectra`` with the arguments ``argv``."""
    arguments = parser(prog).parse_args(argv)
    try:
        return _run(arguments, prog)
    except (RefusedError, CheckpointError, ValueError) as error:
        for line in str(error).splitlines():
            print(f"{prog}: {line}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"{prog}: interrupted; nothing was written.", file=sys.stderr)
        return 130


def _run(arguments: argparse.Namespace, prog: str) -> int:
    _check(arguments)
    options = options_of(arguments)
    checkpoints, refused = _read(arguments)
    if refused and not (arguments.keep_going and checkpoints):
        raise RefusedError("\n".join(refused))
    _check_installed(arguments)
    for line in refused:
        print(f"{prog}: {line}", file=sys.stderr)
    status = 1 if refused else 0
    if arguments.preset:
        text, failed = preset_text(
            checkpoints, arguments.format, pool=arguments.view != "slices", summary=arguments.summary
        )
        _write(text, arguments.output)
        return 1 if failed and arguments.strict else status
    reports = [analyse_spectra(checkpoint, options, progress=arguments.progress) for checkpoint in checkpoints]
    text = render(reports, arguments.format, summary=arguments.summary)
    if arguments.plot:
        single = checkpoints[0] if len(checkpoints) == 1 else None
        figure = report_figure(reports, spectrum=arguments.layer, checkpoint=single)
        _replace(Path(arguments.plot), lambda path: figure.savefig(path))
    _write(text, arguments.output)
    return 1 if arguments.strict and any(report.failures for report in reports) else status


def _check(arguments: argparse.Namespace) -> None:
    """What can be known to fail before minutes of work."""
    problems = []
    for name in ("output", "plot"):
        path = getattr(arguments, name)
        if path is not None and not Path(path).resolve().parent.is_dir():
            problems.append(f"--{name}: found no folder for {path}, expected one that exists. Make it first.")
        if path is not None and Path(path).is_dir():
            problems.append(f"--{name}: found the folder {path}, expected the name of a file.")
    if arguments.output and Path(arguments.output).suffix.lower() in (*PLAIN, *TORCH):
        problems.append(f"--output: found {arguments.output}, expected no file of weights: it would be overwritten.")
    if arguments.plot and Path(arguments.plot).suffix.lower() not in FIGURES:
        problems.append(f"--plot: found {arguments.plot}, expected a name that ends in {', '.join(FIGURES)}.")
    if arguments.layer and not arguments.plot:
        problems.append("--layer: found no --plot, expected one: it names the layer that the figure shows.")
    if arguments.preset:
        problems += _beside_preset(arguments)
    if problems:
        raise RefusedError("\n".join(problems))


def _check_installed(arguments: argparse.Namespace) -> None:
    """What the output needs, looked up once the files are read: a file that is not there is the first thing to say."""
    needed = {"matplotlib": arguments.plot, "pandas": arguments.format != "json" or arguments.preset}
    problems = [
        f"found no {name}, which this output needs. Install it: pip install {name}; --format json needs neither."
        for name, wanted in needed.items()
        if wanted and find_spec(name) is None
    ]
    if problems:
        raise RefusedError("\n".join(problems))


def _beside_preset(arguments: argparse.Namespace) -> list[str]:
    default = parser("").parse_args(["."])
    names = "plot grid divide_by scale minimum x_min tail_share layout transposed null bootstrap simulations"
    given = [name for name in names.split() if getattr(arguments, name) != getattr(default, name)]
    found = [
        f"--{name.replace('_', '-')}: found beside --preset, which decides that itself. Leave it out." for name in given
    ]
    if arguments.view not in (None, "slices", "pooled"):
        found.append(f"--view: found {arguments.view} beside --preset, expected slices or pooled.")
    return found


def _read(arguments: argparse.Namespace) -> tuple[list[Checkpoint], list[str]]:
    """Checkpoints in the order given, and a line for each file that cannot be read."""
    settings: dict[str, Any] = {"key": arguments.key, "non_finite": arguments.non_finite}
    checkpoints: list[Checkpoint] = []
    refused: list[str] = []
    for path in arguments.paths:
        try:
            if Path(path).is_dir():
                folder = read_folder(path, **settings)
                checkpoints.extend(folder.checkpoints)
                refused.extend(folder.refused.values())
            else:
                checkpoints.append(read_checkpoint(path, **settings))
        except CheckpointError as error:
            refused.append(str(error))
    return checkpoints, refused


def _write(text: str, output: str | None) -> None:
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        _replace(Path(output), lambda path: path.write_text(text, "utf8"))


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """A file that is there in full or not at all."""
    try:
        with tempfile.TemporaryDirectory(dir=path.resolve().parent, prefix=".capcore-") as folder:
            part = Path(folder) / path.name
            write(part)
            part.replace(path)
    except OSError as error:
        raise RefusedError(f"{path}: cannot be written ({error.strerror}). Choose another place.") from None
