"""The Makefile, what it runs, and what a newcomer without the tools is told."""

import os
import re
import shutil
import subprocess
import sys

import pytest

TARGETS = {"arithmetic", "check", "mutate", "book", "test", "notebooks", "bench", "clean", "help", "setup"}


def make(root, *arguments, **environment):
    return subprocess.run(
        ["make", *arguments], cwd=root, capture_output=True, text=True, env={**os.environ, **environment}
    )


def test_help_lists_the_targets(root):
    listed = re.findall(r"^make (\w+) +\S", make(root, "help").stdout, re.MULTILINE)
    assert set(listed) >= TARGETS


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_target_exists(root, target):
    assert make(root, "-n", target).returncode == 0


def test_the_book_is_built_with_warnings_as_errors(root):
    assert "jupyter-book build . -W --keep-going -n" in make(root, "-n", "book").stdout


def test_threads_are_capped(root):
    inherited = ("_NUM_THREADS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")  # the latter when make itself runs this test
    environment = {name: value for name, value in os.environ.items() if not name.endswith(inherited)}
    rule = 'show:\n\t@echo "$$OMP_NUM_THREADS $$OPENBLAS_NUM_THREADS $$MKL_NUM_THREADS"\n'
    command = ["make", "-f", "Makefile", "-f", "-", "show"]
    shown = subprocess.run(command, cwd=root, input=rule, capture_output=True, text=True, env=environment)
    assert shown.stdout.split() == ["1", "1", "1"]


def copied(root, tmp_path):
    """Where a copy of scripts/bootstrap.py is, in a folder without .venv."""
    script = tmp_path / "scripts" / "bootstrap.py"
    script.parent.mkdir()
    for name in ("scripts/bootstrap.py", "requirements.lock", "pyproject.toml", "Makefile"):
        shutil.copy(root / name, tmp_path / name)
    return script


def bootstrap(script, prelude):
    """Run it after some lines of Python."""
    program = f"import sys, runpy\n{prelude}\nrunpy.run_path({str(script)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize(
    ("prelude", "said"),
    [
        ("sys.version_info = (3, 9, 2)", "Python: found 3.9.2, expected 3.11 or newer."),
        ("sys.modules['ensurepip'] = None", "apt-get install python3-venv"),
    ],
)
def test_a_python_that_cannot_make_it_is_named(prelude, said, root, tmp_path):
    done = bootstrap(copied(root, tmp_path), prelude)
    assert (done.returncode, done.stdout) == (1, "") and said in done.stderr
    assert not (tmp_path / ".venv").exists()


STUB = """
import os, shutil, subprocess
from subprocess import CompletedProcess

real = subprocess.run


def run(command, **options):
    if "-m" not in command:
        return real(command, **options)
    print("RUN", *command[command.index("-m") + 1 :], flush=True)
    if "venv" in command:
        shutil.rmtree(command[-1], ignore_errors=True)
        os.makedirs(os.path.join(command[-1], "bin"))
        os.symlink(sys.executable, os.path.join(command[-1], "bin", "python"))
    return CompletedProcess(command, 0, "", "")


subprocess.run = run
"""
"""Nothing is installed, and what is made is small; .venv is looked at as ever."""


def works(venv):
    """As after ``make setup``: what runs is this Python, which has pip."""
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (venv / "bin" / "python").chmod(0o755)
    (venv / "own").touch()


def python_was_removed(venv):
    works(venv)
    (venv / "bin" / "python").unlink()
    (venv / "bin" / "python").symlink_to("/no/such/python3.11")


def python_was_upgraded(venv):
    """The link leads to another version, which has no packages here."""
    subprocess.run([sys.executable, "-P", "-m", "venv", "--without-pip", venv], check=True)
    (venv / "lib" / "python3.0" / "site-packages" / "pip").mkdir(parents=True)


def without_pip(venv):
    subprocess.run([sys.executable, "-P", "-m", "venv", "--without-pip", venv], check=True)


def half_made(venv):
    (venv / "lib").mkdir(parents=True)
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\n")


def too_old(venv):
    """It does not know -P."""
    works(venv)
    (venv / "bin" / "python").write_text("#!/bin/sh\necho Unknown option: -P >&2\nexit 2\n")


def not_executable(venv):
    works(venv)
    (venv / "bin" / "python").chmod(0o644)


def of_another_machine(venv):
    works(venv)
    (venv / "bin" / "python").write_bytes(b"\x7fELF" + bytes(60))


BROKEN = [python_was_removed, python_was_upgraded, without_pip, half_made, too_old, not_executable, of_another_machine]


@pytest.mark.parametrize("state", BROKEN)
def test_an_environment_that_cannot_be_used_is_made_again(state, root, tmp_path):
    script, venv = copied(root, tmp_path), tmp_path / ".venv"
    state(venv)
    done = bootstrap(script, STUB)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "Creating .venv again: it has no new enough Python that runs and finds pip"
    assert lines[1] == f"RUN venv --clear {venv}" and not (venv / "own").exists() and (venv / ".ready").exists()


def test_what_is_installed_is_what_is_locked(root, tmp_path):
    script, venv = copied(root, tmp_path), tmp_path / ".venv"
    works(venv)
    done = bootstrap(script, STUB)
    assert (done.returncode, done.stderr) == (0, "") and (venv / "own").exists()
    said, pip, packages, package = done.stdout.splitlines()
    assert said == "Installing the locked packages"
    assert pip.startswith("RUN pip install") and pip.endswith(f"--require-hashes -r {venv / 'uv.txt'}")
    assert packages.startswith("RUN uv pip") and packages.endswith("--require-hashes -r requirements.lock")
    assert package.startswith("RUN uv pip") and package.endswith("--no-deps --no-build-isolation -e .")
    (version, *hashes) = (venv / "uv.txt").read_text().splitlines()
    assert re.fullmatch(r"uv==[\d.]+ \\", version) and all("--hash=sha256:" in each for each in hashes)
    assert hashes and not hashes[-1].endswith("\\")
    (entry,) = re.findall(r"^uv==(?:.*\\\n)+.*\n", (root / "requirements.lock").read_text(), re.MULTILINE)
    assert (venv / "uv.txt").read_text() == entry


@pytest.mark.parametrize("make_it", ["write_text", "symlink_to"])
def test_what_is_no_folder_is_left_alone(make_it, root, tmp_path):
    script, venv = copied(root, tmp_path), tmp_path / ".venv"
    getattr(venv, make_it)("/no/such/folder")
    done = bootstrap(script, STUB)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(".venv: found a file or a link to nothing, expected a folder or nothing.")
    assert venv.is_symlink() or venv.read_text() == "/no/such/folder"


@pytest.mark.parametrize("state", [works, *BROKEN])
def test_make_looks_at_it_again(state, root, tmp_path):
    """Though it was ready once, and nothing has changed since in the repository."""
    copied(root, tmp_path)
    state(tmp_path / ".venv")
    (tmp_path / ".venv" / ".ready").touch()
    shown = make(tmp_path, "-n", "setup").stdout
    assert ("scripts/bootstrap.py" in shown) == (state is not works)
