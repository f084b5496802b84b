"""Every Python that the repository starts runs as ``python -P``: what lies in its working folder shadows no module.

The package is installed, so that ``capcore`` and ``chapters`` are found without that folder. Kernels are excepted: a
notebook may import what lies beside it. So is ``scripts/bootstrap.py``, which has to tell an older Python that it is
too old.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
THIS = Path(__file__).relative_to(ROOT).as_posix()
SOURCES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf8")
    for folder in ("capcore", "chapters", "scripts", "benchmarks", "tests", "book/_ext")
    for path in sorted((ROOT / folder).rglob("*.py"))
}
BECOMING_KERNELS = {"chapters/sweeps/forking.py"}
"""A script that is named by its path, takes its own folder off ``sys.path``, and becomes a kernel, which has no -P."""
PLAIN = {"tests/commands/test_working_folder.py", "benchmarks/__main__.py", *BECOMING_KERNELS}
"""Also what shows which modules run without it, and a command that is written down, and not run."""


def unsafe(text):
    """The commands in a source that start Python without -P: lists of arguments, and how many others there are."""
    lists = [node.elts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.List) and len(node.elts) > 1]
    python = [each for each in lists if re.match(r"(str\()?sys\.executable\b(?!\))", ast.unparse(each[0]))]
    named = [each for each in lists if ast.unparse(each[1]) in ("'-P'", "'-m'", "'-c'")]
    commands = {id(each[0]): each for each in (*python, *named)}.values()
    return [ast.unparse(each[0]) for each in commands if ast.unparse(each[1]) != "'-P'"], len(commands)


def test_what_is_found_in_a_source():
    assert unsafe("run([sys.executable, '-m', 'x'])\nrun([sys.executable, file])")[0] == ["sys.executable"] * 2
    assert unsafe("run([str(python), '-c', code])")[0] == ["str(python)"]
    assert unsafe("run([sys.executable, '-P', file])\nrun([Path(sys.executable).with_name('x'), 'y'])") == ([], 1)


def test_every_command_of_a_source():
    started = {
        name: text for name, text in SOURCES.items() if "executable" in text or re.search("['\"]-[mc]['\"]", text)
    }
    found = {name: unsafe(text) for name, text in started.items()}
    assert {name for name, (lines, _) in found.items() if lines} - {THIS} == PLAIN
    assert sum(number for _, number in found.values()) > 30


def test_no_pool_of_processes():
    """It would have the flags of its parent."""
    pool = re.compile(r"\b(ProcessPoolExecutor|get_context|multiprocessing\.Pool|Nanny)\(|processes=True")
    assert {name for name, text in SOURCES.items() if pool.search(text)} == {THIS}


@pytest.mark.parametrize(
    "name", ["Makefile", ".ci/run", *(f".github/workflows/{name}.yml" for name in ("ci", "extended", "release"))]
)
def test_every_command_of_a_shell(name):
    text = (ROOT / name).read_text("utf8")
    assert re.findall(r"^.*bin/python[\d.]* (?!-[PI]).*$|^PY := .*python$", text, re.MULTILINE) == []


@pytest.mark.parametrize("module", ["capcore", "chapters"])
def test_the_package_is_found_without_the_folder(module, tmp_path):
    command = [sys.executable, "-P", "-c", f"import {module}; print({module}.__file__)"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.strip() == str(ROOT / module / "__init__.py"), done.stderr
