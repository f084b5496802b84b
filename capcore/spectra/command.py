"""The command capcore spectra.

Arguments of ``capcore spectra``, and the options that they stand for.

``capcore spectra``: metrics of the weights in files, on a terminal or for scripts.
"""

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
from capcore.spectra.checkpoints import PLAIN, TORCH, read_checkpoint, read_folder
from capcore.spectra.figure import report_figure
from capcore.spectra.layers import ARRANGEMENTS
from capcore.spectra.options import DensityOptions, SpectraOptions
from capcore.spectra.rendering import preset_text, render
from capcore.spectra.tensors import Checkpoint, CheckpointError

TOOL = "weightwatcher"
FORMATS = ("table", "csv", "json")
NULLS = {"shuffle": "shuffled", "shuffled": "shuffled", "gaussian": "gaussian"}
DESCRIPTION = """\
Weight spectra of trained networks: the eigenvalues of every layer, a power law
fitted to their upper end, and what says how far it can be trusted. Reads
.safetensors, .npz and .npy with nothing but NumPy, and PyTorch's files with
PyTorch (weights only: no file is executed). Every layer that cannot be analysed
is named with the reason, and is in no average.
"""
EPILOG = """\
examples:
  capcore spectra model.safetensors
      one row per layer, or per slice of a convolution, and the averages
  capcore spectra model.safetensors --null shuffle --bootstrap 200 --seed 0
      with intervals of each exponent, and the range that shuffled weights of
      the same shape give: an exponent within it needs no training to explain it
  capcore spectra model.safetensors --plot spectra.png --layer conv1.weight
      also a figure: exponents along the layers, and one spectrum with its fit,
      its bulk of noise and its Hill plot
  capcore spectra checkpoints/ --summary --format csv --output networks.csv
      one row per network of a folder
  capcore spectra model.safetensors --view pooled --divide-by nothing
      other choices; JSON records every one of them
  capcore spectra model.safetensors --preset weightwatcher
      columns and numbers of WeightWatcher 0.7.7, failed layers as -1 included

reading the table:
  alpha      exponent of the tail from x_min on, of n_tail eigenvalues out of n
  low, high  bootstrap interval that includes the choice of x_min (--bootstrap)
  null       least and largest alpha of the null's draws (--null)
  KS         distance of the tail from the law
  p          goodness of fit (--simulations); a small one speaks against the law
  favoured   by a likelihood-ratio test: power law, another law, or neither
  alpha hat  alpha times log10 of the largest eigenvalue; depends on the scale
             of the weights, which batch normalisation makes arbitrary
  soft rank  upper edge of the bulk of noise over the largest eigenvalue
  spikes     eigenvalues above that edge

exit status:
  0  done
  1  with --strict, a layer has no exponent; with --keep-going, a file could
     not be read
  2  wrong arguments, or a file that cannot be read: nothing was written
"""


def parser(prog: str) -> argparse.ArgumentParser:
    """The parser of ``capcore spectra``."""
    result = argparse.ArgumentParser(
        prog=prog, description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("paths", nargs="+", metavar="PATH", help="a file of weights, or a folder of such files")
    output = result.add_argument_group("output")
    output.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    output.add_argument("--output", metavar="FILE", help="write there instead of to standard output")
    output.add_argument("--summary", action="store_true", help="one row per network only")
    output.add_argument("--plot", metavar="FILE", help="also draw a figure: .png, .svg or .pdf")
    output.add_argument("--layer", metavar="NAME", help="layer or slice whose spectrum the figure shows")
    output.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, help="a bar on standard error; default: on a terminal"
    )
    output.add_argument("--strict", action="store_true", help="status 1 if a layer has no exponent")
    output.add_argument("--keep-going", action="store_true", help="leave out files that cannot be read; status 1")
    _choices(result)
    return result


def _choices(result: argparse.ArgumentParser) -> None:
    group = result.add_argument_group("choices, all recorded")
    group.add_argument("--preset", choices=("weightwatcher",), help="the numbers of another tool")
    text = "matrices of a convolution; default: slices, the paper's (pooled with the preset)"
    group.add_argument("--view", choices=ARRANGEMENTS, help=text)
    group.add_argument("--grid", type=int, metavar="N", help="positions per axis of the input, for --view operator")
    text = "what eigenvalues are divided by; default: larger-side, N of the paper"
    group.add_argument("--divide-by", choices=("larger-side", "nothing"), default="larger-side", help=text)
    group.add_argument("--scale", default="1", metavar="FACTOR", help="on weights: a number, or weightwatcher")
    group.add_argument("--minimum", type=int, default=10, metavar="N", help="fewest eigenvalues; default: 10")
    group.add_argument("--x-min", type=float, metavar="X", help="lower end of the tail; default: chosen by its fit")
    group.add_argument("--tail-share", type=float, metavar="S", help="share of the eigenvalues that are the tail")
    group.add_argument("--layout", choices=("channels-first", "channels-last"), default="channels-first")
    group.add_argument("--transposed", action="append", default=[], metavar="PATTERN", help="layers stored (in, out)")
    group.add_argument("--key", metavar="NAME", help="where a file of PyTorch's holds its weights")
    group.add_argument("--non-finite", choices=("refuse", "keep"), default="refuse", help="files with NaN or infinity")
    trust = result.add_argument_group("how far to trust it")
    trust.add_argument("--null", choices=NULLS, help="compare with shuffled or Gaussian weights")
    trust.add_argument("--null-draws", type=int, default=20, metavar="N", help="default: 20")
    trust.add_argument("--bootstrap", type=int, default=0, metavar="N", help="resamples of the interval, such as 200")
    trust.add_argument("--simulations", type=int, default=0, metavar="N", help="of the goodness of fit, such as 1000")
    trust.add_argument("--seed", type=int, default=0, metavar="N", help="of all random numbers; default: 0")


def options_of(arguments: argparse.Namespace) -> SpectraOptions:
    """The options that parsed arguments stand for. Raises ``ValueError`` for what makes no sense."""
    try:
        scale = TOOL if arguments.scale == TOOL else float(arguments.scale)
    except ValueError:
        raise ValueError(f"--scale: found {arguments.scale!r}, expected a number or {TOOL}.") from None
    density = DensityOptions(
        arrangement=arguments.view or "slices",
        divide_by=arguments.divide_by.replace("-", " "),
        scale=scale,
        grid=arguments.grid,
        minimum=arguments.minimum,
        seed=arguments.seed,
    )
    return SpectraOptions(
        density,
        transposed=tuple(arguments.transposed),
        layout=arguments.layout,
        x_min=arguments.x_min,
        tail_share=arguments.tail_share,
        n_resamples=arguments.bootstrap,
        n_simulations=arguments.simulations,
        null=NULLS.get(arguments.null),
        n_null=arguments.null_draws,
        seed=arguments.seed,
    )


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
