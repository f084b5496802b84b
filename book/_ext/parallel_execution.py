"""Sphinx extension: notebooks are executed side by side, one for each processor, before the pages are read.

MyST-NB executes a notebook when it reads its page, so one after the other. It takes what the cache holds, and that is
what is filled here. A notebook that fails is left out: MyST-NB executes it again and reports it as usual.
Interrupted, it kills the kernels, keeps what is finished, says how much that is, and ends within seconds.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import suppress
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import Any, ClassVar

import nbformat
from execution_cache import is_notebook, marked  # type: ignore[import-not-found]  # a neighbour in this folder
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from local_kernels import AsyncLocalKernelManager  # type: ignore[import-not-found]
from nbclient import NotebookClient
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.display import status_iterator

MOST = 8  # kernels at once: each has the scientific packages in memory
PATIENCE = 5.0  # seconds that an interrupted build waits for its killed kernels to be noticed, which is once a second


def n_workers() -> int:
    """Processors that this process may use, and no more than :data:`MOST`."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST)


def execute_notebooks(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Execute the notebooks among ``docnames`` that the cache does not hold, and put them there."""
    cache = get_cache(app.config.nb_execution_cache_path)
    notebooks = [Path(env.doc2path(name)) for name in docnames if is_notebook(env, name)]
    waiting: dict[Path, nbformat.NotebookNode] = {}
    for path in notebooks:
        notebook = nbformat.reads(marked(path.read_text("utf8")), 4)
        try:
            cache.match_cache_notebook(notebook)
        except KeyError:
            waiting[path] = notebook
    if not waiting:
        return
    pool = ThreadPoolExecutor(n_workers())
    limit = app.config.nb_execution_timeout
    paths = {pool.submit(execute, notebook, path, limit): path for path, notebook in waiting.items()}
    kept: set[Path] = set()
    try:
        for done in status_iterator(
            as_completed(paths), "executing notebooks... ", "brown", len(paths), app.verbosity, lambda f: paths[f].stem
        ):
            keep(cache, paths[done], done, kept)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        StoppableKernelManager.kill_all()
        for done in wait(paths, PATIENCE).done:
            keep(cache, paths[done], done, kept)
        ready = len(notebooks) - len(waiting) + len(kept)
        message = (
            f"Stopped: {ready} of {len(notebooks)} notebooks are executed and kept; `make book` goes on from there."
        )
        print(f"\n{message}", file=sys.stderr, flush=True)
        raise
    pool.shutdown()


def execute(notebook: nbformat.NotebookNode, path: Path, limit: int) -> CacheBundleIn:
    """The notebook, executed in its folder with at most ``limit`` seconds for each cell, as the cache takes it."""
    resources = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(
        notebook,
        timeout=limit,
        record_timing=False,
        resources=resources,
        kernel_manager_class=StoppableKernelManager,
    )
    start = perf_counter()
    try:
        client.execute()
    finally:  # nbclient leaves this behind where a kernel is killed while it starts, to fail when the process ends
        atexit.unregister(client._cleanup_kernel)
    return CacheBundleIn(notebook, str(path), data={"execution_seconds": perf_counter() - start})


def keep(cache: JupyterCacheAbstract, path: Path, done: Future[CacheBundleIn], kept: set[Path]) -> None:
    """Put what ``done`` has executed without an error into the cache, unless it is among those ``kept``."""
    if path in kept or done.cancelled() or done.exception() is not None:
        return
    cache.cache_notebook_bundle(done.result(), check_validity=False, overwrite=True)
    kept.add(path)


class StoppableKernelManager(AsyncLocalKernelManager):
    """Its kernels can be killed from another thread, those that are just starting included; figures as for a page."""

    variables: ClassVar = {**AsyncLocalKernelManager.variables, "CAPCORE_FIGURES": "book"}
    started: ClassVar[list[StoppableKernelManager]] = []
    stopped: ClassVar[Event] = Event()

    async def start_kernel(self, **options: Any) -> None:
        """Start the kernel, or none where all are to stop."""
        await super().start_kernel(**options)
        self.started.append(self)
        if self.stopped.is_set():
            self.kill()

    def kill(self) -> None:
        """Kill the kernel and, where the system has groups of processes, what it has started."""
        process = getattr(self.provisioner, "process", None)
        if process is None or process.poll() is not None:
            return
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()

    @classmethod
    def kill_all(cls) -> None:
        """Kill those that run, and whatever starts from now on."""
        cls.stopped.set()
        for manager in list(cls.started):
            manager.kill()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handler."""
    app.connect("env-before-read-docs", execute_notebooks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
