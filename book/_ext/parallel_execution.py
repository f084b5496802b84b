"""Sphinx extension: notebooks are executed side by side, one for each processor, before the pages are read.

MyST-NB executes a notebook when it reads its page, so one after the other. It takes what the cache holds, and that is
what is filled here. A notebook that fails is left out: MyST-NB executes it again and reports it as usual.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import nbformat
from execution_cache import is_notebook, marked  # type: ignore[import-not-found]  # a neighbour in this folder
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from local_kernels import AsyncLocalKernelManager  # type: ignore[import-not-found]
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.display import status_iterator

MOST = 8  # kernels at once: each has the scientific packages in memory


def n_workers() -> int:
    """Processors that this process may use, and no more than :data:`MOST`."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST)


def execute_notebooks(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Execute the notebooks among ``docnames`` that the cache does not hold, and put them there."""
    cache = get_cache(app.config.nb_execution_cache_path)
    waiting: dict[Path, nbformat.NotebookNode] = {}
    for path in (Path(env.doc2path(name)) for name in docnames if is_notebook(env, name)):
        notebook = nbformat.reads(marked(path.read_text("utf8")), 4)
        try:
            cache.match_cache_notebook(notebook)
        except KeyError:
            waiting[path] = notebook
    if n_workers() < 2 or len(waiting) < 2:
        return
    limit = app.config.nb_execution_timeout
    with ThreadPoolExecutor(n_workers()) as pool:
        paths = {
            pool.submit(
                single_nb_execution,
                notebook,
                str(path.parent),
                limit,
                False,
                kernel_manager_class=AsyncLocalKernelManager,
            ): path
            for path, notebook in waiting.items()
        }
        for done in status_iterator(
            as_completed(paths), "executing notebooks... ", "brown", len(paths), app.verbosity, lambda f: paths[f].stem
        ):
            if done.exception() is None and done.result().err is None:
                run = {"execution_seconds": done.result().time}
                found = CacheBundleIn(done.result().nb, str(paths[done]), data=run)
                cache.cache_notebook_bundle(found, check_validity=False, overwrite=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handler."""
    app.connect("env-before-read-docs", execute_notebooks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
