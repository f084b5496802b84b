"""Refused parameters from end to end; the other tests of refusals run the cells in their own process."""

import os

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import pytest
from papermill.exceptions import PapermillExecutionError
from threadpoolctl import threadpool_info

from tests.notebooks.conftest import execute

NAME, BAD = "linear_systems", {"process": "Wiener"}


def test_a_kernel_shows_one_line(tmp_path, refused):
    """With papermill, as a reader runs it: the same line as in process, and no traceback around it."""
    target = tmp_path / "copy.ipynb"
    with pytest.raises(PapermillExecutionError) as caught:
        execute(NAME, target, BAD)
    assert caught.value.ename == "ParameterError"
    assert caught.value.evalue == refused("process: found 'Wiener'", NAME, **BAD)
    outputs = [output for cell in nbformat.read(target, as_version=4).cells for output in cell.get("outputs", [])]
    shown = [output.traceback for output in outputs if output.output_type == "error"]
    assert shown == [[f"ParameterError: {caught.value.evalue}"]]


def test_nothing_is_left_behind_in_this_process(refused):
    def state():
        threads = [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()]
        return threads, dict(mpl.rcParams), os.getcwd(), dict(os.environ), plt.get_fignums()

    before = state()
    refused("process", NAME, **BAD)
    assert state() == before
