"""Arguments of ``capcore spectra``, and the options that they stand for."""

from __future__ import annotations

import argparse

from capcore.spectra.analysis_options import SpectraOptions
from capcore.spectra.matrices import ARRANGEMENTS
from capcore.spectra.options import DensityOptions

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
