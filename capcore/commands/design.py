"""Which model forecasts a series best for its size: how many layers, which
dilations, which receptive field, and whether something simpler would do.

The answer is for linear models, whose capacity is exact. The end of the series
is held out: the model that errs least there is the baseline to beat before
anything is trained.

examples::

  capcore design series.csv --inputs 256 --params 2000
      the recommended model, a table of others, and what to beware of
  capcore design table.csv --column price --no-dates --params 64
      one column of a table, whose values count one by one
  capcore design series.npy --families stacks
      only stacks of convolutions
  capcore design series.csv --horizon 12 --differences 1 --season 12
      twelve steps ahead, for changes from one year to the next
  capcore design series.csv --plot design.png
      a figure of errors and sizes

reading the table::

  weights    parameters of the model
  capacity   how many of them count: the dimension of what it can fit
  error      root mean squared error on stretches at the end, each forecast
             with weights from the values before it, in the series' units
  ±          half its interval at 95 %; a stretch counts as one observation
  promised   what the covariance of the values before the first stretch foretells
  weights by covariance or least squares, whichever errs less
  *          the recommended model: the least capacity within one standard error

The last rows are what any model has to beat: repeating the last value or the
last season, and least squares with as many recent lags as validation chooses.

exit status::

  0    success
  2    wrong arguments, or a file that cannot be used
  3    an error in this program; --traceback shows where
  130  interrupted (Ctrl-C)
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from capcore.commands.outcome import refuse, write_figure
from capcore.commands.shared import add_usual, described, new_figure, run_command, shows_progress, unwritable

FAMILIES = ("autoregressive", "near and pools", "log taps", "stacks")
NAMED = {"process": "SERIES", "series": "SERIES"}
"""Names of parameters in messages → where the user gave them, but for options."""


def parser(prog: str) -> argparse.ArgumentParser:
    """The parser of ``capcore design``; its help is the text at the head of this module."""
    result = described(prog, __doc__)
    add = result.add_argument
    add("series", metavar="SERIES", help="a .csv, .tsv, .parquet, .npy or .npz file, oldest value first")
    field = "receptive field; best a power of two; default: 256, or what the series allows"
    add("--inputs", dest="n_inputs", type=int, metavar="N", help=field)
    add("--params", dest="max_params", type=int, default=100, metavar="N", help="weights at most; default: 100")
    add("--horizon", type=int, default=1, metavar="N", help="steps ahead; default: 1")
    add("--differences", type=int, default=0, metavar="N", help="how often neighbours are subtracted; default: 0")
    add("--season", type=int, metavar="N", help="lag of a seasonal difference; default: none")
    names = f"some of: {', '.join(FAMILIES)}"
    add("--families", nargs="+", choices=FAMILIES, default=FAMILIES, metavar="FAMILY", help=names)
    add("--best", dest="n_best", type=int, default=8, metavar="N", help="rows of the table; default: 8")
    add("--column", metavar="NAME", help="which column, if there are several")
    add("--sep", metavar="SIGN", help="what separates the columns; default: the most frequent sign")
    add("--decimal", choices=(".", ","), default=".", help="default: .")
    add("--no-dates", dest="dates", action="store_false", help="values count one by one, whatever their dates")
    add_usual(result)
    return result


def main(argv: Sequence[str], prog: str = "capcore design") -> int:
    """Run ``capcore design`` with the arguments ``argv`` and return its exit status."""
    return run_command(_run, parser(prog), argv, NAMED)


def _run(arguments: argparse.Namespace, prog: str) -> int:
    refuse(unwritable(arguments, ("plot",), [arguments.series]))
    from capcore.checks.arguments import quiet
    from capcore.commands.series import read_series
    from capcore.designs.choosing import design

    reading = {name: getattr(arguments, name) for name in ("column", "sep", "decimal", "dates")}
    names = ("n_inputs", "max_params", "horizon", "differences", "season", "families", "n_best")
    options = {name: getattr(arguments, name) for name in names}
    with quiet():  # warnings are in the report
        chosen = design(read_series(arguments.series, **reading), progress=shows_progress(arguments), **options)
    if arguments.plot:
        figure = new_figure(6.0, 4.0)
        chosen.plot(figure.subplots())
        write_figure(Path(arguments.plot), figure)
    print(chosen.report(), flush=True)
    return 0
