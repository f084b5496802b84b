"""``import capcore`` is light, and gives every public name."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import capcore
from capcore import architectures, checkpoints, processes, propagation, spectra
from chapters.shared import complexity

LAZY = [capcore, architectures, checkpoints, processes, propagation, spectra, complexity]


def stub(package):
    """Name → module, in the file that type checkers and the lazy loader read."""
    tree = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text("utf8"))
    lines = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert all(node.level == 1 for node in lines)
    return {alias.name: node.module for node in lines for alias in node.names}


def test_import_is_light():
    heavy = {"numpy", "scipy", "matplotlib", "yaml", "tqdm", "flint"}
    program = f"import sys, capcore; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.parametrize("package", LAZY, ids=lambda package: package.__name__)
def test_every_name_is_written_once_and_is_what_it_says(package):
    names = stub(package)
    assert sorted(names) == package.__all__ == sorted(set(names))
    for name, module in names.items():
        value = getattr(package, name)
        if module is None:
            assert inspect.ismodule(value) and value.__name__ == f"{package.__name__}.{name}"
        elif hasattr(value, "__module__") and hasattr(value, "__name__"):
            assert value.__name__ == name and value.__module__.startswith(f"{package.__name__}.{module}")
    assert set(names) <= set(dir(package))


def test_names_are_what_a_user_calls():
    modules = [name for name in capcore.__all__ if inspect.ismodule(getattr(capcore, name))]
    assert modules == ["networks", "spectra"]


def test_unknown_name():
    with pytest.raises(AttributeError, match="attribute Hierarchic"):
        _ = capcore.Hierarchic


def test_the_version_is_that_of_the_project():
    """It stands once, in ``pyproject.toml``."""
    (written,) = re.findall(
        r'^version = "(.*)"$', (Path(capcore.__file__).parents[1] / "pyproject.toml").read_text(), re.M
    )
    assert capcore.__version__ == written, "the metadata of the installed package are older: run make setup"
