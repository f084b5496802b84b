"""The pages' sources: all are in the table of contents, every module has its place, every name exists."""

import ast
import json
import re

import pytest
import yaml
from pybtex.database import parse_file

from book._ext.module_pages import rooms
from scripts.contents import appendices, main_line
from tests.listings import ROOT

FIGURES = r"Figures? \d\w?((, | and | to )\d\w?)*"
PAGES = sorted(path for path in (ROOT / "book").rglob("*.md") if path.parent.name not in ("rooms", "prose"))
ROOMS = [f"book/api/rooms/{room}" for room in rooms(ROOT)]  # written by the build, from prose where there is some


def entries(node):
    """All files named in a table of contents."""
    if isinstance(node, list):
        return [name for item in node for name in entries(item)]
    if isinstance(node, dict):
        own = [value for key, value in node.items() if key in ("root", "file")]
        return own + [name for value in node.values() for name in entries(value)]
    return []


def test_contents_name_every_page_and_notebook_once():
    named = entries(yaml.safe_load((ROOT / "_toc.yml").read_text()))
    there = [p.relative_to(ROOT).with_suffix("").as_posix() for p in [*PAGES, *(ROOT / "notebooks").glob("*.ipynb")]]
    assert sorted(named) == sorted([*there, *ROOMS])


def chapters():
    """The entries of the numbered parts."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    return [chapter for part in parts if "numbered" in part for chapter in part["chapters"]]


def test_the_main_line_ends_with_what_to_take_away_and_details_are_appendices():
    led, behind = main_line(), appendices()
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    assert len(chapters()) == 17
    assert list(led) == ["book/index", "notebooks/idea", *(each["file"] for each in chapters()), "book/take_away"]
    assert set(behind) == {
        name
        for chapter in [*parts[0]["chapters"], *chapters(), *parts[-1]["chapters"][:1]]
        for name in entries(chapter)
        if name not in led
    }
    assert {"notebooks/mimicry", "book/claims", "book/errata"} <= set(behind) and "book/api/index" not in behind


def test_captions_name_the_figures_of_a_source_as_the_sources():
    """Elsewhere *Figure 8* would be taken for ours."""
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text("utf8"))["cells"]:
            for output in cell.get("outputs", []):
                if output.get("metadata", {}).get("capcore", {}).get("caption"):
                    text = " ".join("".join(output["data"]["text/markdown"]).split())
                    ours = re.sub(rf"(paper|draft)'s {FIGURES}|{FIGURES} of the (paper|draft)", "", text)
                    assert not re.search(r"\bFig(ures?|s?\.) ?\d", ours), f"{path.name}: {text}"


def test_no_two_works_are_cited_alike():
    """Citations show the authors' last names and the year."""
    cited = {}
    for key, work in parse_file(str(ROOT / "book" / "references.bib")).entries.items():
        shown = (*(" ".join(person.last_names) for person in work.persons["author"]), work.fields.get("year", "n.d."))
        assert shown not in cited, (
            f"{key} and {cited[shown]}: both cited as {', '.join(shown)}; add letters to the year"
        )
        cited[shown] = key


def test_pages_by_hand_document_existing_modules_once():
    reference = "\n".join(path.read_text() for path in (ROOT / "book" / "api").glob("*.md"))
    documented = re.findall(r"automodule:: ([\w.]+)", reference)
    assert len(documented) == len(set(documented))
    for module in documented:
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), module


def identifiers():
    """Every name that the package defines or takes as an argument."""
    names = set()
    for path in [*(ROOT / "capcore").rglob("*.py"), *(ROOT / "chapters").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names.add(node.target.id)
    return names


def test_conventions_name_what_exists():
    page = (ROOT / "book" / "conventions.md").read_text("utf8")
    rows = [line.split(" | ")[1] for line in page.splitlines() if line.startswith(("| $", "| generic"))]
    assert len(rows) > 20
    known = identifiers()
    for code in (code for row in rows for code in re.findall(r"`([^`]+)`", row)):
        for name in re.findall(r"[A-Za-z_]\w*", code):
            assert name in known | {"S", "space"}, f"conventions.md: {name} is no name of the package"


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_page_names_no_place_outside_the_repository(path):
    assert not re.search(r"\.\./shared|/work/|/tmp/|/home/|/root/", path.read_text("utf8"))


def test_a_chapter_of_this_repository_is_named_by_its_file():
    """Commands shown on the pages name files that exist."""
    for path in [*PAGES, ROOT / "README.md"]:
        for name in re.findall(r"\bnotebooks/[\w-]+\.ipynb\b", path.read_text("utf8")):
            assert (ROOT / name).is_file(), f"{path.name}: {name} does not exist"


def test_values_of_another_page_have_a_format():
    """Without one the page shows nothing in their place, and no warning is given."""
    bare = re.compile(r"\{glue:text\}`[^`]*\.ipynb::[^`:]+`")
    for path in [*(ROOT / "book").glob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]:
        assert bare.findall(path.read_text("utf8")) == [], path.name
