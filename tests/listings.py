"""Listings that a reader copies from a page: found there, and run as they stand."""

import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]


def cells(notebook):
    """Cells of a chapter's notebook."""
    return nbformat.read(ROOT / "notebooks" / f"{notebook}.ipynb", as_version=4).cells


def fenced(texts, word):
    """The one listing of Python in these texts that holds a word."""
    (found,) = (code for text in texts for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if word in code)
    return found


def listing(notebook, word):
    """The one listing that a chapter's text shows and does not run, and that holds a word."""
    return fenced([cell.source for cell in cells(notebook) if cell.cell_type == "markdown"], word)


def run(code, names=None):
    """The names that a listing leaves, among those that it is given."""
    names = {} if names is None else names
    exec(compile(code, "listing", "exec"), names)
    return names
