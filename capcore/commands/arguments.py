"""Weight spectra of trained networks: the eigenvalues of every layer, a power law
fitted to their upper end, and tests of how far that fit can be trusted. Reads
.safetensors, .npz and .npy with NumPy alone, PyTorch files with PyTorch
(weights only: no code is executed), .onnx with onnx and .gguf with gguf.
Weights that are not analysed are listed with the reason and enter no average.

examples::

  capcore spectra model.safetensors
      one row per layer: exponent, its interval, and what shuffled weights give
  capcore spectra model.safetensors --describe
      list what would be analysed, what not, and why; compute nothing
  capcore spectra model.safetensors --layers 'layer3.*' --figures figures/
      only some layers, with a figure of each
  capcore spectra model.safetensors --fast --workers 4
      only the exponents, four layers at a time
  capcore spectra tuned.safetensors --base model.safetensors
      what fine-tuning or a LoRA adapter changed: its size and its spectrum
  capcore spectra model.safetensors --adapter adapter/
      the weights that are used with a LoRA adapter, W + scale B A
  capcore spectra checkpoints/ --summary --format csv --output networks.csv
      one row for each network in a folder
  capcore spectra model.safetensors --view slices --divide-by nothing
      other conventions; JSON records all of them
  capcore spectra model.safetensors --preset weightwatcher
      the columns and numbers of WeightWatcher 0.7.7, with failed layers as -1

reading the table::

  alpha      exponent of the tail: the n_tail of n eigenvalues from x_min on
  interval   95 % bootstrap interval of alpha, including the choice of x_min
  null range smallest and largest alpha of the same weights when shuffled
  null p     p-value of alpha among these, two-sided: if it is large, training
             is not needed to explain alpha. With 100 draws at least 2/101
  null       by shape: drawn as Gaussian noise for all layers of this shape,
             because shuffled weights have the same spectrum; with large
             entries: noise with the layer's mean or largest entries in random
             places; shuffled: its own weights, because they differ too much
  warning    over-trained (alpha < 2) or under-trained (alpha > 6), in
             WeightWatcher's words, where null p is 0.05 or less; unstable tail
             if alpha is outside its own interval, because resampled
             eigenvalues then have another tail
  traps      eigenvalues of SHUFFLED weights above the bulk of noise: median,
             fewest and most. They come from single large weights, not from
             correlations
  KS         Kolmogorov-Smirnov distance between the tail and the fitted law
  p          goodness of fit (--simulations); small values speak against it
  favoured   by likelihood-ratio tests: power law, another law, or neither
  TPL alpha, TPL rate   for the density x^-alpha exp(-rate x) (--alternatives)
  alpha hat  alpha times log10 of the largest eigenvalue; depends on the scale
             of the weights, which batch normalisation makes arbitrary
  soft rank  upper edge of the bulk of noise divided by the largest eigenvalue
  spikes     number of eigenvalues above that edge
  change     |W - W0| / |W0| in the Frobenius norm (--base)

choices::

  --view        pooled (default): one matrix for each tap of a kernel, all their
                eigenvalues together; slices: each tap alone, as in the paper;
                unfolded: one matrix (out, in x taps); operator: the linear map
                on a grid of --grid positions
  --preset      weightwatcher: of all choices only --view (pooled or slices) and
                --mp-fit count, and no figure is drawn
  --divide-by   larger-side (default): N in the paper
  --kind        linear, embedding, stack, conv1d, conv2d or conv3d
  --non-finite  keep (default): list layers with NaN or infinity as not analysed;
                refuse: read no such file
  --bootstrap   by default none above 8192 eigenvalues; 0: no interval

A tensor of three axes or more is a convolution, but for the heads of attention
in Keras and Flax, which have names of their own. --kind NAME=linear makes it a
matrix, its first axis by all others; with --transposed NAME or --layout
channels-last, its last axis by all others; with both, its first again. Kernels
of Keras' files are turned before, from (..., in, out) to (out, in, ...).

If the terminal is too narrow, less important columns are only named below the
table.

exit status::

  0    success
  1    of a file nothing was analysed; with --strict, some weights were not
       analysed or have no exponent; with --keep-going, a file could not be read
  2    wrong arguments, or a file that cannot be read: nothing was written
  3    an error in this program; --traceback shows where
  130  interrupted (Ctrl-C): nothing was written
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capcore.commands.shared import add_usual, described, unplottable, unwritable

if TYPE_CHECKING:
    from capcore.spectra.options import SpectraOptions

TOOL = "weightwatcher"
ARRANGEMENTS = ("slices", "pooled", "unfolded", "operator")
NULLS = {"shuffle": "shuffled", "shuffled": "shuffled", "gaussian": "gaussian", "none": None}


def parser(prog: str) -> argparse.ArgumentParser:
    """The parser of ``capcore spectra``; its help is the text at the head of this module."""
    result = described(prog, __doc__)
    result.add_argument("paths", nargs="+", metavar="PATH", help="a file of weights, or a folder of such files")
    add = result.add_argument_group("what to look at").add_argument
    add("--layers", action="append", default=[], metavar="PATTERN", help="only layers such as 'layer1.*'; repeatable")
    add("--skip", action="append", default=[], metavar="PATTERN", help="leave these layers out; repeatable")
    add("--describe", action="store_true", help="list what would be analysed; compute nothing")
    add("--base", metavar="PATH", help="analyse the difference from this network")
    add("--adapter", metavar="PATH", help="first add this LoRA adapter")
    output = result.add_argument_group("output")
    add_usual(output)
    add = output.add_argument
    add("--format", choices=("table", "csv", "json"), default="table", help="default: table")
    add("--output", metavar="FILE", help="write to this file instead of standard output")
    add("--summary", action="store_true", help="only one row per network")
    add("--layer", metavar="NAME", help="layer or slice whose spectrum --plot shows")
    add("--figures", metavar="DIR", help="also draw a figure of each spectrum, as .png (needs matplotlib)")
    add("--strict", action="store_true", help="exit with status 1 if weights are not analysed or have no exponent")
    add("--keep-going", action="store_true", help="skip files that cannot be read, and exit with status 1")
    add = result.add_argument_group("choices, all recorded").add_argument
    add("--preset", choices=(TOOL,), help="the numbers of this tool, whatever else is chosen here")
    add("--mp-fit", action="store_true", help="with --preset: also its fit of the bulk of noise")
    add("--view", dest="arrangement", choices=ARRANGEMENTS, default="pooled", help="matrices of a convolution")
    add("--grid", type=int, metavar="N", help="positions per axis of the input, for --view operator")
    add("--divide-by", choices=("larger-side", "nothing"), default="larger-side", help="divisor of the eigenvalues")
    add("--scale", choices=(TOOL,), help="multiply the weights by the factor of this tool")
    add("--minimum", type=int, default=10, metavar="N", help="skip matrices with fewer eigenvalues; default: 10")
    add("--maximum", type=int, default=2**14, metavar="N", help="skip those with a longer shorter side; default: 16384")
    add("--tail-share", type=float, metavar="S", help="fraction of the eigenvalues that form the tail")
    add("--layout", choices=("channels-first", "channels-last"), default="channels-first")
    add("--transposed", action="append", default=[], metavar="PATTERN", help="layers stored as (in, out)")
    pairs: dict[str, Any] = {"action": "append", "default": [], "type": _pair}
    add("--kind", dest="kinds", metavar="PATTERN=KIND", help="kind of these layers", **pairs)
    add("--groups", metavar="PATTERN=N", help="number of groups of these convolutions", **pairs)
    add("--key", metavar="NAME", help="name under which a PyTorch file holds its weights")
    add("--non-finite", choices=("keep", "refuse"), default="keep", help="what to do about NaN and infinity")
    add = result.add_argument_group("how far to trust it").add_argument
    add("--null", choices=NULLS, help="compare with shuffled weights (default), Gaussian weights, or none")
    add("--null-draws", dest="n_null", type=int, metavar="N", help="draws of --null; default: 100")
    add("--bootstrap", dest="n_resamples", type=int, metavar="N", help="resamples for the interval; default: 100")
    add("--fast", action="store_true", help="no shuffled weights, intervals or other laws unless requested")
    add("--simulations", dest="n_simulations", type=int, default=0, metavar="N", help="for the goodness of fit; 1000")
    add("--alternatives", action="store_true", help="also give the exponents of the truncated power law (TPL)")
    add("--seed", type=int, default=0, metavar="N", help="seed of all random numbers; default: 0")
    add("--workers", type=int, default=1, metavar="N", help="layers at a time, each on one thread; default: 1")
    return result


def options_of(arguments: argparse.Namespace) -> SpectraOptions:
    """Convert parsed arguments to options. Raises ``ValueError`` for values that are not valid."""
    from capcore.spectra.options import ALTERNATIVES, DensityOptions, usual_options

    names: tuple[str, ...] = ("layout", "tail_share", "seed", "fast", "n_resamples", "n_simulations", "n_null")
    chosen = {name: getattr(arguments, name) for name in names}
    if arguments.alternatives:
        chosen |= {"alternatives": ALTERNATIVES, "truncated": True}
    if arguments.null:
        chosen["null"] = NULLS[arguments.null]
    names = ("arrangement", "scale", "grid", "minimum", "maximum", "seed")
    density: dict[str, Any] = {name: getattr(arguments, name) for name in names}
    return usual_options(
        density=DensityOptions(divide_by=arguments.divide_by.replace("-", " "), **density),
        kinds=dict(arguments.kinds) or None,
        groups={pattern: int(n) if n.isdecimal() else n for pattern, n in arguments.groups} or None,
        transposed=tuple(arguments.transposed),
        **chosen,
    )


def problems(arguments: argparse.Namespace) -> list[str]:
    """Messages about arguments that cannot work, found before any computation starts."""
    from capcore.checkpoints.folders import KNOWN

    inputs = [*arguments.paths, *filter(None, [arguments.base, arguments.adapter])]
    lines = unwritable(arguments, ("output", "plot"), inputs)
    path = Path(arguments.output or "")
    config = path.name.endswith("config.json") and path.exists()
    if path.suffix.lower() in KNOWN or ".index." in path.name or config:
        lines.append(f"--output: found {path}, expected no file of weights: it would be overwritten.")
    if folder := arguments.figures:
        if not Path(folder).resolve().parent.is_dir() or Path(folder).is_file():
            lines.append(f"--figures: found {folder}, expected a folder, or a new one within a folder that exists.")
        lines += unplottable("figures.png") if not arguments.plot else []
    return lines


def _pair(text: str) -> tuple[str, str]:
    """Split ``PATTERN=VALUE`` into pattern and value."""
    pattern, _, value = text.rpartition("=")
    if not pattern:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected PATTERN=VALUE.")
    return pattern, value
