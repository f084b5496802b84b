"""Doing one run, in a process of its own: a notebook through papermill, or a function."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from chapters.sweeps import job as jobs
from chapters.sweeps.job import Job
from chapters.sweeps.limits import LINUX, limit_memory

ANSWER = "answer.json"


def perform(job: Job, folder: Path) -> None:
    """Do it and write the answer into ``folder``; an error of whatever kind is an answer, too."""
    begin = time.perf_counter()
    notebook = ""
    try:
        if job.source:
            found, notebook = _notebook(job, folder)
        else:
            found = {"values": _function(job)}
    except BaseException as error:
        found = {"error": f"{type(error).__name__}: {error}"[:2000]}
    found |= {"seconds": round(time.perf_counter() - begin, 3), "memory_mb": memory(), "versions": jobs.versions()}
    wanted = job.keep == "all" or (job.keep == "failed" and found.get("error"))
    draft = folder / f".{ANSWER}"
    draft.write_bytes(jobs.answer(found, notebook if wanted else ""))
    draft.replace(folder / ANSWER)


def memory() -> float | None:
    """Most memory, in MB, that the largest of this process and its children has had; the kernel, for a notebook."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(
        max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / unit, 1
    )


def _notebook(job: Job, folder: Path) -> tuple[dict[str, Any], str]:
    from chapters.sweeps.kernels import RunKernelManager, Seed

    RunKernelManager.folder, RunKernelManager.memory_mb = str(folder), job.memory_mb
    if job.warm and LINUX:
        RunKernelManager.seed = Seed(job.memory_mb)
    import nbformat

    from chapters.sweeps import outcome
    from chapters.sweeps.rerun import execute

    source, target = folder / "source.ipynb", folder / "executed.ipynb"
    source.write_text(job.source, "utf8")
    error = ""
    try:
        executed = execute(
            source,
            target,
            job.given or {},
            cwd=job.folder if job.folder and Path(job.folder).is_dir() else folder,
            kernel_manager_class=RunKernelManager,
            request_save_on_cell_execute=False,
        )
    except Exception as problem:  # the kernel died
        if not target.is_file():
            raise
        executed, error = nbformat.read(target, as_version=4), f"{type(problem).__name__}: {problem}"[:2000]
    found = {"values": outcome.published(executed), "claims": outcome.claimed(executed)}
    return {**found, "error": outcome.error_of(executed) or error}, target.read_text("utf8")


def _function(job: Job) -> dict[str, Any]:
    """The values of a function, each a number, a text or a list of them."""
    limit_memory(job.memory_mb)
    module, _, name = job.target.partition(":")
    function = getattr(import_module(module), name)
    known = signature(function).parameters
    values = function(settings=job.settings) if "settings" in known else function(**job.settings)
    if not isinstance(values, Mapping):
        raise TypeError(f"{job.target}: found {type(values).__name__}, expected a mapping of values.")
    plain: dict[str, Any] = json.loads(json.dumps(dict(values), default=lambda value: value.tolist()))
    return plain
