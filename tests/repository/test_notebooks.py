"""Stored notebooks have the form that makes nbval and the book trustworthy, and nbval runs on all of them."""

import copy
import itertools
import re
import shlex
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from chapters.claims.evidence import Evidence
from chapters.claims.registry import load
from chapters.kit.parameters import parameters_of
from chapters.kit.pictures import digest
from chapters.sweeps import outcome
from chapters.sweeps.notebooks import checked, from_text, notebook_path, read_notebook
from scripts.check_notebooks import problems
from scripts.refresh_notebooks import refresh

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
REGISTRY = load()
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A small notebook with outputs, as make notebooks writes it."""
    cells = [
        new_markdown_cell("# Small\n"),
        new_code_cell("n: int = 3  # how many", metadata={"tags": ["parameters"]}),
        new_code_cell("print(list(range(n)))"),
        new_code_cell("2 * n"),
    ]
    for i, cell in enumerate(cells):
        cell["id"] = f"cell-{i}"
    path = tmp_path_factory.mktemp("small") / "small.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    assert refresh(path)
    return path


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_form(path):
    assert list(problems(nbformat.read(path, as_version=4))) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_command_that_runs_it_differently_gives_parameters_other_values(path):
    """``python -m chapters rerun`` would take it; what a cell refuses is held with the notebook's other parameters."""
    notebook, declaration = read_notebook(path)
    text = "\n".join(cell["source"] for cell in notebook["cells"])
    (command,) = re.findall(r"\*\*Run it differently:\*\* `(.*?)`", text)
    words = shlex.split(command)
    assert (" ".join(words[:4]), notebook_path(words[4])) == ("python -m chapters rerun", path.resolve())
    options = words[5:]
    flags, pairs = options[::3], list(zip(options[1::3], options[2::3], strict=True))
    assert flags and set(flags) == {"-p"}
    given = checked(declaration, from_text(declaration, pairs))
    defaults = {each.name: each.default for each in parameters_of(declaration)}
    assert all(value != defaults[name] for name, value in given.items())


def test_refresh_is_reproducible(executed):
    before = executed.read_bytes()
    assert not refresh(executed)
    assert executed.read_bytes() == before


def test_a_stripped_notebook_is_refused(executed):
    notebook = nbformat.read(executed, as_version=4)
    for cell in notebook.cells[1:]:
        cell.update(execution_count=None, outputs=[])
    found = list(problems(notebook))
    assert len(found) == 3
    assert all("found no execution count" in problem for problem in found)


def test_make_test_runs_nbval_on_all_notebooks(request):
    """The options that pytest was started with."""
    assert request.config.getoption("nbval")
    assert "notebooks" in request.config.getini("testpaths")


def with_cell(executed, **changes):
    notebook = copy.deepcopy(nbformat.read(executed, as_version=4))
    notebook.cells[-1].update(changes)
    return "\n".join(problems(notebook))


def test_a_complete_notebook_has_no_problem(executed):
    assert with_cell(executed) == ""


def test_a_figure_needs_caption_name_and_alternative_text(executed):
    image = new_output("display_data", data={"image/png": PIXEL})
    for missing in ("without a caption", "mystnb.figure.name", "mystnb.image.alt"):
        assert missing in with_cell(executed, outputs=[image])
    complete = {"mystnb": {"figure": {"name": "fig-x"}, "image": {"alt": "A pixel."}}}
    complete["capcore"] = {"picture": digest({"metadata": complete, "outputs": [image]})}
    caption = new_output("display_data", {"text/markdown": "**One pixel.**"}, metadata={"capcore": {"caption": True}})
    assert with_cell(executed, outputs=[image, caption], metadata=complete) == ""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_replaced_picture_is_refused(path):
    """By another one of the same notebook, with all of its output, or by any other."""
    notebook = nbformat.read(path, as_version=4)
    pictured = [cell for cell in notebook.cells if cell.cell_type == "code" and digest(cell)]
    for cell, other in itertools.pairwise(pictured):
        cell.outputs = other.outputs
    for cell in pictured[-1:]:
        next(each for each in cell.outputs if "image/png" in each.get("data", {})).data["image/png"] = PIXEL
    assert sum("found another picture" in problem for problem in problems(notebook)) == len(pictured)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_values_in_the_metadata_are_those_that_are_shown(path):
    """nbval compares what is shown; the claims' page is made of the values behind it."""
    assert list(other_values(nbformat.read(path, as_version=4))) == []


def other_values(notebook):
    """The checks whose recorded value gives another box than the one that is shown."""
    for output in outcome.outputs(notebook):
        evidence = output.get("metadata", {}).get("capcore", {})
        if "claim" in evidence:
            shown = Evidence(REGISTRY[evidence["claim"]], evidence["values"])._repr_mimebundle_()[0]
            if any(output["data"][kind] != text for kind, text in shown.items()):
                yield evidence["claim"]


def test_a_value_that_is_a_per_cent_off_is_noticed():
    notebook = nbformat.read(ROOT / "notebooks" / "hierarchical.ipynb", as_version=4)
    (evidence,) = (
        each["metadata"]["capcore"]
        for each in outcome.outputs(notebook)
        if each.get("metadata", {}).get("capcore", {}).get("claim") == "P1.16"
    )
    evidence["values"]["lbfgs_r2"] *= 1.01
    assert list(other_values(notebook)) == ["P1.16"]


def test_a_figure_stripped_of_its_picture_is_refused(executed):
    metadata = {"mystnb": {"figure": {"caption": "It is one pixel.", "name": "fig-x"}, "image": {"alt": "A pixel."}}}
    stripped = new_output("display_data", data={"text/plain": "<Figure size 640x480 with 1 Axes>"})
    assert "no picture in the stored outputs" in with_cell(executed, outputs=[stripped], metadata=metadata)
    assert "no picture in the stored outputs" in with_cell(executed, outputs=[], metadata=metadata)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outputs": [new_output("error", ename="E", evalue="", traceback=[])]}, "stored error"),
        ({"outputs": [new_output("stream", name="stderr", text="Warning")]}, "stderr"),
        ({"outputs": [new_output("stream", text="see /home/me/file")]}, "path of this machine"),
        ({"source": "import sys\nsys.path.append('..')"}, "sys.path"),
        ({"source": "\n".join(["x = 1"] * 16)}, "16 lines"),
        ({"source": ""}, "no code"),
        ({"execution_count": 9}, "execution counts"),
        ({"metadata": {"tags": ["parameters"]}}, "2 cells tagged parameters"),
        ({"metadata": {"execution": {"iopub.status.busy": "now"}}}, "depend on the run"),
    ],
)
def test_other_problems_are_named(executed, changes, message):
    assert message in with_cell(executed, **changes)


def test_parameters_are_explained(executed):
    notebook = nbformat.read(executed, as_version=4)
    notebook.cells[1].source = "n: int = 3"
    assert "'n: int' without a trailing comment" in "\n".join(problems(notebook))


def test_only_imports_come_before_the_parameters(executed):
    notebook = nbformat.read(executed, as_version=4)
    notebook.cells[1], notebook.cells[2] = notebook.cells[2], notebook.cells[1]
    assert "code before the cell of parameters" in "\n".join(problems(notebook))
    notebook.cells[1].source = "import numpy as np\nfrom os import path"
    assert "code before" not in "\n".join(problems(notebook))


KINDS = ("figure", "glued value", "cell of a claim")
"""What pages link to and cite by name has one owner among all notebooks."""


def names(notebook):
    """Pairs of a kind and a name that the notebook's metadata and stored outputs define."""
    for cell in notebook.cells:
        if figure := cell.metadata.get("mystnb", {}).get("figure", {}).get("name"):
            yield "figure", figure
        metadata = [output.get("metadata", {}) for output in cell.get("outputs", [])]
        for found in metadata:
            if glued := found.get("scrapbook", {}).get("name"):
                yield "glued value", glued
        if any("claim" in found.get("capcore", {}) for found in metadata):
            yield "cell of a claim", cell["id"]


def shared(notebooks, kind):
    """One line for each name of this kind that more than one place defines."""
    places = {}
    for title, notebook in notebooks.items():
        for found, name in names(notebook):
            if found == kind:
                places.setdefault(name, []).append(title)
    return [
        f"{kind} {name!r}: found in {', '.join(titles)}, expected one place. Rename it in all but one."
        for name, titles in sorted(places.items())
        if len(titles) > 1
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_belongs_to_one_notebook(kind):
    notebooks = {path.name: nbformat.read(path, as_version=4) for path in NOTEBOOKS}
    assert any(found == kind for notebook in notebooks.values() for found, _ in names(notebook)), f"no {kind} at all"
    assert shared(notebooks, kind) == []


def test_a_name_used_twice_is_reported():
    def notebook():
        outputs = [
            new_output("display_data", metadata={"scrapbook": {"name": "gap"}}),
            new_output("display_data", metadata={"capcore": {"claim": "P1.01", "values": {}}}),
        ]
        cell = new_code_cell("…", metadata={"mystnb": {"figure": {"name": "fig-x"}}}, outputs=outputs)
        cell["id"] = "claim-p1-01"
        return new_notebook(cells=[cell])

    both = {"a.ipynb": notebook(), "b.ipynb": notebook()}
    for kind, name in zip(KINDS, ("fig-x", "gap", "claim-p1-01"), strict=True):
        (line,) = shared(both, kind)
        assert line.startswith(f"{kind} '{name}': found in a.ipynb, b.ipynb")
        assert shared({"a.ipynb": notebook()}, kind) == []
