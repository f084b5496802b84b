"""The Makefile, what it runs, and what a newcomer without the tools is told."""

import os
import re
import subprocess
import sys

import pytest

TARGETS = {"arithmetic", "mutate", "book", "test", "notebooks", "bench", "clean", "help", "setup"}


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
    shown = subprocess.run(
        ["make", "-f", "Makefile", "-f", "-", "show"],
        cwd=root,
        input='show:\n\t@echo "$$OMP_NUM_THREADS $$OPENBLAS_NUM_THREADS $$MKL_NUM_THREADS"\n',
        capture_output=True,
        text=True,
        env=environment,
    )
    assert shown.stdout.split() == ["1", "1", "1"]


def bootstrap(root, tmp_path, prelude):
    """Run a copy of scripts/bootstrap.py, in a folder without .venv, after a line of Python."""
    script = tmp_path / "scripts" / "bootstrap.py"
    script.parent.mkdir()
    script.write_text((root / "scripts" / "bootstrap.py").read_text())
    program = f"import sys, runpy\n{prelude}\nrunpy.run_path({str(script)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / ".venv").exists()
    return done.stderr.strip()


def test_old_python_is_named(root, tmp_path):
    said = bootstrap(root, tmp_path, "sys.version_info = (3, 9, 2)")
    assert said.startswith("Python: found 3.9.2, expected 3.11 or newer.")


def test_missing_ensurepip_is_explained(root, tmp_path):
    assert "apt-get install python3-venv" in bootstrap(root, tmp_path, "sys.modules['ensurepip'] = None")
