"""``python -m chapters sweep``: a grid of settings, on this machine or on a Dask cluster."""

from __future__ import annotations

import argparse
import errno
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from capcore.checkpoints.tensors import shown
from capcore.sweeps import canonical, columns_of, read_rows, table_of
from chapters.sweeps import engine
from chapters.sweeps.declared import NotebookError
from chapters.sweeps.grid import read_grid
from chapters.sweeps.store import Store
from chapters.sweeps.workers import Dask, Here

if TYPE_CHECKING:
    import pandas as pd

FORMULA = tuple("=+-@＝＋－＠")
"""What makes a cell of a spreadsheet a formula where it begins its text; tabs and line ends are escaped anyway."""
EPILOG = """\
a grid:
  product: {process: [PowerLaw, AR1], channel_list: [[1, 2], [1, 2, 4]]}
  list: [{n_layers: 4}, {n_layers: 6}]
  random: {draws: 20, seed: 0, parameters: {seed: {integers: [0, 999]}}}

A sweep that was stopped goes on when it is called again; what is finished is not repeated. TARGET is a notebook's
file, the name of a chapter or of a stored result, or module:function of this repository; a function from elsewhere
can be called in a notebook's file. From Python, with any Dask cluster:
chapters.sweeps.engine.sweep(target, grid, results, cluster=cluster).

Exit status: 0, 1 where runs of this grid failed, 2 for what cannot be used, 3 for a full disk, 130 when interrupted.
"""


def main(argv: Sequence[str], prog: str = "python -m chapters sweep") -> int:
    """Exit status: 0; 1 where runs failed, 2 for what cannot be used, 3 for a full disk, 130 when interrupted."""
    arguments = _parser(prog).parse_args(argv)
    # Dask and the packages below it print what comes from a scheduler, too, by ways of their own
    with redirect_stdout(_Plain(sys.stdout)), redirect_stderr(_Plain(sys.stderr)):
        return _main(arguments, prog)


def _main(arguments: argparse.Namespace, prog: str) -> int:
    results = Path(arguments.output)
    try:
        place = lambda: Dask(arguments.scheduler) if arguments.scheduler else Here(arguments.workers)  # noqa: E731
        limits = {"seconds": arguments.seconds, "memory_mb": arguments.memory, "warm": not arguments.plain}
        jobs = engine.plan(arguments.target, read_grid(arguments.grid), keep=arguments.keep, **limits)
        if arguments.dry_run:
            return _dry_run(jobs, results)
        store = Store(results)
        with store.alone():
            engine.run(jobs, store, place, engine.bar(len(jobs), not arguments.quiet))
            return _finish(jobs, results, arguments.plot)
    except (NotebookError, ModuleNotFoundError) as error:
        print(f"{prog}: {shown(error)}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            said = "the disk is full. What was finished is kept; make room and call it again."
            print(f"{prog}: {said}", file=sys.stderr)
            return 3
        print(f"{prog}: {shown(error.filename or results)}: {shown(error.strerror or error)}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\n{prog}: interrupted. What was finished is kept; call it again to go on.", file=sys.stderr)
        return 130


def _dry_run(jobs: list[engine.Job], results: Path) -> int:
    todo = engine.missing(jobs, Store(results)) if results.is_dir() else jobs
    print(f"{len(jobs)} settings, {len(jobs) - len(todo)} with a result, {len(todo)} to run, for example:")
    for job in todo[:3]:
        print(f"  {job.key}  {shown(job.given or job.settings)}")
    return 0


def _finish(jobs: list[engine.Job], results: Path, plot: bool) -> int:
    """Write the table, draw, and say how it went with these jobs, whatever else is in the folder."""
    rows, unreadable = read_rows(results)
    table = table_of(rows)
    for_csv(table).to_csv(results / "table.csv", index=False)
    written = "table.csv"
    if find_spec("pyarrow"):
        for_parquet(table).to_parquet(results / "table.parquet", index=False)
        written += " and table.parquet"
    mine = table[table["key"].isin({job.key for job in jobs})]
    failed = mine[mine["error"] != ""]
    others = f", with {len(table) - len(mine)} runs of other grids" if len(mine) < len(table) else ""
    print(f"{shown(results)}: {len(mine)} runs, {len(failed)} failed; {written} written{others}.")
    for error, group in failed.groupby("error"):
        first = shown(str(error).splitlines()[0][:150])
        print(f"  {len(group)} × {first}, as in failed/{group['key'].iloc[0][:2]}/{group['key'].iloc[0]}")
    for name, reason in list(unreadable.items())[:5]:
        print(f"  {shown(name)}: cannot be read ({shown(reason)}), and is not in the table.")
    if len(unreadable) > 5:
        print(f"  {len(unreadable) - 5} more files cannot be read.")
    if plot:
        from chapters.sweeps.picture import draw

        parameters = list(columns_of(jobs[0].settings).values())
        print(f"  {len(draw(table, parameters, results / 'plots'))} pictures in {shown(results / 'plots')}.")
    return int(len(failed) > 0)


class _Plain:
    """A stream without what a terminal would act upon, but for line ends and tabs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write it; how much of it that was."""
        self._stream.write(re.sub(r"[^\r\n\t]+", lambda found: shown(found[0]), text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def for_csv(table: pd.DataFrame) -> pd.DataFrame:
    """The table as spreadsheets may open it: a cell in one line, and text that would be a formula behind a ``'``."""
    return _mapped(table, table.select_dtypes(exclude="number").columns, _cell).rename(columns=_cell)


def for_parquet(table: pd.DataFrame) -> pd.DataFrame:
    """The table; a column of several types, such as 2 and "[1,2]", is text there: Parquet takes one type a column."""
    mixed = [name for name in table if table[name].dropna().map(type).nunique() > 1]
    return _mapped(table, mixed, _text)


def _mapped(table: pd.DataFrame, names: Iterable[str], change: Callable[[object], object]) -> pd.DataFrame:
    table = table.copy()
    for name in names:
        table[name] = table[name].map(change, na_action="ignore")
    return table


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = shown(value)
    try:
        float(text)
    except ValueError:
        return f"'{text}" if text.startswith(FORMULA) else text
    return text


def _text(value: object) -> str:
    return value if isinstance(value, str) else canonical(value)


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Run a notebook, or a function, for every setting of a grid.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "target", metavar="TARGET", help="a notebook, a chapter, a stored result, or module:function of this repository"
    )
    add("--grid", required=True, metavar="FILE", help="the settings, as YAML")
    add("-o", dest="output", required=True, metavar="FOLDER", help="where results are kept")
    add("--workers", type=int, metavar="N", help="runs at once on this machine (default: one for each processor)")
    add("--scheduler", metavar="ADDRESS", help="of a Dask scheduler, as tcp://127.0.0.1:8786; its workers do the runs")
    add("--seconds", type=float, metavar="S", help="most that a run may take")
    add("--memory", type=float, metavar="MB", help="most memory that a run may have beside the packages (Linux)")
    add("--plain", action="store_true", help="start every run by itself, as papermill does, in place of warm runs")
    add("--keep", choices=("failed", "all", "none"), default="failed", help="whose executed notebooks are kept")
    add("--dry-run", action="store_true", help="say what would be run")
    add("--plot", action="store_true", help="draw each value over what was varied")
    add("--quiet", action="store_true", help="show no bar")
    return parser
