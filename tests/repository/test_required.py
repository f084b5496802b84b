"""What continuous integration promises, it gets: a skip there is a failure."""

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[2]
REASONS = {
    "CAPCORE_REQUIRE_SHARED": "needs ../shared, which is absent",
    "CAPCORE_REQUIRE_SITE": "the site is not built: run make book",
    "CAPCORE_REQUIRE_BROWSER": "no browser: found none of chromium",
}
TEST = "import pytest\n\n\ndef test_{name}():\n    pytest.skip({reason!r})\n"


def failures(pytester):
    """Variable → the tests that fail because it is set, when all tests of the folder are skipped."""
    done = pytester.runpytest_inprocess("-q", "-p", "no:cacheprovider", "--rootdir", pytester.path)
    found = re.findall(r"test_(CAPCORE_\w+) _+\n.*?but (CAPCORE_\w+) is set", done.stdout.str(), re.DOTALL)
    assert done.ret == (1 if found else 0), done.stdout.str()
    return found


@pytest.mark.parametrize("variables", [(), tuple(REASONS)], ids=["none", "all"])
def test_a_skip_becomes_a_failure_where_its_own_variable_is_set(pytester, monkeypatch, variables):
    pytester.makeconftest((ROOT / "conftest.py").read_text())
    pytester.makepyfile(test_it="\n".join(TEST.format(name=name, reason=reason) for name, reason in REASONS.items()))
    for variable in REASONS:
        monkeypatch.delenv(variable, raising=False)
    for variable in variables:
        monkeypatch.setenv(variable, "1")
    assert failures(pytester) == [(variable, variable) for variable in variables]


def test_ci_sets_them():
    script = (ROOT / ".ci" / "run").read_text()
    assert all(name in script for name in REASONS)
