"""``import capcore`` is light, and gives every public name."""

import ast
import inspect
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import capcore
from capcore import architectures, checkpoints, processes, propagation, spectra
from chapters.shared import complexity

ROOT = Path(capcore.__file__).parents[1]
LAZY = [capcore, architectures, checkpoints, processes, propagation, spectra, complexity]


def stub(package):
    """Name → module, in the file that type checkers and the lazy loader read."""
    tree = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text("utf8"))
    lines = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert all(node.level == 1 for node in lines)
    return {alias.name: node.module for node in lines for alias in node.names}


def loaded(program):
    """The distributions of which a program has loaded something at its end, and an empty one has not."""
    known = packages_distributions() | {"capcore": ["capcore"]}
    ends = "\nimport sys; print('\\n', *{name.split('.')[0] for name in sys.modules})"
    found = []
    for text in ("", program):
        command = [sys.executable, "-P", "-c", text + ends]
        last = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
        found.append({distribution for name in last.split() for distribution in known.get(name, ())})
    return found[1] - found[0]


def test_import_is_light():
    assert loaded("import capcore") == {"capcore", "lazy-loader"}


def test_the_lines_of_the_readme_load_what_the_package_needs_and_no_more():
    listings = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf8"), re.MULTILINE | re.DOTALL)
    needed = {"capcore", "lazy-loader", "numpy", "scipy", "tqdm", "threadpoolctl"}
    needed.add("charset-normalizer")  # which numpy.f2py takes where it is installed
    assert loaded("\n".join(listings)) <= needed


def test_it_runs_where_there_are_no_threads_no_processes_and_no_system():
    """As in a browser: threads and processes do not start, and nobody says how much memory there is."""
    without = """
import os, subprocess, threading, multiprocessing
for name in ("sysconf", "sched_getaffinity", "fork"):
    vars(os).pop(name, None)
def refuse(*arguments, **options):
    raise RuntimeError("started")
threading.Thread.start = subprocess.Popen.__init__ = multiprocessing.Process.start = refuse
"""
    (listing, *_) = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf8"), re.MULTILINE | re.DOTALL
    )
    done = subprocess.run([sys.executable, "-P", "-c", without + listing], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("capacity 0.02") and done.stderr == ""


def test_type_checkers_find_the_types():
    assert Path(capcore.__file__).with_name("py.typed").is_file()


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
    for package, name, meant in ((capcore, "Hierarchic", "Hierarchical"), (spectra, "fit_powerlaw", "fit_power_law")):
        with pytest.raises(AttributeError, match=f"found no attribute '{name}', .* Did you mean '{meant}'"):
            getattr(package, name)
    with pytest.raises(AttributeError, match=r"found no attribute 'xyz', expected a public name\.$"):
        _ = capcore.xyz


def test_the_version_is_that_of_the_project():
    """It stands once, in ``pyproject.toml``."""
    (written,) = re.findall(
        r'^version = "(.*)"$', (Path(capcore.__file__).parents[1] / "pyproject.toml").read_text(), re.M
    )
    assert capcore.__version__ == written, "the metadata of the installed package are older: run make setup"
