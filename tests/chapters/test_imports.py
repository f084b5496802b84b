"""What may know what: ``capcore`` knows no chapter, and a chapter only what serves all and chapters before it.

The order is the one in which the contents are read from top to bottom: a chapter, the details below it, the next one.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ORDER = re.findall(r"file: notebooks/(\w+)", (ROOT / "_toc.yml").read_text())
FOLDERS = sorted(path.name for path in (ROOT / "chapters").iterdir() if path.is_dir() and path.name != "__pycache__")
SERVING = ("claims", "kit", "shared", "sweeps")


def imported(folder):
    """Top folders of ``chapters`` that the modules in a folder import, wherever in their code."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{name}" for name in names]
            yield from (name.split(".")[1] for name in names if name.startswith("chapters."))


def test_capcore_knows_no_chapter():
    """Not even in a string that could be imported; to its reader it may name the command ``python -m chapters``."""
    assert set(imported(ROOT / "capcore")) == set()
    for path in (ROOT / "capcore").rglob("*.py*"):
        if path.suffix in (".py", ".pyi"):
            text = path.read_text("utf8")
            assert re.findall(r"\bchapters[./]\w|(?:import|from) chapters\b|[\"']chapters[\"']", text) == [], path


def test_every_chapter_is_in_the_book_and_has_what_it_needs_in_its_folder():
    assert set(FOLDERS) - set(SERVING) <= set(ORDER)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_chapter_knows_only_what_comes_before_it(name):
    before = ORDER[: ORDER.index(name)] if name in ORDER else []
    single = [path.stem for path in (ROOT / "chapters").glob("*.py")]
    allowed = {name, *SERVING, *single, *before} if name in ORDER else {name, *SERVING, *single}
    assert set(imported(ROOT / "chapters" / name)) <= allowed
