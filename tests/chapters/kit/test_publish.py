import nbformat
import numpy as np
import pytest

from book._ext.local_kernels import AsyncLocalKernelManager
from chapters.kit.publish import _text, publish


@pytest.mark.parametrize(
    ("value", "text"),
    [(np.array([1, 2]), "1, 2"), (("a",), "a"), ([], "none"), (np.int64(3), 3), (np.float64(0.5), 0.5), ("x", "x")],
)
def test_values_become_what_a_sentence_needs(value, text):
    assert _text(value) == text and type(_text(value)) is type(text)


def test_outside_a_notebook_nothing_happens():
    assert publish(a=1) is None


@pytest.fixture
def outputs():
    """``outputs(source)``: those of one cell, executed in a fresh kernel."""
    client = pytest.importorskip("nbclient")

    def outputs(source):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
        client.NotebookClient(notebook, kernel_name="python3", kernel_manager_class=AsyncLocalKernelManager).execute()
        return notebook.cells[0].outputs

    return outputs


@pytest.mark.ci
def test_a_notebook_gets_one_hidden_output_per_value(outputs):
    found = outputs("from chapters.kit.publish import publish\npublish(a=1, b=[1, 2])")
    assert [output.metadata["scrapbook"]["name"] for output in found] == ["a", "b"]
    assert [output.data["application/papermill.record/text/plain"] for output in found] == ["1", "'1, 2'"]


@pytest.mark.ci
def test_the_output_is_that_of_glue(outputs):
    """What MyST-NB reads is what its own function writes, for text, numbers and truth values."""
    values = ["an ‘x’", 3, 0.1, 1e-7, True, None]
    ours = f"from chapters.kit.publish import publish\nfor value in {values}:\n    publish(key=value)"
    theirs = f"from myst_nb import glue\nfor value in {values}:\n    glue('key', value, display=False)"
    assert outputs(ours) == outputs(theirs)
