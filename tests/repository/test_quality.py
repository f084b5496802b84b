"""The linter, the formatter and the type checker are clean."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "command",
    [("ruff", "check", "."), ("ruff", "format", "--check", "."), pytest.param(("mypy",), marks=pytest.mark.slow)],
    ids=["lint", "format", "types"],
)
def test_clean(root, command):
    done = subprocess.run([sys.executable, "-P", "-m", *command], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
