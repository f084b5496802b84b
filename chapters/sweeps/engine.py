"""A sweep: every run that has no result yet is done, and its result kept.

Files that are named by what decides them are the only truth. So a sweep that was stopped, however, goes on where it
was; two sweeps repeat nothing of each other; and how often a run was lost changes no result. Folders of several
machines with the same code can be copied together.
"""

import os
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from chapters.sweeps import runs
from chapters.sweeps.grid import Grid, check_grid
from chapters.sweeps.job import Job, read_answer
from chapters.sweeps.notebooks import NotebookError
from chapters.sweeps.store import Store
from chapters.sweeps.target import jobs_of


class Workers:
    """This machine, with ``slots`` runs at once: by default one for each processor."""

    def __init__(self, count: int | None = None) -> None:
        if count is not None and count < 1:
            raise NotebookError(f"workers: found {count}, expected at least 1, or none at all: one for each processor.")
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.slots = count or usable
        self._stop = threading.Event()

    def perform(self, job: Job) -> str:
        """The answer of a run, once it has ended."""
        return runs.perform(job, self._stop.is_set)

    def close(self) -> None:
        """Stop everything."""
        self._stop.set()


def sweep(
    target: str,
    grid: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    results: str | Path,
    *,
    workers: int | None = None,
    seconds: float | None = None,
    memory_mb: float | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """The table of all runs of a grid, of which those are done that ``results`` does not hold.

    Parameters
    ----------
    target : str
        A notebook's file or chapter, a stored result, or ``module:function``.
    grid : mapping or iterable of mapping
        As in a grid file (``grid``), or the settings themselves.
    results : path
        A folder.
    workers : int, optional
        Runs at once; by default one for each processor.
    seconds, memory_mb : float, optional
        Most that a run may take. One that takes more is an error in the table.
    progress : bool
        Show a bar.

    Raises
    ------
    NotebookError
        Before anything is run, for what cannot be used.
    """
    jobs = plan(target, grid, seconds=seconds, memory_mb=memory_mb)
    store = Store(results)
    with store.alone():
        run(jobs, store, Workers(workers), progress)
    return store.table(jobs)


def plan(target: str, grid: Any, **limits: float | None) -> list[Job]:
    """The jobs of a grid, each setting once."""
    for name, limit in limits.items():
        if limit is not None and not 0 < limit < float("inf"):
            raise NotebookError(f"{name}: found {limit!r}, expected a finite number above 0, or none at all.")
    grid = check_grid(grid) if isinstance(grid, Mapping) else grid
    return jobs_of(target, grid.settings() if isinstance(grid, Grid) else grid, **limits)


def missing(jobs: Iterable[Job], store: Store) -> list[Job]:
    """Those without a result."""
    return [job for job in jobs if store.row(job.key) is None]


def run(jobs: list[Job], store: Store, workers: Workers, progress: bool = False) -> None:
    """Have the workers do what is missing, and keep it; ``progress`` shows a bar."""
    todo = missing(jobs, store)
    pool = ThreadPoolExecutor(workers.slots)
    bar = tqdm(total=len(jobs), initial=len(jobs) - len(todo), unit="run", disable=not progress, smoothing=0.05)
    try:
        asked = {pool.submit(workers.perform, job): job for job in todo}
        for future in as_completed(asked):
            row, notebook = read_answer(asked[future], future.result())
            store.keep(row, notebook)
            bar.update()
    finally:
        workers.close()
        pool.shutdown(cancel_futures=True)
        bar.close()
