"""Sizes are reported, and not tested to the line: ``python scripts/sizes.py``. No file is longer than can be read."""

import pytest

from scripts.sizes import PACKAGE, lines_of_code, report, sources_at

LONGEST = 400
"""Lines of any kind in one file."""


def test_lines_that_count():
    counted = ["X = 1  # one", "def f(", "    x,", "):", '    return """', '"""']
    others = ['"""Module."""', "", "# no", *counted[:4], '    """A', '    B"""', *counted[4:], ""]
    assert lines_of_code("\n".join([counted[0], *others[1:3], *others[4:]])) == len(counted)
    assert lines_of_code("\n".join(others)) == len(counted)


def test_the_report_counts_each_file_once():
    now = {"a.py": '"""A."""\n\nX = 1\n', "commands/b.py": "X = 1\nY = 2\n"}
    before = {
        "a.py": "X = 1\n",
        "cli.py": "Y = 2\n",
        "spectra/arguments.py": "Z = 3\n",
    }  # the last two are commands today
    rows = [line.split() for line in report({"before": before, "now": now}).splitlines()]
    assert [(row[0], *row[1:3], *row[-5:-3]) for row in rows[1:] if len(row) > 10] == [
        (".", "2", "2", "1", "1"),
        ("mathematics", "1", "1", "1", "1"),
        ("plumbing", "2", "2", "1", "2"),
        ("all", "3", "3", "2", "3"),
    ]
    assert [row[:3] for row in rows if row[0] in ("commands", "spectra")] == [
        ["commands", "–", "–"],
        ["spectra", "1", "1"],
    ]


def test_the_package_of_a_revision_is_counted():
    if not (PACKAGE.parent / ".git").exists():
        pytest.skip("a copy without history")
    assert sources_at("HEAD").keys() >= {"__init__.py", "spectra/hill.py"}


def test_no_file_is_too_long():
    lengths = {path.relative_to(PACKAGE): path.read_text("utf8").count("\n") for path in PACKAGE.rglob("*.py")}
    long = {path: length for path, length in lengths.items() if length > LONGEST}
    assert long == {}, f"expected at most {LONGEST} lines in a file: split what holds two concepts."
