"""What continuous integration promises, it gets: a skip there is a failure."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEST = "import pytest\n\n\ndef test_it():\n    pytest.skip({reason!r})\n"


@pytest.mark.parametrize(
    ("variable", "reason"),
    [
        ("CAPCORE_REQUIRE_SHARED", "needs ../shared, which is absent"),
        ("CAPCORE_REQUIRE_SITE", "the site is not built: run make book"),
        ("CAPCORE_REQUIRE_BROWSER", "no browser: found none of chromium"),
    ],
)
def test_a_skip_becomes_a_failure(tmp_path, monkeypatch, variable, reason):
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(TEST.format(reason=reason))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path]
    monkeypatch.delenv(variable, raising=False)
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    monkeypatch.setenv(variable, "1")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"but {variable} is set" in done.stdout


def test_ci_sets_them():
    script = (ROOT / ".ci" / "run").read_text()
    assert all(name in script for name in ("CAPCORE_REQUIRE_SHARED", "CAPCORE_REQUIRE_SITE", "CAPCORE_REQUIRE_BROWSER"))
