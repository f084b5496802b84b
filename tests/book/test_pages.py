"""The pages' sources: all are in the table of contents, every module has its place, every name exists."""

import ast
import re
from pathlib import Path

import pytest
import yaml
from pybtex.database import parse_file

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = ROOT / "book" / "api" / "modules"  # by the build
PAGES = sorted(path for path in (ROOT / "book").rglob("*.md") if WRITTEN not in path.parents)


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
    assert sorted(named) == sorted(there)


def test_notebooks_are_chapters_of_their_own():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    chapters = [chapter for part in parts for chapter in part["chapters"]]
    notebooks = [chapter for chapter in chapters if any(name.startswith("notebooks/") for name in entries(chapter))]
    assert notebooks
    assert [chapter for chapter in notebooks if list(chapter) != ["file"]] == []


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


def test_the_style_file_is_the_packages_only_one():
    assert [path.name for path in (ROOT / "capcore").rglob("*.mplstyle")] == ["capcore.mplstyle"]


def test_values_of_another_page_have_a_format():
    """Without one the page shows nothing in their place, and no warning is given."""
    bare = re.compile(r"\{glue:text\}`[^`]*\.ipynb::[^`:]+`")
    for path in [*(ROOT / "book").glob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]:
        assert bare.findall(path.read_text("utf8")) == [], path.name
