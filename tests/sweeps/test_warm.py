"""Warm runs give what papermill gives, output for output, and so do plain ones."""

import json
import re
import sys

import nbformat
import papermill
import pytest

from chapters.kit.parameters import parameters_of
from chapters.sweeps import engine
from chapters.sweeps.declared import by_types
from chapters.sweeps.places import notebook_path
from chapters.sweeps.runner import Runner
from tests.sweeps.conftest import PARAMETERS, toy

CHAPTERS = [
    ("idea", {"correlation": 0.2, "channels": 1}),
    ("linear_systems", {"process": "AR1", "n_layers": 4, "n_spaces": 5, "n_samples": 500}),
]
TRACES = """\
import os, sys, warnings
import numpy as np
print("out", flush=True); print("err", file=sys.stderr, flush=True)
display({"a": 1}); warnings.warn("careful")
assert sys.stdin is not None and os.getcwd()
np.arange(3)
"""


def outputs(notebook):
    """What was shown, and in which cell; streams of one cell joined, since they may come in pieces."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            plain = [dict(output) for output in cell.outputs if output.output_type != "stream"]
            streams = {o.name: "" for o in cell.outputs if o.output_type == "stream"}
            for output in cell.outputs:
                if output.output_type == "stream":
                    streams[output.name] += re.sub(r"ipykernel_\d+", "ipykernel", output.text)  # its process
            found.append((cell.source, cell.execution_count, plain, streams))
    return found


def by_papermill(path, given, target):
    papermill.execute_notebook(
        path, target, given, kernel_name="python3", language="python", cwd=path.parent, progress_bar=False
    )
    return outputs(nbformat.read(target, as_version=4))


def compared(path, given, tmp_path, monkeypatch, ways=(True, False)):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    expected = by_papermill(path, given, tmp_path / "papermill.ipynb")
    runner = Runner()
    try:
        for warm in ways:
            (job,) = engine.plan(str(path), [given], warm=warm, keep="all")
            content = json.loads(runner.perform(job))
            assert content["found"]["error"] == ""
            assert outputs(nbformat.reads(content["notebook"], as_version=4)) == expected
    finally:
        runner.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="runs are forked on Linux only")
@pytest.mark.parametrize(("name", "given"), CHAPTERS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_chapter_runs_as_under_papermill(name, given, tmp_path, monkeypatch):
    compared(notebook_path(name), given, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    "work", [TRACES, "import jax.numpy as jnp\nprint(jnp.arange(3).sum())"], ids=["streams", "jax"]
)
def test_streams_warnings_and_jax(work, tmp_path, monkeypatch):
    compared(toy(tmp_path / "toy.ipynb", work=work), {"n": 4}, tmp_path, monkeypatch, ways=(True,))


@pytest.mark.slow
def test_a_failed_cell_leaves_its_notebook_and_the_others_go_on(notebook, tmp_path):
    grid = {"product": {"word": ["plain", "fancy"], "n": [3, 4]}}
    table = engine.sweep(str(notebook), grid, tmp_path / "results")
    assert set(table.loc[table["word"] == "fancy", "error"]) == {"RuntimeError: no fancy things"} and len(table) == 4
    assert set(table.loc[table["word"] == "plain", "error"]) == {""}
    assert table["total"].dropna().tolist() == [3.0, 4.0] == table["P9.01.gap"].dropna().tolist()
    left = list((tmp_path / "results").glob("failed/*/*.ipynb"))
    assert len(left) == 2 and "no fancy things" in left[0].read_text()
    assert set(table.columns) > {each.name for each in parameters_of(by_types(PARAMETERS))} | {
        "word_found",
        "seconds",
        "memory_mb",
    }


@pytest.mark.slow
def test_a_kernel_may_die_or_take_too_much_or_never_return(tmp_path):
    work = """
import os, numpy as np
if word == "fancy":
    os.kill(os.getpid(), 9)
if n == 4:
    np.ones(2**28)
if n == 5:
    sum(iter(int, 1))
"""
    path = toy(tmp_path / "toy.ipynb", work=work)
    settings = [{"word": "fancy"}, {"n": 4}, {"n": 5}, {"n": 6}]
    for warm in (True, False):
        table = engine.sweep(str(path), settings, tmp_path / str(warm), memory_mb=500, seconds=40, warm=warm)
        errors = table.set_index(["word", "n"])["error"]
        assert "DeadKernelError" in errors["fancy", 3] and "MemoryError" in errors["plain", 4]
        assert errors["plain", 5].startswith("TimeLimit") and errors["plain", 6] == ""


PORTS = """
import os
from pathlib import Path
mine = {os.readlink(each) for each in Path("/proc/self/fd").iterdir() if os.path.lexists(each)}
rows = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/self/net", name).read_text().splitlines()[1:]]
listening = [row[1].split(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine]
assert listening in ([], ["0100007F"]), listening  # 127.0.0.1
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ports are read from /proc")
def test_no_run_opens_a_port_beyond_loopback(tmp_path):
    """One at most, where the kernel collects what its own child processes print; papermill's kernels listen on more."""
    path = toy(tmp_path / "toy.ipynb", work=PORTS)
    with pytest.raises(papermill.PapermillExecutionError, match="AssertionError"):
        by_papermill(path, {}, tmp_path / "papermill.ipynb")
    for warm in (True, False):
        assert set(engine.sweep(str(path), [{"n": 4}], tmp_path / str(warm), warm=warm)["error"]) == {""}
