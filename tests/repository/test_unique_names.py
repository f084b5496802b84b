"""What pages link to and cite by name has one owner among all notebooks."""

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("figure", "glued value", "cell of a claim")


def names(notebook) -> Iterator[tuple[str, str]]:
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


def shared(notebooks, kind: str) -> list[str]:
    """One line for each name of this kind that more than one place defines."""
    places: dict[str, list[str]] = {}
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
    notebooks = {path.name: nbformat.read(path, as_version=4) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
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
