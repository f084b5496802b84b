"""A tiny registry and executed notebooks made by hand, so that each rule is tested on its own."""

import json
from pathlib import Path

import nbformat
import pytest

from chapters.claims import record
from chapters.claims.evidence import Evidence
from chapters.claims.registry import load

REGISTRY = """\
# a comment that must stay
settings:
  - "One shared setting."
forms:
- name: law
  criterion: "Up to round-off."
- name: trend
  criterion: "The sign, in all five cases."
  tests: [{at_least: 0.25}, equals]

claims:
# --- first
- id: P1.01
  source: "paper 1, Property 1"
  kind: exact
  form: law
  claim: "The gap is zero & nothing else."
  notebook: alpha
  checks:
  - name: gap
    role: claim
    quantity: "|gap|"
    statement: "The gap at n = 4."
    test: {at_most: 1.0e-10}
    why: "Round-off."
  - name: count
    role: claim
    quantity: "count"
    statement: "How many."
    test: {equals: 48}
    why: "Exact."
    identity: true
  verdict: holds  # kept
  sentence: "The gap is zero."
  first_edition: refuted
  changed: "The setting was ours."
  history:
  - "false → holds: no reason."

- id: P1.02
  source: "paper 1, Eq. 2"
  kind: statistical
  form: trend
  claim: "The slope is positive."
  notebook: beta
  checks:
  - name: all_cases
    role: claim
    quantity: "cases"
    statement: "All five cases."
    test: {equals: 5}
    why: "All."
  - name: slope
    role: correction
    correction: "power law"
    quantity: "slope"
    statement: "The slope for the power law."
    test: {at_least: 0.25}
    why: "Significance."
  - name: seconds
    role: correction
    correction: "power law"
    quantity: "time [s]"
    statement: "Wall time."
    test: {at_most: 60.0}
    why: "A minute."
    varies: true
  verdict: holds with a correction
  sentence: "The slope is positive for the power law."
  open: "its bound"

- id: P2.01
  source: "paper 2, Eq. 1"
  kind: qualitative
  form: trend
  claim: "Later."
  notebook: null
  checks: []
  verdict: not attempted yet
"""


@pytest.fixture
def registry_file(tmp_path: Path) -> Path:
    """A registry of three rows at book/claims.yml of a temporary repository."""
    (tmp_path / "book").mkdir()
    (tmp_path / "notebooks").mkdir()
    path = tmp_path / "book" / "claims.yml"
    path.write_text(REGISTRY, encoding="utf-8")
    return path


def write_executed(path: Path, *outputs: Evidence | nbformat.NotebookNode) -> Path:
    """Write a notebook whose cells have these outputs."""
    cells = []
    for number, output in enumerate(outputs, start=1):
        if isinstance(output, Evidence):
            data, metadata = output._repr_mimebundle_()
            output = nbformat.v4.new_output("execute_result", data, metadata=metadata, execution_count=number)
        cells.append(nbformat.v4.new_code_cell("…", outputs=[output], execution_count=number))
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def notebooks(registry_file: Path) -> list[Path]:
    """Two notebooks whose evidence agrees with the registry's verdicts."""
    folder = registry_file.parent.parent / "notebooks"
    alpha = write_executed(
        folder / "alpha.ipynb",
        record("P1.01", registry=registry_file, gap=2e-16),
        record("P1.01", registry=registry_file, count=48),
    )
    beta = write_executed(
        folder / "beta.ipynb", record("P1.02", registry=registry_file, all_cases=3, slope=0.61803, seconds=2.5)
    )
    assert len(load(registry_file)) == 3
    return [alpha, beta]


@pytest.fixture
def executed():
    """The function that writes a notebook with given outputs."""
    return write_executed


@pytest.fixture
def tamper():
    """The function that changes one recorded value in a notebook's file."""

    def change(path: Path, name: str, value: object) -> None:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        evidence = [output["metadata"]["capcore"]["values"] for cell in notebook["cells"] for output in cell["outputs"]]
        (values,) = [found for found in evidence if name in found]
        values[name] = value
        path.write_text(json.dumps(notebook), encoding="utf-8")

    return change
