"""Run a notebook, or a function, for every setting of a grid.

a grid:
  product: {process: [PowerLaw, AR1], channel_list: [[1, 2], [1, 2, 4]]}
  list: [{n_layers: 4}, {n_layers: 6}]

A sweep that was stopped goes on when it is called again; what is finished is not repeated. TARGET is a notebook's
file, the name of a chapter or of a stored result, or module:function of this repository; a function from elsewhere
can be called in a notebook's file. From Python: chapters.sweeps.engine.sweep(target, grid, results).

Exit status: 0, 1 where runs of this grid failed, 2 for what cannot be used, 3 for a full disk, 130 when interrupted.
"""

import argparse
import errno
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from capcore.checkpoints.tensors import shown
from chapters.sweeps import engine
from chapters.sweeps.grid import read_grid
from chapters.sweeps.notebooks import NotebookError
from chapters.sweeps.store import Store, write

FORMULA = tuple("=+-@＝＋－＠")
"""What makes a cell of a spreadsheet a formula where it begins its text; tabs and line ends are escaped anyway."""


def main(argv: Sequence[str], prog: str = "python -m chapters sweep") -> int:
    """Exit status: 0; 1 where runs failed, 2 for what cannot be used, 3 for a full disk, 130 when interrupted."""
    arguments = _parser(prog).parse_args(argv)
    try:
        return _main(arguments)
    except (NotebookError, ModuleNotFoundError) as error:
        status, reason = 2, shown(error)
    except OSError as error:
        status, reason = 2, shown(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            status, reason = 3, "the disk is full. What was finished is kept; make room and call it again."
    except KeyboardInterrupt:
        status, reason = 130, "interrupted. What was finished is kept; call it again to go on."
    print(f"{prog}: {reason}", file=sys.stderr)
    return status


def _main(arguments: argparse.Namespace) -> int:
    results, grid = Path(arguments.output), read_grid(arguments.grid)
    jobs = engine.plan(arguments.target, grid, seconds=arguments.seconds, memory_mb=arguments.memory)
    if arguments.dry_run:
        todo = engine.missing(jobs, Store(results)) if results.is_dir() else jobs
        print(f"{len(jobs)} settings, {len(jobs) - len(todo)} with a result, {len(todo)} to run, for example:")
        print("\n".join(f"  {job.key}  {shown(job.given or job.settings)}" for job in todo[:3]))
        return 0
    store, path = Store(results), results / "table.csv"
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise NotebookError(f"{path}: found a link, a pipe or a folder, expected a file or none. Move it away.")
    with store.alone():
        engine.run(jobs, store, engine.Workers(arguments.workers), not arguments.quiet)
        table = store.table(jobs)
        write(path, for_csv(table).to_csv(index=False))
    failed = table[table["error"] != ""]
    print(f"{shown(results)}: {len(table)} runs, {len(failed)} failed; table.csv written.")
    for error, keys in failed.groupby("error")["key"]:
        print(f"  {len(keys)} × {shown(error.splitlines()[0][:150])}, as in failed/{keys.iloc[0][:2]}/{keys.iloc[0]}")
    return int(len(failed) > 0)


def for_csv(table: pd.DataFrame) -> pd.DataFrame:
    """The table as spreadsheets may open it: a cell in one line, and text that would be a formula behind a ``'``."""
    return table.map(_cell).rename(columns=_cell)


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    return f"'{shown(value)}" if shown(value).startswith(FORMULA) else shown(value)


def _parser(prog: str) -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog=prog, description=__doc__, formatter_class=form)
    add = parser.add_argument
    add("target", metavar="TARGET", help="a notebook, a chapter, a stored result, or module:function")
    add("--grid", required=True, metavar="FILE", help="the settings, as YAML")
    add("-o", dest="output", required=True, metavar="FOLDER", help="where results are kept")
    add("--workers", type=int, metavar="N", help="runs at once (default: one for each processor)")
    add("--seconds", type=float, metavar="S", help="most that a run may take")
    add("--memory", type=float, metavar="MB", help="most memory that a run may have beside the packages (Linux)")
    add("--dry-run", action="store_true", help="say what would be run")
    add("--quiet", action="store_true", help="show no bar")
    return parser
