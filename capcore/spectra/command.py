"""Weight spectra of trained networks: the eigenvalues of every layer, a power law
fitted to their upper end, and what says how far it can be trusted. Reads
.safetensors, .npz and .npy with nothing but NumPy, and PyTorch's files with
PyTorch (weights only: no file is executed). Every layer that cannot be analysed
is named with the reason, and is in no average.

examples::

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

reading the table::

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

exit status::

  0  done
  1  with --strict, a layer has no exponent; with --keep-going, a file could
     not be read
  2  wrong arguments, or a file that cannot be read: nothing was written
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
from capcore.spectra.layers import ARRANGEMENTS, LAYOUTS
from capcore.spectra.options import TOOL, DensityOptions, SpectraOptions
from capcore.spectra.rendering import preset_text, render
from capcore.spectra.tensors import Checkpoint, CheckpointError

FIGURES = (".png", ".svg", ".pdf")
NULLS = {"shuffle": "shuffled", "shuffled": "shuffled", "gaussian": "gaussian"}


def main(argv: Sequence[str], prog: str = "capcore spectra") -> int:
    """Exit status of ``capcore spectra`` with the arguments ``argv``."""
    arguments = parser(prog).parse_args(argv)
    try:
        return _run(arguments, prog)
    except ValueError as error:  # a line for each reason why nothing is done
        for line in str(error).splitlines():
            print(f"{prog}: {line}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"{prog}: interrupted; nothing was written.", file=sys.stderr)
        return 130


def parser(prog: str) -> argparse.ArgumentParser:
    """The parser of ``capcore spectra``; its help is the text at the head of this module."""
    description, examples, epilog = (__doc__ or "").replace("::\n\n", ":\n").partition("examples:")
    result = argparse.ArgumentParser(
        prog, description=description, epilog=examples + epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("paths", nargs="+", metavar="PATH", help="a file of weights, or a folder of such files")
    add = result.add_argument_group("output").add_argument
    add("--format", choices=("table", "csv", "json"), default="table", help="default: table")
    add("--output", metavar="FILE", help="write there instead of to standard output")
    add("--summary", action="store_true", help="one row per network only")
    add("--plot", metavar="FILE", help="also draw a figure: .png, .svg or .pdf")
    add("--layer", metavar="NAME", help="layer or slice whose spectrum the figure shows")
    add("--progress", action=argparse.BooleanOptionalAction, help="a bar on standard error; default: on a terminal")
    add("--strict", action="store_true", help="status 1 if a layer has no exponent")
    add("--keep-going", action="store_true", help="leave out files that cannot be read; status 1")
    add = result.add_argument_group("choices, all recorded").add_argument
    add("--preset", choices=(TOOL,), help="the numbers of another tool")
    views = "matrices of a convolution; default: slices, the paper's (pooled with the preset)"
    add("--view", choices=ARRANGEMENTS, help=views)
    add("--grid", type=int, metavar="N", help="positions per axis of the input, for --view operator")
    divisors = "what eigenvalues are divided by; default: larger-side, N of the paper"
    add("--divide-by", choices=("larger-side", "nothing"), default="larger-side", help=divisors)
    add("--scale", default="1", metavar="FACTOR", help="on weights: a number, or weightwatcher")
    add("--minimum", type=int, default=10, metavar="N", help="fewest eigenvalues; default: 10")
    add("--x-min", type=float, metavar="X", help="lower end of the tail; default: chosen by its fit")
    add("--tail-share", type=float, metavar="S", help="share of the eigenvalues that are the tail")
    add("--layout", choices=LAYOUTS, default=LAYOUTS[0])
    add("--transposed", action="append", default=[], metavar="PATTERN", help="layers stored (in, out)")
    add("--key", metavar="NAME", help="where a file of PyTorch's holds its weights")
    add("--non-finite", choices=("refuse", "keep"), default="refuse", help="files with NaN or infinity")
    add = result.add_argument_group("how far to trust it").add_argument
    add("--null", choices=NULLS, help="compare with shuffled or Gaussian weights")
    add("--null-draws", type=int, default=20, metavar="N", help="default: 20")
    add("--bootstrap", type=int, default=0, metavar="N", help="resamples of the interval, such as 200")
    add("--simulations", type=int, default=0, metavar="N", help="of the goodness of fit, such as 1000")
    add("--seed", type=int, default=0, metavar="N", help="of all random numbers; default: 0")
    return result


def options_of(arguments: argparse.Namespace) -> SpectraOptions:
    """The options that parsed arguments stand for. Raises ``ValueError`` for what makes no sense."""
    try:
        scale = TOOL if arguments.scale == TOOL else float(arguments.scale)
    except ValueError:
        raise ValueError(f"--scale: found {arguments.scale!r}, expected a number or {TOOL}.") from None
    view, divide_by = arguments.view or "slices", arguments.divide_by.replace("-", " ")
    same = {name: getattr(arguments, name) for name in ("layout", "x_min", "tail_share", "seed")}
    return SpectraOptions(
        DensityOptions(view, divide_by, scale, arguments.grid, minimum=arguments.minimum, seed=arguments.seed),
        transposed=tuple(arguments.transposed),
        n_resamples=arguments.bootstrap,
        n_simulations=arguments.simulations,
        null=NULLS.get(arguments.null),
        n_null=arguments.null_draws,
        **same,
    )


def _run(arguments: argparse.Namespace, prog: str) -> int:
    _refuse(_problems(arguments))
    options = options_of(arguments)
    checkpoints, refused = _read(arguments)
    if not (arguments.keep_going and checkpoints):
        _refuse(refused)
    needed = {"matplotlib": arguments.plot, "pandas": arguments.format != "json" or arguments.preset}
    missing = [name for name, wanted in needed.items() if wanted and find_spec(name) is None]
    advice = "--format json needs neither."
    _refuse([f"found no {name}, which this output needs. Install it: pip install {name}; {advice}" for name in missing])
    for line in refused:
        print(f"{prog}: {line}", file=sys.stderr)
    if arguments.preset:
        pool = arguments.view != "slices"
        text, n_failed = preset_text(checkpoints, arguments.format, pool=pool, summary=arguments.summary)
    else:
        reports = [analyse_spectra(checkpoint, options, progress=arguments.progress) for checkpoint in checkpoints]
        text = render(reports, arguments.format, summary=arguments.summary)
        n_failed = sum(len(report.failures) for report in reports)
        if arguments.plot:
            single = checkpoints[0] if len(checkpoints) == 1 else None
            figure = report_figure(reports, spectrum=arguments.layer, checkpoint=single)
            _replace(Path(arguments.plot), lambda path: figure.savefig(path))
    if arguments.output:
        _replace(Path(arguments.output), lambda path: path.write_text(text, "utf8"))
    else:
        print(text, end="", flush=True)
    return 1 if refused or (arguments.strict and n_failed) else 0


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise ValueError("\n".join(problems))


def _problems(arguments: argparse.Namespace) -> list[str]:
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
        default = parser("").parse_args(["."])
        names = "plot grid divide_by scale minimum x_min tail_share layout transposed null bootstrap simulations"
        given = [name for name in names.split() if getattr(arguments, name) != getattr(default, name)]
        told = "found beside --preset, which decides that itself. Leave it out."
        problems += [f"--{name.replace('_', '-')}: {told}" for name in given]
        if arguments.view not in (None, "slices", "pooled"):
            problems.append(f"--view: found {arguments.view} beside --preset, expected slices or pooled.")
    return problems


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


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """A file that is there in full or not at all."""
    try:
        with tempfile.TemporaryDirectory(dir=path.resolve().parent, prefix=".capcore-") as folder:
            part = Path(folder) / path.name
            write(part)
            part.replace(path)
    except OSError as error:
        raise ValueError(f"{path}: cannot be written ({error.strerror}). Choose another place.") from None
