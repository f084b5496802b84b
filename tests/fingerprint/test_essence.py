"""What changes a fingerprint, and what does not, on a package of a few lines."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chapters.fingerprint import essence, reach
from chapters.fingerprint.refusals import is_refusal

ROOT = Path(__file__).parents[2]
TOY = {
    "__init__.py": "",
    "study.py": '''"""Module."""

from __future__ import annotations

import numpy as np

from toy import tools as parts
from toy.tools import RATES, scaled

SETTINGS = {"n": 3}


def run(settings: dict = SETTINGS) -> float:
    """What it returns."""
    # why
    model = parts.Model(settings["n"])
    return model.value() + scaled(np.linalg.norm(RATES), "a")


def careful(model):
    try:
        return model.value()
    except ValueError:
        return 0.0


def run_carefully():
    return careful(parts.Model())


def unused(x):
    return parts.other(x)
''',
    "tools.py": """
from functools import cache
import scipy.linalg as algebra

RATES = [1, 2]
RATES += [3]
FIRST, SECOND = 0.5, 2.0
TABLE = {"a": lambda x: x * FIRST}
TABLE["b"] = len


def other(x):
    return x


class Base:
    def value(self):
        return SECOND * self.n


class Model(Base):
    n: int

    def __init__(self, n: int = 4):
        self.n = n


@cache
def scaled(x, kind="a"):
    from toy.deeper import root as final

    return TABLE[kind](final(x)) + algebra.norm([x])
""",
    "deeper.py": "def root(x):\n    return x ** 0.5\n",
}


@pytest.fixture
def fingerprint(tmp_path):
    """Write the package with some texts replaced, and say what its fingerprint is."""

    def write(*edits, name="run", **files):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        (folder / "toy").mkdir(parents=True)
        for file, text in {**TOY, **files}.items():
            for edited, old, new in edits:
                if edited == file:
                    assert old in text
                    text = text.replace(old, new)
            (folder / "toy" / file).write_text(text)
        return reach(f"toy.study:{name}", folder).hash

    return write


SAME = {
    "a docstring": ("study.py", "What it returns", "Something else"),
    "a comment": ("study.py", "# why", "# because"),
    "layout": ("tools.py", "return TABLE[kind](final(x)) +", "return TABLE[kind](\n        final(x)\n    ) +"),
    "an annotation": ("tools.py", "n: int = 4", "n: float | None = 4"),
    "an annotation of a local name": ("study.py", "    model =", "    model: object ="),
    "another alias": ("tools.py", "import scipy.linalg as algebra", "from scipy import linalg as algebra"),
    "an import that is not used": ("study.py", "tools as parts", "deeper, tools as parts"),
    "what nobody reaches": ("tools.py", "def other(x):\n    return x", "def other(x):\n    return 2 * x"),
    "a new class": ("tools.py", "def other", "class New(Base):\n    pass\n\n\ndef other"),
    "a refusal": (
        "tools.py",
        "        self.n =",
        "        if n < 1: raise E(RATES)\n        self.n =",
    ),
    "a warning": (
        "study.py",
        "    model =",
        "    warnings.warn('slow', stacklevel=2)\n    model =",
    ),
    "the gate": ("study.py", "    model =", "    settings = plain_number(settings, 'n')\n    model ="),
    "a method that hands a result on": (
        "tools.py",
        "        self.n = n",
        "        self.n = n\n\n    def save(self): RATES",
    ),
    "a table of it": ("tools.py", "        self.n = n", "        self.n = n\n\n    _repr_html_ = other"),
    "a method that became an attribute": ("tools.py", "    def value", "    @once_called\n    def value"),
    "an assertion": ("study.py", "    model =", "    assert settings\n    model ="),
}
CHANGED = {
    "a constant": ("tools.py", "FIRST, SECOND = 0.5", "FIRST, SECOND = 0.25"),
    "a constant that is added to": ("tools.py", "RATES += [3]", "RATES += [4]"),
    "an entry of a table": ("tools.py", 'TABLE["b"] = len', 'TABLE["b"] = sum'),
    "a default": ("tools.py", 'kind="a"', 'kind="b"'),
    "a decorator": ("tools.py", "@cache\n", ""),
    "another decorator of a method": ("tools.py", "    def value", "    @property\n    def value"),
    "another method": ("tools.py", "        self.n = n", "        self.n = n\n\n    def saved(self): RATES"),
    "an attribute of a class": ("tools.py", "    n: int\n", "    n: int\n    saved = 3\n"),
    "a method of a base class": ("tools.py", "SECOND * self.n", "SECOND + self.n"),
    "a base class": ("tools.py", "class Model(Base)", "class Model"),
    "a function that is imported inside another": ("deeper.py", "0.5", "0.25"),
    "a function from elsewhere": ("tools.py", "import scipy.linalg as algebra", "import numpy.linalg as algebra"),
    "a number of another type": ("tools.py", "FIRST, SECOND = 0.5, 2.0", "FIRST, SECOND = 0.5, 2"),
    "settings": ("study.py", '{"n": 3}', '{"n": 4}'),
    "a statement that acts on import": ("tools.py", "def other", "print(RATES.pop())\n\n\ndef other"),
    "a value taken from elsewhere": ("study.py", "    model =", "    settings = plain_number(RATES, 'n')\n    model ="),
    "a test that changes something": (
        "study.py",
        "    model =",
        "    if RATES.pop(): raise ValueError\n    model =",
    ),
}


@pytest.mark.parametrize("edit", SAME.values(), ids=SAME)
def test_what_decides_no_number_changes_nothing(fingerprint, edit):
    assert fingerprint() == fingerprint(edit)


@pytest.mark.parametrize("edit", CHANGED.values(), ids=CHANGED)
def test_what_may_decide_a_number_changes_it(fingerprint, edit):
    assert fingerprint() != fingerprint(edit)


def test_a_refusal_counts_where_it_is_caught(fingerprint):
    """Also in a method of an object that came from elsewhere."""
    edit = (
        "tools.py",
        "        return SECOND",
        "        if self.n < 1: raise ValueError\n        return SECOND",
    )
    assert fingerprint(name="run") == fingerprint(edit, name="run")
    assert fingerprint(name="run_carefully") != fingerprint(edit, name="run_carefully")
    raising = ("study.py", "        return 0.0", "        raise RuntimeError")
    assert fingerprint(raising, name="run_carefully") == fingerprint(raising, edit, name="run_carefully")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("if x < 0: raise ValueError(f'x: found {x}')", True),
        ("if x < 0: warnings.warn('negative')", True),
        ("if x < 0:\n    if y: raise ValueError", True),
        ("if x < 0: raise AttributeError(x)", False),
        ("if x < 0: raise np.linalg.LinAlgError", False),
        ("if x < 0: raise ValueError\nelse: y = 1", False),
        ("if x < 0:\n    y = 1\n    raise ValueError", False),
        ("if (y := f(x)) < 0: raise ValueError", False),
        ("if next(x) < 0: raise ValueError", False),
        ("if rng.random() < 0.5: raise ValueError", False),
        ("raise ValueError", False),
    ],
)
def test_what_is_a_refusal(statement, expected):
    assert is_refusal(ast.parse(statement).body[0]) is expected


def test_a_definition_can_be_moved_with_its_imports_rewritten(fingerprint):
    """scaled goes to a new module, is handed on by the package, and is reached by a relative import."""
    head, scaled = TOY["tools.py"].split("@cache\n")
    moved = {
        "tools.py": head,
        "__init__.py": "from .more import scaled\n",
        "more.py": "from functools import cache\nfrom scipy import linalg as algebra\n"
        f"from . import deeper\nfrom .tools import TABLE\n\n\n@cache\n{scaled}".replace(
            "    from toy.deeper import root as final\n\n", ""
        ).replace("final(x)", "deeper.root(x)"),
        "study.py": TOY["study.py"].replace("import RATES, scaled", "import RATES\nfrom toy import scaled"),
    }
    assert fingerprint() == fingerprint(**moved)


def test_a_local_name_hides_that_of_the_module(fingerprint):
    """Moved beside a function that is called like one of its variables, a definition is the same."""
    beside = ("tools.py", "def other", "def x():\n    return 1\n\n\ndef kind():\n    return 2\n\n\ndef other")
    assert fingerprint() == fingerprint(beside)


def test_the_same_name_of_another_module_is_another_definition(fingerprint):
    twice = {"deeper.py": TOY["deeper.py"], "other.py": "def root(x):\n    return x ** 0.75\n"}
    both = (
        "study.py",
        "    model =",
        "    import toy.other, toy.deeper\n    toy.other.root, toy.deeper.root\n    model =",
    )
    swapped = ("tools.py", "from toy.deeper import", "from toy.other import")
    assert fingerprint(both, **twice) != fingerprint(both, swapped, **twice)


def test_the_contents_of_a_data_file_count(tmp_path):
    for content in ("1", "2"):
        (tmp_path / content / "toy").mkdir(parents=True)
        (tmp_path / content / "toy" / "study.py").write_text('TABLE = "table.csv"\ndef run(): return TABLE\n')
        (tmp_path / content / "toy" / "table.csv").write_text(content)
    assert reach("toy.study:run", tmp_path / "1").hash != reach("toy.study:run", tmp_path / "2").hash


def test_the_numbers_of_a_stored_result_that_is_named_count(tmp_path):
    def found(values):
        where, name = tmp_path / values, "chapters/one/results/x.json"
        for path in (where / "toy" / "study.py", where / name):
            path.parent.mkdir(parents=True)
        (where / "toy" / "study.py").write_text(f'TABLE = "{name}"\ndef run(): return TABLE\n')
        (where / name).write_text(f'{{"values": {values}}}')
        return reach("toy.study:run", where).hash

    assert found("[1]") != found("[2]")


def test_an_entry_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ModuleNotFoundError, match="toy:run: not found, expected a definition"):
        reach("toy:run", tmp_path)
    with pytest.raises(ValueError, match="entry: found 'toy', expected module:name"):
        reach("toy", tmp_path)


def test_fields_that_another_python_adds_and_leaves_empty_are_not_written(fingerprint, monkeypatch):
    before = fingerprint()
    for kind in (ast.FunctionDef, ast.ClassDef, ast.Call, ast.Name):
        monkeypatch.setattr(ast, kind.__name__, kind)
        monkeypatch.setattr(kind, "_fields", (*kind._fields, "of_a_later_python", "and_another"))
        monkeypatch.setattr(kind, "of_a_later_python", [], raising=False)
    essence._written.cache_clear()
    after = fingerprint()
    monkeypatch.undo()
    essence._written.cache_clear()
    assert before == after


def test_pieces_of_text_in_an_f_string_are_joined():
    (text,) = (node for node in ast.walk(ast.parse("f'ab{x}c'")) if isinstance(node, ast.JoinedStr))
    pieces = [ast.Constant("a"), ast.Constant(""), ast.Constant("b"), *text.values[1:], ast.Constant("")]
    assert [ast.dump(each) for each in essence._joined(pieces)] == [ast.dump(each) for each in text.values]


HASHES = """
from chapters.fingerprint.__main__ import entries
from chapters.fingerprint import reach
print([reach(entry).hash for entry, _ in entries().values()])
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["python3.11", "python3.12", "python3.13", "python3.14"])
def test_every_python_writes_the_same(name):
    """Nothing is needed but the standard library. Skipped for versions that are not here."""
    found = [shutil.which(name), *Path.home().glob(f".pyenv/versions/{name.removeprefix('python')}.*/bin/python")]
    if not any(found):
        pytest.skip(f"{name} is not here")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    outputs = [
        subprocess.run([each, "-P", "-c", HASHES], env=environment, capture_output=True, text=True, check=True).stdout
        for each in (sys.executable, next(filter(None, reversed(found))))
    ]
    assert outputs[0] == outputs[1]
