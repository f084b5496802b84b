"""The name of a run follows its settings and what its code reaches, and nothing else."""

import json

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from chapters.kit import stored
from chapters.sweeps import identity
from chapters.sweeps.target import target_of
from tests.sweeps.conftest import toy

STUDY = '''
def used(n):
    """Words."""
    return helper(n) + 1


def helper(n):
    return n


def unused(n):
    return n
'''
CELLS = ["import math", "n: int = 2  # of what", "from capcore.study import used\nstored('kept')\nmath.sqrt(used(n))"]


@pytest.fixture
def code(tmp_path, monkeypatch):
    """``code(study, cells)``: the fingerprint of a notebook beside a package ``capcore`` of one module."""
    monkeypatch.setattr(identity, "ROOT", tmp_path)
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps({"values": 1}))
    monkeypatch.setattr(stored, "paths", lambda: {"kept": kept, "other": tmp_path / "missing.json"})
    (tmp_path / "capcore").mkdir()
    (tmp_path / "capcore" / "__init__.py").write_text("")

    def code(study=STUDY, cells=CELLS, values=1):
        (tmp_path / "capcore" / "study.py").write_text(study)
        kept.write_text(json.dumps({"values": values, "command": str(values)}))
        return identity.code_of_notebook(dict(new_notebook(cells=[new_markdown_cell("x"), *map(new_code_cell, cells)])))

    return code


def test_what_is_reached_counts(code):
    base = code()
    assert code(STUDY.replace("    return n\n\n\ndef unused", "    return 2 * n\n\n\ndef unused")) != base
    assert code(cells=[*CELLS[:2], CELLS[2].replace("sqrt", "exp")]) != base
    assert code(cells=[*CELLS, "%matplotlib inline"]) != base
    assert code(values=2) != base


def test_what_is_not_does_not(code):
    base = code()
    assert code(STUDY.replace("Words", "Other words")) == base
    assert code(STUDY + "\n\ndef more():\n    return 3\n") == base
    assert code(STUDY.replace("def unused(n):\n    return n", "def unused(n):\n    return 3")) == base
    assert code(cells=[CELLS[0], "n: int = 2  # of something", CELLS[2] + "  # so"]) == base


def test_a_default_given_is_the_default(notebook):
    target = target_of(str(notebook))
    (one,) = target.jobs([{}, {"n": 3}, {"n": 3, "scale": 1}])
    (other,) = target.jobs([{"n": 4}])
    assert one.key != other.key and one.settings["scale"] == 1.0


def test_outputs_do_not_count_and_cells_do(tmp_path):
    one, other = (target_of(str(toy(tmp_path / "a.ipynb", work=work))) for work in ("1", "2"))
    assert one.code != other.code
