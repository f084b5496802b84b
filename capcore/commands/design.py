"""Which model forecasts a series best for its size: how many layers, which
dilations, which receptive field, and whether something simpler would do.

The answer is for linear models, whose capacity is exact. Networks with the
same skeleton and nonlinear layers may do better once trained; a linear design
is a fair place to start, and tells what is wasteful.

examples::

  capcore design series.csv --inputs 256 --params 2000
      the recommended model, a table of others, and what to beware of
  capcore design table.csv --column price --no-dates --params 64
      one column of a table, whose values count one by one
  capcore design series.npy --families stacks
      only stacks of convolutions
  capcore design series.csv --torch network.py --plot design.png
      code and a figure of it

reading the table::

  weights    parameters of the model
  capacity   how many of them count: the dimension of what it can fit
  loss/v*    excess error variance over the best linear forecast from all
             inputs, whose error variance is v*, in units of v*
  bound/v*   fitted bound of the loss of this model, for stacks by fits of two
             layers, which may be too high
  costs      what estimating the weights from so many values adds, in v*
  error      final prediction error (Akaike): by this models are compared
  far        share of the capacity on the older half of the inputs
  *          the recommended model: the simplest of those that are as good

The bounds below the table hold for stacks whose kernels multiply to the number
of inputs, each dilation the product of the kernels below it, without skip
connections. They say nothing of overlapping kernels and of other lengths.

exit status::

  0    success
  2    wrong arguments, or a file that cannot be used
  3    an error in this program; --traceback shows where
  130  interrupted (Ctrl-C)
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from capcore.commands.outcome import refuse, write_figure, write_whole
from capcore.commands.shared import add_usual, described, new_figure, run_command, shows_progress, unwritable

FAMILIES = ("autoregressive", "near and pools", "log taps", "stacks")
NAMED = {"process": "SERIES", "series": "SERIES"}
"""Names of parameters in messages → where the user gave them, but for options."""


def parser(prog: str) -> argparse.ArgumentParser:
    """The parser of ``capcore design``; its help is the text at the head of this module."""
    result = described(prog, __doc__)
    add = result.add_argument
    add("series", metavar="SERIES", help="a .csv, .tsv, .parquet, .npy or .npz file, oldest value first")
    field = "receptive field; best a power of two; default: 256"
    add("--inputs", dest="n_inputs", type=int, default=256, metavar="N", help=field)
    add("--params", dest="max_params", type=int, default=100, metavar="N", help="weights at most; default: 100")
    add("--observed", dest="n_observed", type=int, metavar="N", help="values to train on; default: all of the series")
    names = f"some of: {', '.join(FAMILIES)}"
    add("--families", nargs="+", choices=FAMILIES, default=FAMILIES, metavar="FAMILY", help=names)
    add("--best", dest="n_best", type=int, default=8, metavar="N", help="rows of the table; default: 8")
    add("--column", metavar="NAME", help="which column, if there are several")
    add("--sep", metavar="SIGN", help="what separates the columns; default: the most frequent sign")
    add("--decimal", choices=(".", ","), default=".", help="default: .")
    add("--no-dates", dest="dates", action="store_false", help="values count one by one, whatever their dates")
    add("--torch", metavar="FILE", help="also write the recommended model as PyTorch code")
    add("--jax", metavar="FILE", help="also write the recommended model as JAX code")
    add_usual(result)
    return result


def main(argv: Sequence[str], prog: str = "capcore design") -> int:
    """Run ``capcore design`` with the arguments ``argv`` and return its exit status."""
    return run_command(_run, parser(prog), argv, NAMED)


def _run(arguments: argparse.Namespace, prog: str) -> int:
    refuse(unwritable(arguments, ("torch", "jax", "plot"), [arguments.series]))
    from capcore.checks.arguments import quiet
    from capcore.commands.series import read_series
    from capcore.designs.choosing import design

    reading = {name: getattr(arguments, name) for name in ("column", "sep", "decimal", "dates")}
    names = ("n_inputs", "max_params", "n_observed", "families", "n_best")
    options = {name: getattr(arguments, name) for name in names}
    with quiet():  # warnings are in the report
        chosen = design(read_series(arguments.series, **reading), progress=shows_progress(arguments), **options)
    for name, code in (("torch", chosen.torch), ("jax", chosen.jax)):
        if path := getattr(arguments, name):
            write_whole(Path(path), code().encode())
    if arguments.plot:
        figure = new_figure(6.0, 4.0)
        chosen.plot(figure.subplots())
        write_figure(Path(arguments.plot), figure)
    print(chosen.report(), flush=True)
    return 0
