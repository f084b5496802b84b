"""Modules that have moved: every earlier path warns, and gives what is there now; the rest of the package uses none."""

import subprocess
import sys
from importlib import import_module

import pytest

from capcore.moved import MOVED


def run(code):
    command = [sys.executable, "-P", "-W", "error::DeprecationWarning", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf8")


@pytest.mark.parametrize("earlier", MOVED)
def test_names_are_found_at_the_earlier_path_with_a_warning(earlier):
    for home in MOVED[earlier]:
        (name, *_) = (
            name for name, value in vars(import_module(home)).items() if getattr(value, "__module__", "") == home
        )
        with pytest.warns(DeprecationWarning, match=rf"^{earlier}\.{name}: .* {home}\.{name}\."):
            assert getattr(import_module(earlier), name) is getattr(import_module(home), name)


@pytest.mark.parametrize(
    "statement",
    [
        "from capcore.cli import main",
        "import capcore.cli; capcore.cli.main",
        "import capcore; capcore.spectra.memory.CODES",
        "import capcore.spectra.safetensors as s; s.read_safetensors",
        "from capcore.spectra import tensors; tensors.Tensor",
        "from capcore.large import octave_fit; octave_fit.fit_octaves",
    ],
)
def test_every_form_of_import_warns_at_its_own_line(statement):
    done = run(statement)
    assert done.returncode == 1 and "DeprecationWarning: capcore." in done.stderr, done.stderr
    assert 'File "<string>", line 1' in done.stderr


def test_earlier_paths_load_nothing_and_have_no_other_names():
    code = "import capcore.spectra.foreign as module; assert not hasattr(module, 'nothing_of_it'); module.__file__"
    assert "AttributeError: module 'capcore.spectra.foreign' has no attribute '__file__'" in run(code).stderr
    code = "import sys, capcore.cli, inspect; inspect.getmodule(print); assert 'numpy' not in sys.modules"
    assert run(code).returncode == 0
