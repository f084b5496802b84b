"""Nothing beside a checkpoint runs: ``capcore`` imports no module and reads no settings from its working folder.

The folder holds a module of every name that anything imports that the command can load, the optional imports of its
dependencies included. Each of them leaves its name in a file when it is run.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from capcore.checkpoints.folders import PLAIN, TORCH
from capcore.commands import working_folder
from tests.checkpoints.corpus import CASES
from tests.checkpoints.crafted import packed

LOADED = ["capcore", "numpy", "scipy", "tqdm", "threadpoolctl", "lazy_loader", "matplotlib", "pandas"]
LOADED += ["torch", "onnx", "gguf", "jax", "jaxlib", "ml_dtypes", "opt_einsum"]
"""What the command can load, as far as it is installed."""
IMPORT = re.compile(
    r"^\s*(?:from|import)\s+([A-Za-z_]\w*)|(?:import_module|import_optional_dependency|__import__)\(\s*[\"'](\w+)",
    re.MULTILINE,
)
"""It also finds words of docstrings, which do no harm."""
STARTED = {"sitecustomize", "usercustomize"}
"""What Python looks for while it starts."""
CONSOLE = [os.fspath(Path(sys.executable).with_name("capcore"))]
MODULE = [sys.executable, "-m", "capcore"]
SAFE_MODULE = [sys.executable, "-P", "-m", "capcore"]


def sources(name):
    """Files of a package or module; none where it is not installed."""
    spec = find_spec(name)
    for place in (spec and spec.submodule_search_locations) or ():
        yield from (path for path in Path(place).rglob("*.py") if "tests" not in path.relative_to(place).parts)
    if spec and spec.origin and spec.submodule_search_locations is None:
        yield Path(spec.origin)


@pytest.fixture(scope="module")
def names():
    """Every top-level name that is imported somewhere, and those of the standard library."""
    texts = (path.read_text("utf8", "ignore") for name in LOADED for path in sources(name))
    found = {name for text in texts for pair in IMPORT.findall(text) for name in pair if name}
    assert found >= {"cython", "cupy", "IPython", "matplotlib", "numpy", "scikits", "sksparse", "tables", "uarray"}
    return found | {*LOADED, *sys.stdlib_module_names, *STARTED}


@pytest.fixture(scope="module")
def before_main():
    """What ``python -m capcore`` imports from the working folder: Python's own ``runpy``, before any code of ours."""
    command = [sys.executable, "-P", "-c", "import runpy, sys; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {"capcore", *(name.split(".")[0] for name in done.stdout.split())}


def plant(folder, names):
    """A module of each name, every third one a package; the path of what they leave behind."""
    marker = folder.parent / "executed"
    code = f"with open({os.fspath(marker)!r}, 'a') as file:\n    file.write(__name__ + '\\n')\n"
    for number, name in enumerate(sorted(names)):
        path = folder / f"{name}.py"
        if number % 3 == 0:
            path = folder / name / "__init__.py"
            path.parent.mkdir()
        path.write_text(code)
    return marker


@pytest.fixture
def weights(tmp_path):
    """A working folder with a file of each kind that is read."""
    folder = tmp_path / "weights"
    folder.mkdir()
    matrix = np.random.default_rng(0).normal(size=(12, 20)).astype(np.float32)
    (folder / "a.safetensors").write_bytes(packed({"fc.weight": matrix}))
    np.savez(folder / "a.npz", **{"fc.weight": matrix})
    np.save(folder / "a.npy", matrix)
    CASES["e names"](folder)
    CASES["f onnx nested"](folder)
    (folder / "a.gguf").write_bytes(b"GGUF" + bytes(64))
    for suffix in TORCH:
        (folder / f"a{suffix}").write_bytes((folder / "a.pt").read_bytes())
    assert {path.suffix for path in folder.iterdir()} == {*PLAIN, *TORCH}
    return folder


def run(command, folder, *arguments, **environment):
    """The command in a folder, as from a shell."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    return subprocess.run(
        [*command, *arguments], cwd=folder, env={**inherited, **environment}, capture_output=True, text=True
    )


def files(folder):
    return sorted(path.name for path in folder.glob("a.*"))


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (CONSOLE, ["--keep-going"]),
        (MODULE, ["--keep-going"]),
        pytest.param(SAFE_MODULE, ["--keep-going"], marks=pytest.mark.slow),
        (CONSOLE, ["--keep-going", "--preset", "weightwatcher"]),
        pytest.param(CONSOLE, ["--keep-going", "--describe"], marks=pytest.mark.slow),
        pytest.param(CONSOLE, ["--keep-going", "--format", "json", "--alternatives"], marks=pytest.mark.slow),
        pytest.param(MODULE, ["--keep-going", "--base", "a.npz"], marks=pytest.mark.slow),
    ],
    ids=lambda given: " ".join(os.path.basename(each) for each in given),
)
def test_no_module_of_the_working_folder_runs(command, options, weights, names, before_main):
    marker = plant(weights, names - (before_main if command is MODULE else set()))
    read = files(weights)
    done = run(command, weights, "spectra", *read, ".", *options)
    assert not marker.exists(), marker.read_text().split()
    assert done.returncode == 1 and "a.safetensors" in done.stdout and "Traceback" not in done.stderr, done.stderr
    assert all(name in done.stdout + done.stderr for name in read)


@pytest.mark.parametrize(
    ("command", "named"),
    [
        pytest.param(CONSOLE, "on the path", id="capcore on the path"),
        pytest.param(MODULE, "by --path", id="python -m capcore by --path"),
        pytest.param(CONSOLE, "by --path", id="capcore by --path", marks=pytest.mark.slow),
        pytest.param(MODULE, "on the path", id="python -m capcore on the path", marks=pytest.mark.slow),
    ],
)
def test_the_code_of_a_network_is_not_taken_from_there_either(command, named, tmp_path, names, before_main):
    """The folder has a module of the name that is asked for; the one elsewhere is meant."""
    pytest.importorskip("jax")
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here"
    elsewhere.mkdir(), here.mkdir()
    (elsewhere / "own_networks.py").write_text("def apply(params, inputs):\n    return inputs @ params['w']\n")
    rng = np.random.default_rng(0)
    np.savez(here / "params.npz", w=rng.normal(size=3))
    np.savez(here / "data.npz", inputs=rng.normal(size=(20, 3)), targets=rng.normal(size=20))
    (here / "matplotlibrc").write_text("backend: module://drawn_by\n")
    marker = plant(here, {*names, "own_networks", "drawn_by"} - (before_main if command is MODULE else set()))
    arguments = ["network", "params.npz", "data.npz", "--module", "own_networks:apply", "--plot", "where.png"]
    if named == "on the path":
        done = run(command, here, *arguments, PYTHONPATH=os.fspath(elsewhere))
    else:
        done = run(command, here, *arguments, "--path", elsewhere)
    assert not marker.exists(), marker.read_text().split()
    assert done.returncode == 0 and done.stdout.startswith("3 of 3 parameters count"), done.stderr
    absent = run(command, here, *arguments)
    assert absent.returncode == 2 and "No module named 'own_networks'" in absent.stderr
    assert not marker.exists()


@pytest.mark.parametrize("arguments", [["--help"], ["network", "--help"], ["--version"], ["rerun"]], ids=" ".join)
@pytest.mark.parametrize("command", [CONSOLE, MODULE], ids=["capcore", "python -m capcore"])
def test_not_for_help_either(command, arguments, tmp_path, names, before_main):
    (tmp_path / "here").mkdir()
    marker = plant(tmp_path / "here", names - (before_main if command is MODULE else set()))
    done = run(command, tmp_path / "here", *arguments)
    assert done.returncode in (0, 2) and "Traceback" not in done.stderr and not marker.exists()


@pytest.mark.parametrize("name", ["capcore", "importlib"])
def test_what_python_itself_imports_for_a_module_is_as_documented(name, tmp_path):
    """If this fails, Python has become safer: say so on the page, and here."""
    (tmp_path / "here").mkdir()
    marker = plant(tmp_path / "here", {name})
    run(MODULE, tmp_path / "here", "--version")
    assert marker.exists()
    marker.unlink()
    assert run(SAFE_MODULE, tmp_path / "here", "--version").stdout.startswith("capcore ") and not marker.exists()


@pytest.mark.parametrize(
    "path", [":", pytest.param(".", marks=pytest.mark.slow), pytest.param("../link", marks=pytest.mark.slow)]
)
def test_a_path_of_imports_that_names_the_folder_adds_nothing(path, weights, names):
    """Python starts with it, and imports ``capcore`` and what that needs; nothing of the folder runs after that."""
    marker = plant(weights, names - {*sys.stdlib_module_names, *STARTED, "capcore", "lazy_loader"})
    (weights.parent / "link").symlink_to(weights)
    done = run(CONSOLE, weights.parent / "link", "spectra", *files(weights), "--keep-going", PYTHONPATH=path)
    assert not marker.exists(), marker.read_text().split()
    assert done.returncode == 1 and "a.safetensors" in done.stdout


def test_a_figure_is_drawn_as_elsewhere(weights, names):
    """Matplotlib reads its settings in the working folder before all others; its backend is a module."""
    elsewhere = weights.parent / "elsewhere"
    elsewhere.mkdir()
    marker = plant(weights, {*names, "drawn_by"})
    lines = ("backend: module://drawn_by", "figure.facecolor: red", "savefig.facecolor: red", "font.size: 3")
    (weights / "matplotlibrc").write_text("\n".join([*lines, "text.usetex: True"]))
    for folder in (weights, elsewhere):
        done = run(CONSOLE, folder, "spectra", weights / "a.npz", "--plot", "a.png", "--null-draws", "1")
        assert done.returncode == 0, done.stderr
    assert not marker.exists(), marker.read_text().split()
    assert (weights / "a.png").read_bytes() == (elsewhere / "a.png").read_bytes()


def test_every_spelling_of_the_folder_is_taken_off(tmp_path, monkeypatch):
    for name in ("here", "here/below", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    kept = [os.fspath(tmp_path / "other"), "below", os.fspath(tmp_path)]
    spelt = ["", ".", "./", "../here", "below/..", "../link/"]
    spelt += [os.fspath(tmp_path / name) for name in ("here", "link")]
    monkeypatch.setattr(sys, "path", [*spelt, *kept, *spelt])
    working_folder.off_the_path()
    assert sys.path == kept
    (tmp_path / "here" / "below").rmdir()
    (tmp_path / "here").rmdir()
    working_folder.off_the_path()  # no folder, no modules
    assert sys.path == kept
