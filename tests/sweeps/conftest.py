"""A notebook of a few lines, which publishes and records as a chapter does."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.sweeps.processes import Sweeps

PARAMETERS = """\
n: int = 3  # terms; the paper has 512 to 1,024, at most 2**10
scale: float = 1.0  # of each, between -2 and 2
word: str = "plain"  # what it is: plain or fancy
sizes: list = [1, 2]  # of the parts
either: "int or list" = 4  # one number, or several
series: str = ""  # path of a file
"""
WORK = """\
from IPython.display import publish_display_data
from chapters.kit.publish import publish
if word == "fancy":
    raise RuntimeError("no fancy things")
total = n * scale
publish(total=total, word=word)
tests = {"gap": {"at_most": 3.0}}
publish_display_data(
    {"text/plain": "claim"}, {"capcore": {"claim": "P9.01", "values": {"gap": total}, "tests": tests}}
)
print(total)
"""


def toy(path, work=WORK, parameters=PARAMETERS):
    """Write the notebook, with these cells, and return its path."""
    cells = [new_code_cell(parameters, metadata={"tags": ["parameters"]}), new_code_cell(work)]
    nbformat.write(new_notebook(cells=cells), path)
    return path


@pytest.fixture
def sweeps(tmp_path):
    sweeps = Sweeps(tmp_path)
    yield sweeps
    assert sweeps.close() == []


@pytest.fixture
def notebook(tmp_path):
    return toy(tmp_path / "toy.ipynb")
