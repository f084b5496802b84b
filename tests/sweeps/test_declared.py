"""Parameters as a notebook's own cell describes them; what is outside their ranges is refused by the notebook, too."""

from pathlib import Path

import papermill
import pytest

from chapters.sweeps.declared import NotebookError, parameters_of, read_notebook
from tests.notebooks.conftest import refused  # noqa: F401  # a fixture
from tests.sweeps.conftest import PARAMETERS, toy

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
ALL = [(path.stem, each) for path in NOTEBOOKS for each in read_notebook(path)[1]]


def test_a_cell_is_read():
    found = {each.name: each for each in parameters_of(PARAMETERS)}
    assert [each.range for each in found.values()] == ["at least 2", "-2 to 2", "plain, fancy", "", "", ""]
    assert found["either"].kinds == ("int", "list") and found["series"].is_path
    assert [each.default for each in found.values()] == [3, 1.0, "plain", [1, 2], 4, ""]
    assert found["n"].meaning == "terms, at least 2"


def test_every_parameter_of_every_chapter_is_read_and_described():
    """Papermill's reader leaves some out: those with types in quotes and with negative keys."""
    hidden = 0
    for path in NOTEBOOKS:
        mine = read_notebook(path)[1]
        theirs = papermill.inspect_notebook(path)
        assert set(theirs) <= {each.name for each in mine}
        hidden += len(mine) - len(theirs)
    assert hidden > 0
    assert [(stem, each.name) for stem, each in ALL if not each.meaning or not each.kinds] == []


def test_what_is_no_notebook(tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_text("{}")
    with pytest.raises(NotebookError, match=r"x\.ipynb"):
        read_notebook(path)
    toy(path, parameters="")
    assert read_notebook(path)[1] == ()


def beyond(parameter):
    """A value just outside the range."""
    if parameter.choices:
        return parameter.choices[0] + "x"
    step = 1 if "int" in parameter.kinds else 0.1
    return parameter.low - step if parameter.low is not None else parameter.high + step


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stem", "parameter"),
    [(stem, each) for stem, each in ALL if each.range],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_range_is_that_of_the_notebooks_own_check(refused, stem, parameter):  # noqa: F811
    refused(stem, "expected", **{parameter.name: beyond(parameter)})
