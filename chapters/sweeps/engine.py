"""A sweep: every run that has no result yet is done, wherever it is done, and its result kept.

Files that are named by what decides them are the only truth. So a sweep that was stopped, however, goes on where it
was; two sweeps repeat nothing of each other; and where a run is done, or how often it was lost, changes no result.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capcore.checkpoints.tensors import shown
from capcore.sweeps import load_sweep
from chapters.sweeps.declared import NotebookError
from chapters.sweeps.grid import check_grid, settings_of
from chapters.sweeps.job import Job, read_answer
from chapters.sweeps.store import Store
from chapters.sweeps.target import target_of
from chapters.sweeps.workers import Dask, Here, LostError, Workers

if TYPE_CHECKING:
    import pandas as pd

QUEUED = 2  # runs that wait for each slot, at most
PAUSE = 0.01  # seconds between looks at what has been answered
LOSSES = 5  # how often a run is submitted again


def sweep(
    target: str,
    grid: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    results: str | Path,
    *,
    cluster: Any = None,
    workers: int | None = None,
    seconds: float | None = None,
    memory_mb: float | None = None,
    warm: bool = True,
    keep: str = "failed",
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
    cluster : Dask cluster or address, optional
        Where runs are done; by default on this machine.
    workers : int, optional
        Runs at once on this machine; by default one for each processor.
    seconds, memory_mb : float, optional
        Most that a run may take. One that takes more is an error in the table.
    warm : bool
        Fork runs from a process that has imported what they need, instead of starting each.
    keep : str
        Whose executed notebooks are kept: ``failed``, ``all`` or ``none``.
    progress : bool
        Show a bar.

    Raises
    ------
    NotebookError
        Before anything is run, for what cannot be used.
    """
    jobs = plan(target, grid, seconds=seconds, memory_mb=memory_mb, warm=warm, keep=keep)
    store = Store(results)
    with store.alone():
        run(jobs, store, lambda: Here(workers) if cluster is None else Dask(cluster), bar(len(jobs), progress))
    return load_sweep(results)


def plan(target: str, grid: Any, **limits: Any) -> list[Job]:
    """The jobs of a grid, each setting once."""
    if limits.get("keep") not in (None, "failed", "all", "none"):
        raise NotebookError(f"keep: found {limits['keep']!r}, expected failed, all or none.")
    for name in ("seconds", "memory_mb"):
        if limits.get(name) is not None and not 0 < limits[name] < float("inf"):
            raise NotebookError(f"{name}: found {limits[name]!r}, expected a finite number above 0, or none at all.")
    listed = settings_of(check_grid(grid)) if isinstance(grid, Mapping) else grid
    return target_of(target).jobs(listed, **limits)


def missing(jobs: Iterable[Job], store: Store) -> list[Job]:
    """Those without a result."""
    return [job for job in jobs if store.row(job.key) is None]


def run(jobs: list[Job], store: Store, workers: Callable[[], Workers], note: Callable[..., None]) -> None:
    """Do what is missing; ``note(done, failed)`` is called for what there was, and for every run."""
    if not jobs:
        raise NotebookError("grid: found no settings, expected at least one.")
    todo = missing(jobs, store)
    hands = workers() if todo else None
    running: dict[str, tuple[Job, Any]] = {}
    lost: dict[str, int] = {}
    try:
        store.describe({"target": jobs[0].target, "code": jobs[0].code, "runs": len(jobs), "limits": _limits(jobs[0])})
        for old, new in store.set_aside(job.key for job in todo).items():
            print(f"{shown(old)}: cannot be read as a result; moved to {shown(new)}, and run again.", file=sys.stderr)
        note(len(jobs) - len(todo), False)
        todo.reverse()
        most = hands.slots() * (1 + QUEUED) if hands else 0
        while hands and (todo or running):
            while todo and len(running) < most:
                job = todo.pop()
                running[job.key] = (job, hands.submit(job))
            before = len(running)
            for job, handle in list(running.values()):
                try:
                    text = hands.answered(handle)
                except LostError:
                    lost[job.key] = lost.get(job.key, 0) + 1
                    del running[job.key]
                    if lost[job.key] <= LOSSES:
                        todo.append(job)
                        continue
                    row, notebook = job.row(error=f"Lost: {LOSSES + 1} times, with its worker or scheduler"), ""
                else:
                    if text is None:
                        continue
                    del running[job.key]
                    row, notebook = read_answer(job, text)
                store.keep(row, notebook)
                note(1, bool(row["run"]["error"]))
            if len(running) == before:
                time.sleep(PAUSE)
                most = hands.slots() * (1 + QUEUED) if isinstance(hands, Here) else most
    finally:
        if hands:
            hands.close()


def bar(total: int, shown: bool) -> Callable[..., None]:
    """A progress bar with the time left and the number of failures, on the standard error stream."""
    from tqdm import tqdm

    line = tqdm(total=total, unit="run", disable=not shown, smoothing=0.05)
    failures = 0

    def note(count: int, failed: bool) -> None:
        nonlocal failures
        failures += failed
        if failures:
            line.set_postfix(failed=failures, refresh=False)
        if line.n == 0 and count > 1:
            line.initial = count  # what was there takes no time
        line.update(count)
        if line.n >= total:
            line.close()

    return note


def _limits(job: Job) -> dict[str, Any]:
    return {"seconds": job.seconds, "memory_mb": job.memory_mb, "warm": job.warm}
