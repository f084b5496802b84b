"""The table that stands for a parameters cell is made from that cell alone, and stays text."""

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


def read(extension, source, suffix=".ipynb"):
    app = SimpleNamespace(env=SimpleNamespace(doc2path=lambda name: f"{name}{suffix}"))
    cell = {
        "cell_type": "code",
        "metadata": {"tags": ["parameters", "hide-input"]},
        "source": source.splitlines(keepends=True),
    }
    text = [json.dumps({"cells": [cell, {"cell_type": "code", "metadata": {}, "source": ["1"]}]})]
    extension.add_table(app, "notebooks/x", text)
    return json.loads(text[0])["cells"]


def test_it_stands_for_its_cell(extension):
    cell, table, rest = read(extension, "n: int = 2  # of a|b, at least 1\nm: dict = {}  # y_1")
    assert "| `n` | int | `2` | at least 1 | of a\\|b, at least 1 |" in table["source"]
    assert "| `m` | dict | `{}` |  | y\\_1 |" in table["source"]
    assert "python -m chapters rerun x" in table["source"] and rest["source"] == ["1"]
    assert table["source"].startswith(":::{dropdown} Parameters\n")
    assert cell["metadata"]["tags"] == ["parameters", "hide-input"]  # or the cache would not know its execution


def test_other_pages_stay_as_they_are(extension):
    assert len(read(extension, "n: int = 2", suffix=".md")) == 2
