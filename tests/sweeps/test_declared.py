"""Parameters of a notebook of one's own: names, types, defaults and meanings as its cell has them, and no ranges."""

import pytest

from chapters.idea.parameters import Parameters
from chapters.kit.parameters import parameters_of
from chapters.sweeps.choosing import checked
from chapters.sweeps.declared import NotebookError, by_types, read_notebook
from tests.sweeps.conftest import PARAMETERS, toy


def test_a_cell_is_read():
    found = {each.name: each for each in parameters_of(by_types(PARAMETERS))}
    kinds = {"n": "int", "scale": "float", "word": "str", "sizes": "list", "either": "int or list", "series": "str"}
    assert {name: each.kind for name, each in found.items()} == kinds
    assert [each.default for each in found.values()] == [3, 1.0, "plain", [1, 2], 4, ""]
    assert found["word"].meaning == "what it is: plain or fancy"


def test_comments_are_text():
    """English such as "the paper has 512 to 1,024" and "at most 2**10" once gave ranges."""
    declaration = by_types(PARAMETERS)
    assert all(each.range == "" for each in parameters_of(declaration))
    assert checked(declaration, {"n": 32, "word": "anything", "scale": 9.0}) == {
        "n": 32,
        "word": "anything",
        "scale": 9.0,
    }


@pytest.mark.parametrize(
    ("line", "kind", "default"),
    [
        ("a = 2**20", "int", 1048576),
        ("a: int | None = None", "int or None", None),
        ("a: list[int] = [1]", "list", [1]),
        ("a: Path = ''", "any", ""),
        ("schema: int = 1", "int", 1),
        ("model_config: int = 1", "int", 1),
        ("_a: int = 1", "int", 1),
    ],
)
def test_lines_of_all_kinds(line, kind, default):
    (found,) = parameters_of(by_types(line))
    assert (found.name, found.kind, found.default) == (line.split(":")[0].split(" ")[0], kind, default)


def test_a_notebook_that_names_a_declaration_has_it(tmp_path):
    path = toy(tmp_path / "copy.ipynb", work="from chapters.idea.parameters import Parameters")
    assert read_notebook(path)[1] is Parameters


@pytest.mark.parametrize(
    ("parameters", "work"),
    [
        ("n: int = f(3)", ""),
        ("n: int = 1 / 0", ""),
        ("n: int =", ""),
        ("n: int = 1", "from chapters.no.parameters import Parameters"),
    ],
)
def test_parameters_that_cannot_be_read_are_one_line(tmp_path, parameters, work):
    path = toy(tmp_path / "x.ipynb", work=work, parameters=parameters)
    with pytest.raises(NotebookError, match=r"x\.ipynb: found parameters that cannot be read"):
        read_notebook(path)


def test_what_is_no_notebook(tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_text("{}")
    with pytest.raises(NotebookError, match=r"x\.ipynb"):
        read_notebook(path)
    toy(path, parameters="")
    assert parameters_of(read_notebook(path)[1]) == ()
