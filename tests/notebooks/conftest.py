"""Running the book's notebooks with other parameters, as a reader does with papermill.

Of the tests that execute a notebook, continuous integration runs one of each file (``ci``): that of the variant
which changes most parameters. The others are marked ``slow``.
"""

import os
import re
from pathlib import Path
from unittest import mock

import matplotlib as mpl
import nbformat
import papermill
import pytest
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook
from threadpoolctl import threadpool_limits

from book._ext.local_kernels import AsyncLocalKernelManager
from chapters.claims.registry import load

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as ``ci`` the execution of a notebook that changes most parameters, and all others as slow."""
    executions = {}
    for item in items:
        if item.path.parent == Path(__file__).parent and "quick_execution" in item.fixturenames:
            executions.setdefault(item.path, []).append(item)
    for found in executions.values():
        full = max(found, key=n_changed)
        for item in found:
            item.add_marker(pytest.mark.ci if item is full else pytest.mark.slow)


def pytest_generate_tests(metafunc):
    """What a file calls ``VARIANTS``, name → parameters, its test of ``parameters`` runs with."""
    marked = any(metafunc.definition.iter_markers("parametrize"))
    if "parameters" in metafunc.fixturenames and not marked:
        metafunc.parametrize("parameters", metafunc.module.VARIANTS.values(), ids=metafunc.module.VARIANTS)


@pytest.fixture
def own(request):
    """The notebook that the test's file is named after."""
    return request.module.__name__.rpartition("test_")[2]


def n_changed(item):
    """How many parameters a variant changes, as far as the test's own parameters say."""
    return len(item.callspec.params.get("parameters", ())) if hasattr(item, "callspec") else 0


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


def said(notebook):
    """Everything that the cells of a notebook say, captions included, as one text."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "\n".join(output["data"]["text/markdown"] for output in outputs if "text/markdown" in output.get("data", {}))


def check(values, ids, always):
    """All checks of these claims are recorded, and those that hold whatever the parameters do."""
    registry = load()
    assert set(values) == {f"{id}.{check.name}" for id in ids for check in registry[id].checks}
    for key in always:
        id, name = key.rsplit(".", 1)
        assert registry[id].check(name).test.holds(values[key]), f"{key}: found {values[key]}"


@pytest.fixture
def quick_execution(monkeypatch):
    """What kernels inherit: figures are made and not rendered, which would take half of the time.

    How JAX compiles, and that what one notebook has compiled the next one reads, all tests inherit from ``quick_xla``.
    """
    monkeypatch.setenv("CAPCORE_FIGURES", "off")


@pytest.fixture
def run(tmp_path, quick_execution, own):
    """``run(**parameters)``: the file's notebook, or one that is named first, executed; fails where a cell fails."""

    def run(name=own, /, **parameters):
        target = tmp_path / f"{name}.ipynb"
        execute(name, target, parameters)
        return nbformat.read(target, as_version=4)

    return run


@pytest.fixture
def values(run, recorded, request, parameters):
    """What the file's notebook records with its ``FAST`` parameters and those of a variant."""
    return recorded(run(**{**request.module.FAST, **parameters}))


@pytest.fixture
def drawn(run, monkeypatch):
    """``drawn(**parameters)``: :func:`run` with its figures rendered, and how many there are checked."""

    def drawn(*name, **parameters):
        monkeypatch.setenv("CAPCORE_FIGURES", "on")
        notebook = run(*name, **parameters)
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
def refused(monkeypatch, own):
    """``refused(message, **parameters)``: check that the file's notebook, or one named second, refuses in one line.

    ``message`` is a regular expression that the line must contain; the line is returned. The cells, with the one that
    papermill injects, run in this process up to the one that refuses; ``test_refusals`` holds that a kernel does so,
    too. What they change in the process is put back: threads, style, folder, environment, figures, what was changed.
    """
    import matplotlib.pyplot as plt

    from chapters.kit.parameters import CHANGED
    from chapters.kit.start import ParameterError

    mpl.use("Agg")
    monkeypatch.chdir(NOTEBOOKS)

    def refused(message, name=own, /, **parameters):
        notebook = load_notebook_node(str(NOTEBOOKS / f"{name}.ipynb"))
        notebook = parameterize_notebook(notebook, parameters, kernel_name="python3", language="python")
        with pytest.raises(ParameterError) as caught:
            run_here(name, notebook)
        assert re.search(message, str(caught.value)), f"found {str(caught.value)!r}, expected {message!r}"
        assert caught.value._render_traceback_() == [f"ParameterError: {caught.value}"]
        return str(caught.value)

    def run_here(name, notebook):
        namespace = {"__name__": "__main__"}
        n_threads = int(os.environ["OMP_NUM_THREADS"])
        with threadpool_limits(n_threads), mpl.rc_context(), mock.patch.dict(os.environ):
            for number, cell in enumerate(notebook.cells):
                if cell.cell_type == "code":
                    exec(compile(cell.source, f"{name}, cell {number}", "exec"), namespace)

    yield refused
    CHANGED.clear()
    plt.close("all")


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
