"""Refused parameters from end to end; the other tests of refusals run the cells in their own process."""

import os
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import papermill
import pytest
from papermill.exceptions import PapermillExecutionError
from threadpoolctl import threadpool_info

from book._ext.local_kernels import AsyncLocalKernelManager

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
NAME, BAD = "linear_systems", {"process": "Wiener"}


def test_a_kernel_shows_one_line(tmp_path, refused):
    """With papermill, as a reader runs it: the same line as in process, and no traceback around it."""
    target = tmp_path / "copy.ipynb"
    with pytest.raises(PapermillExecutionError) as caught:
        papermill.execute_notebook(
            NOTEBOOKS / f"{NAME}.ipynb",
            target,
            parameters=BAD,
            kernel_name="python3",
            cwd=NOTEBOOKS,
            progress_bar=False,
            kernel_manager_class=AsyncLocalKernelManager,
        )
    assert caught.value.ename == "ParameterError"
    assert caught.value.evalue == refused(NAME, "process: found 'Wiener'", **BAD)
    outputs = [output for cell in nbformat.read(target, as_version=4).cells for output in cell.get("outputs", [])]
    shown = [output.traceback for output in outputs if output.output_type == "error"]
    assert shown == [[f"ParameterError: {caught.value.evalue}"]]


def test_nothing_is_left_behind_in_this_process(refused):
    def state():
        threads = [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()]
        return threads, dict(mpl.rcParams), os.getcwd(), dict(os.environ), plt.get_fignums()

    before = state()
    refused(NAME, "process", **BAD)
    assert state() == before
