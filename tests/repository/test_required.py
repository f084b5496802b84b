"""What continuous integration promises, it gets: a skip there is a failure."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REASONS = {
    "CAPCORE_REQUIRE_SHARED": "needs ../shared, which is absent",
    "CAPCORE_REQUIRE_SITE": "the site is not built: run make book",
    "CAPCORE_REQUIRE_BROWSER": "no browser: found none of chromium",
}
TEST = "import pytest\n\n\ndef test_{name}():\n    pytest.skip({reason!r})\n"


def failures(folder):
    """Variable → the tests that fail because it is set, when all tests of the folder are skipped."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder, folder]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    found = re.findall(r"test_(CAPCORE_\w+) _+\n.*?but (CAPCORE_\w+) is set", done.stdout, re.DOTALL)
    assert done.returncode == (1 if found else 0), done.stdout + done.stderr
    return found


def test_a_skip_becomes_a_failure_where_its_own_variable_is_set(tmp_path, monkeypatch):
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text("\n".join(TEST.format(name=n, reason=r) for n, r in REASONS.items()))
    for variable in REASONS:
        monkeypatch.delenv(variable, raising=False)
    assert failures(tmp_path) == []
    for variable in REASONS:
        monkeypatch.setenv(variable, "1")
    assert failures(tmp_path) == [(variable, variable) for variable in REASONS]


def test_ci_sets_them():
    script = (ROOT / ".ci" / "run").read_text()
    assert all(name in script for name in REASONS)
