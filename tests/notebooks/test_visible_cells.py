"""What a page shows runs: its visible cells, in a fresh namespace with capcore installed, print what the page prints.

Folded cells and the repository's own ``chapters`` are not there for a reader who copies from the page. ``make test``
looks whether the page binds every name that it uses, and ``.ci/run`` also runs the cells.
"""

import ast
import builtins
import contextlib
import io
import symtable
import sys
from types import ModuleType

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from book._ext.literal_parameters import values_of, with_values
from scripts.budget import HIDDEN
from tests.listings import ROOT, cells

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FOLDED = {"parameters", *HIDDEN}
INSTALLED = {"capcore", "numpy", "scipy", "matplotlib", "pandas", "jax", "optax", "sklearn", "torch"}
"""What a reader has who installed capcore and, where the page says so, the library that it is about."""


def visible(path):
    """The visible code cells, as the page shows them: pairs of code and outputs."""
    code = [(set(cell.metadata.get("tags", ())), cell) for cell in cells(path.stem) if cell.cell_type == "code"]
    values = next((values_of(cell.source) for tags, cell in code if "parameters" in tags), {})
    return [(with_values(cell.source, values), cell.outputs) for tags, cell in code if not tags & FOLDED]


def printed(outputs):
    """The words that the outputs of a cell print; pictures and what is said in Markdown are no part of them."""
    texts = [output.text for output in outputs if output.output_type == "stream" and output.name == "stdout"]
    return "".join(texts).split()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_shows_where_its_names_come_from(path):
    bound = set(dir(builtins))
    for code, _ in visible(path):
        assert imports(code) - INSTALLED - sys.stdlib_module_names == set()
        used, here = names(code)
        assert used - here - bound == set(), code
        bound |= here


def test_a_name_that_no_cell_before_binds_is_found():
    assert names("import numpy as np\ny = [np.sin(x) + a for a in z]\ndef f(b): return b + c") == (
        {"np", "x", "z", "c"},
        {"np", "y", "f"},
    )


@pytest.mark.ci
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_a_page_shows_runs_alone(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = visible(path)
    page = ModuleType("page")
    try:
        for code, outputs in shown:
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                value = run(code, page.__dict__)
            assert said.getvalue().split() == printed(outputs), code
            for output in outputs:
                if output.output_type == "execute_result" and isinstance(value, pd.DataFrame | pd.Series):
                    assert repr(value).split() == output.data["text/plain"].split(), code
    finally:
        plt.close("all")


def names(code):
    """What the code takes from outside its functions, and what it binds there: two sets of names."""
    outside = symtable.symtable(code, "a visible cell", "exec")
    tables, used = [outside], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        used |= {
            each.get_name()
            for each in table.get_symbols()
            if each.is_referenced() and not each.is_free() and (table is outside or each.is_global())
        }
    bound = {each.get_name() for each in outside.get_symbols() if each.is_assigned() or each.is_imported()}
    return used, bound


def imports(code):
    """The packages that the code imports."""
    nodes = list(ast.walk(ast.parse(code)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "." for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in names}


def run(code, namespace):
    """Run a cell, and give the value of its last line if that is an expression."""
    body = ast.parse(code).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "a visible cell", "exec"), namespace)
    return None if last is None else eval(compile(last, "its last line", "eval"), namespace)
