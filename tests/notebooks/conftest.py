"""Running the book's notebooks with other parameters, as a reader does with papermill."""

import os
import re
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import nbformat
import papermill
import pytest
from papermill.exceptions import PapermillExecutionError

from book._ext.local_kernels import AsyncLocalKernelManager

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
XLA_FLAGS = ("--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1")
"""One kernel per operation in place of fused ones, compiled in one piece."""
STARTS_XLA = "import jax; jax.devices()"


def execute(name, target, parameters):
    """Execute ``notebooks/<name>.ipynb`` into ``target``, in the notebooks' own directory."""
    papermill.execute_notebook(
        NOTEBOOKS / f"{name}.ipynb",
        target,
        parameters=parameters,
        kernel_name="python3",
        cwd=NOTEBOOKS,
        progress_bar=False,
        kernel_manager_class=AsyncLocalKernelManager,
    )


@pytest.fixture(autouse=True)
def figures_off(monkeypatch):
    """Figures are made and not rendered: setting their text would take half of the time."""
    monkeypatch.setenv("CAPCORE_FIGURES", "off")


@cache
def known_flags():
    """Those of the flags for quick compilation that the installed XLA knows: at one it does not know it stops."""
    if find_spec("jax") is None or "XLA_FLAGS" in os.environ:
        return ()

    def starts(*flags):
        environment = {**os.environ, "XLA_FLAGS": " ".join(flags)}
        return not subprocess.run([sys.executable, "-c", STARTS_XLA], env=environment, capture_output=True).returncode

    return XLA_FLAGS if starts(*XLA_FLAGS) else tuple(flag for flag in XLA_FLAGS if starts(flag))


@pytest.fixture(autouse=True)
def quick_compilation(monkeypatch, tmp_path_factory):
    """JAX compiles less thoroughly, and what one notebook has compiled the next one reads.

    Variants train for a few steps, and compiling took most of their time. Settings of one's own are kept.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    settings = {
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
        "XLA_FLAGS": " ".join(known_flags()),
        "JAX_COMPILATION_CACHE_DIR": str(shared / "compiled"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, os.environ.get(name, value))


@pytest.fixture
def run(tmp_path):
    """``run(name, **parameters)``: the executed notebook; fails where a cell fails."""

    def run(name, **parameters):
        target = tmp_path / f"{name}.ipynb"
        execute(name, target, parameters)
        return nbformat.read(target, as_version=4)

    return run


@pytest.fixture
def drawn(run, monkeypatch):
    """``drawn(name, **parameters)``: :func:`run` with its figures rendered, and how many there are checked."""

    def drawn(name, **parameters):
        monkeypatch.setenv("CAPCORE_FIGURES", "on")
        notebook = run(name, **parameters)
        planned = [cell.id for cell in notebook.cells if "figure" in cell.metadata.get("mystnb", {})]
        images = [
            cell.id
            for cell in notebook.cells
            if any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))
        ]
        assert images == planned and planned
        return notebook

    return drawn


@pytest.fixture
def refused(tmp_path):
    """``refused(name, message, **parameters)``: check that the parameters are refused with one readable line.

    ``message`` is a regular expression that the line must contain; the line is returned.
    """

    def refused(name, message, **parameters):
        target = tmp_path / f"{name}.ipynb"
        with pytest.raises(PapermillExecutionError) as caught:
            execute(name, target, parameters)
        assert caught.value.ename == "ParameterError", f"found {caught.value.ename}: {caught.value.evalue}"
        assert re.search(message, caught.value.evalue), f"found {caught.value.evalue!r}, expected {message!r}"
        shown = [
            output
            for cell in nbformat.read(target, as_version=4).cells
            for output in cell.get("outputs", [])
            if output.output_type == "error"
        ]
        assert [output.traceback for output in shown] == [[f"ParameterError: {caught.value.evalue}"]]
        return caught.value.evalue

    return refused


@pytest.fixture
def recorded():
    """``recorded(notebook)``: claim.check → value, as recorded by an executed notebook."""

    def recorded(notebook):
        return {
            f"{evidence['claim']}.{name}": value
            for cell in notebook.cells
            for output in cell.get("outputs", [])
            for evidence in [output.get("metadata", {}).get("capcore", {})]
            for name, value in evidence.get("values", {}).items()
        }

    return recorded
