import nbformat
import numpy as np
import pytest

from capcore.prose import _text, publish


@pytest.mark.parametrize(
    ("value", "text"),
    [(np.array([1, 2]), "1, 2"), (("a",), "a"), ([], "none"), (np.int64(3), 3), (np.float64(0.5), 0.5), ("x", "x")],
)
def test_values_become_what_a_sentence_needs(value, text):
    assert _text(value) == text and type(_text(value)) is type(text)


def test_outside_a_notebook_nothing_happens():
    assert publish(a=1) is None


def test_a_notebook_gets_one_hidden_output_per_value():
    client = pytest.importorskip("nbclient")
    source = "from capcore.prose import publish\npublish(a=1, b=[1, 2])"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    client.NotebookClient(notebook, kernel_name="python3").execute()
    outputs = notebook.cells[0].outputs
    assert [output.metadata["scrapbook"]["name"] for output in outputs] == ["a", "b"]
    assert [output.data["application/papermill.record/text/plain"] for output in outputs] == ["1", "'1, 2'"]
