"""Parameters of a notebook of one's own: names, types, defaults and meanings as its cell has them, and no ranges."""

import pytest

from chapters.idea.parameters import Parameters
from chapters.kit.parameters import parameters_of
from chapters.kit.publish import GLUE_PREFIX
from chapters.sweeps import target
from chapters.sweeps.notebooks import NotebookError, by_types, checked, read_notebook
from chapters.sweeps.outcome import published
from chapters.sweeps.target import jobs_of
from tests.sweeps.conftest import PARAMETERS, toy


def test_a_cell_is_read():
    """English such as "the paper has 512 to 1,024" and "at most 2**10" is text, and no range."""
    known = {parameter.name: parameter for parameter in parameters_of(by_types(PARAMETERS))}
    kinds = {"n": "int", "scale": "float", "word": "str", "sizes": "list", "either": "any", "series": "str"}
    assert {name: parameter.kind for name, parameter in known.items()} == kinds
    assert [parameter.default for parameter in known.values()] == [3, 1.0, "plain", [1, 2], 4, ""]
    assert known["word"].meaning == "what it is: plain or fancy"
    assert all(parameter.range == "" for parameter in known.values())
    given = {"n": 32, "word": "anything", "scale": 9.0}
    assert checked(by_types(PARAMETERS), given) == given


@pytest.mark.parametrize(
    ("line", "kind", "default"),
    [
        ("a: int | None = None", "any", None),
        ("a: list[int] = [1]", "list", [1]),
        ("a = [\n    1,\n]  # é", "list", [1]),
        ("a: Path = ''", "any", ""),
        ("schema: int = 1", "int", 1),
        ("model_config: int = 1", "int", 1),
        ("_a: int = 1", "int", 1),
    ],
)
def test_lines_of_all_kinds(line, kind, default):
    (parameter,) = parameters_of(by_types(line))
    assert (parameter.name, parameter.kind, parameter.default) == (line.split(":")[0].split(" ")[0], kind, default)


def test_a_notebook_that_names_a_declaration_has_it(tmp_path):
    path = toy(tmp_path / "copy.ipynb", work="from chapters.idea.parameters import Parameters")
    assert read_notebook(path)[1] is Parameters


@pytest.mark.parametrize(
    ("parameters", "work"),
    [("n: int = f(3)", ""), ("n: int =", ""), ("n: int = 1", "from chapters.no.parameters import Parameters")],
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


def test_a_run_is_named_by_its_settings_and_its_code(notebook, tmp_path, monkeypatch):
    (one,) = jobs_of(str(notebook), [{}, {"n": 3}, {"n": 3, "scale": 1}])  # a default given is the default
    (other,) = jobs_of(str(notebook), [{"n": 4}])
    (worked,) = jobs_of(str(toy(tmp_path / "toy.ipynb", work="2")), [{}])
    assert len({one.key, other.key, worked.key}) == 3 and one.code == other.code and one.settings["scale"] == 1.0
    monkeypatch.setattr(target, "ROOT", tmp_path)
    (tmp_path / "chapters").mkdir()
    codes = {target.code_of("x")}
    for text in ("1", "2"):
        (tmp_path / "chapters" / "results.json").write_text(text)
        codes.add(target.code_of("x"))
    assert len(codes) == 3


def test_only_what_has_a_name_and_a_text_is_published_and_claims_are_not():
    def output(name=None, text=None):
        metadata = {} if name is None else {"scrapbook": {"name": name}}
        data = {"text/plain": "7"} if text is None else {f"{GLUE_PREFIX}text/plain": text}
        return {"output_type": "display_data", "metadata": metadata, "data": data}

    outputs = [output("x", "0.25"), output("P1.02.gap", "0.5"), output("a figure"), output(None, "3"), output()]
    assert published({"cells": [{"cell_type": "code", "outputs": outputs}]}) == {"x": 0.25}
