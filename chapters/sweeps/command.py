"""``python -m chapters sweep``: a grid of settings, on this machine or on a Dask cluster."""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from capcore.sweeps import canonical, load_sweep
from chapters.sweeps import engine
from chapters.sweeps.declared import NotebookError
from chapters.sweeps.grid import read_grid
from chapters.sweeps.store import Store
from chapters.sweeps.workers import Dask, Here

if TYPE_CHECKING:
    import pandas as pd

EPILOG = """\
a grid:
  product: {process: [PowerLaw, AR1], channel_list: [[1, 2], [1, 2, 4]]}
  list: [{n_layers: 4}, {n_layers: 6}]
  random: {draws: 20, seed: 0, parameters: {seed: {integers: [0, 999]}}}

A sweep that was stopped goes on when it is called again; what is finished is not repeated. TARGET is a notebook's
file, the name of a chapter or of a stored result, or module:function. From Python, with any Dask cluster:
chapters.sweeps.engine.sweep(target, grid, results, cluster=cluster).
"""


def main(argv: Sequence[str], prog: str = "python -m chapters sweep") -> int:
    """Exit status: 0; 1 where runs failed, 2 for what cannot be used, 3 for a full disk, 130 when interrupted."""
    arguments = _parser(prog).parse_args(argv)
    results = Path(arguments.output)
    try:
        limits = {"seconds": arguments.seconds, "memory_mb": arguments.memory, "warm": not arguments.plain}
        jobs = engine.plan(arguments.target, read_grid(arguments.grid), keep=arguments.keep, **limits)
        if arguments.dry_run:
            return _dry_run(jobs, results)
        store = Store(results)
        with store.alone():
            place = lambda: Dask(arguments.scheduler) if arguments.scheduler else Here(arguments.workers)  # noqa: E731
            engine.run(jobs, store, place, engine.bar(len(jobs), not arguments.quiet))
            return _finish(jobs[0].settings, results, arguments.plot)
    except (NotebookError, ModuleNotFoundError) as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        print(f"{prog}: the disk is full. What was finished is kept; make room and call it again.", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print(f"\n{prog}: interrupted. What was finished is kept; call it again to go on.", file=sys.stderr)
        return 130


def _dry_run(jobs: list[engine.Job], results: Path) -> int:
    todo = engine.missing(jobs, Store(results)) if results.is_dir() else jobs
    print(f"{len(jobs)} settings, {len(jobs) - len(todo)} with a result, {len(todo)} to run, for example:")
    for job in todo[:3]:
        print(f"  {job.key}  {job.given or job.settings}")
    return 0


def _finish(settings: dict[str, object], results: Path, plot: bool) -> int:
    """Write the table, draw, and say how it went."""
    table = load_sweep(results)
    table.to_csv(results / "table.csv", index=False)
    written = "table.csv"
    if find_spec("pyarrow"):
        for_parquet(table).to_parquet(results / "table.parquet", index=False)
        written += " and table.parquet"
    failed = table[table["error"] != ""]
    print(f"{results}: {len(table)} runs, {len(failed)} failed; {written} written.")
    for error, rows in failed.groupby("error"):
        first = str(error).splitlines()[0][:150]
        print(f"  {len(rows)} × {first}, as in failed/{rows['key'].iloc[0][:2]}/{rows['key'].iloc[0]}")
    if plot:
        from chapters.sweeps.picture import draw

        print(f"  {len(draw(table, list(settings), results / 'plots'))} pictures in {results / 'plots'}.")
    return int(len(failed) > 0)


def for_parquet(table: pd.DataFrame) -> pd.DataFrame:
    """The table; a column of several types, such as 2 and "[1,2]", is text there: Parquet takes one type a column."""
    mixed = [name for name in table if table[name].dropna().map(type).nunique() > 1]
    return table.assign(**{name: table[name].map(_text, na_action="ignore") for name in mixed})


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
    add("target", metavar="TARGET", help="a notebook, a chapter, a stored result, or module:function")
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
