"""The table that stands for a parameters cell is made from the declaration, and stays text."""

import json
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx")


@pytest.fixture
def extension(monkeypatch):
    import importlib
    from pathlib import Path

    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "book" / "_ext")
    return importlib.import_module("parameter_table")


def read(extension, source, suffix=".ipynb", first="1"):
    app = SimpleNamespace(env=SimpleNamespace(doc2path=lambda name: f"{name}{suffix}"))
    cell = {
        "cell_type": "code",
        "metadata": {"tags": ["parameters", "hide-input"]},
        "source": source.splitlines(keepends=True),
    }
    text = [json.dumps({"cells": [cell, {"cell_type": "code", "metadata": {}, "source": [first]}]})]
    extension.add_table(app, "notebooks/x", text)
    return json.loads(text[0])["cells"]


def test_it_stands_for_its_cell(extension):
    cell, rest, table = read(extension, "n: int = 2  # of a|b, at least 1\nm: dict = {}  # y_1")
    assert "| `n` | int | `2` |  | of a\\|b, at least 1 |" in table["source"]
    assert "| `m` | dict | `{}` |  | y\\_1 |" in table["source"]
    assert "python -m chapters rerun x" in table["source"] and rest["source"] == ["1"]
    assert table["source"].startswith(":::{dropdown} Parameters\n")
    assert cell["metadata"]["tags"] == ["parameters", "hide-input"]  # or the cache would not know its execution


def test_ranges_are_those_of_the_chapters_declaration(extension):
    first = "from chapters.idea.parameters import Parameters"
    _, _, table = read(extension, "correlation: float = 0.5  # words", first=first)
    assert "| `correlation` | float | `0.5` | between -1 and 1 | of two inputs |" in table["source"]
    assert "| `channels` | int | `1` | at least 1 | of the model that reads 64 inputs |" in table["source"]


def test_other_pages_stay_as_they_are(extension):
    assert len(read(extension, "n: int = 2", suffix=".md")) == 2
