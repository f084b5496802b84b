"""Sizes are reported, and not tested to the line: ``python scripts/sizes.py``. No file is longer than can be read."""

from scripts.sizes import PACKAGE, lines_of_code, report

LONGEST = 400
"""Lines of any kind in one file."""


def test_lines_that_count():
    counted = ["X = 1  # one", "def f(", "    x,", "):", '    return """', '"""']
    others = ['"""Module."""', "", "# no", *counted[:4], '    """A', '    B"""', *counted[4:], ""]
    assert lines_of_code("\n".join([counted[0], *others[1:3], *others[4:]])) == len(counted)
    assert lines_of_code("\n".join(others)) == len(counted)


def test_the_report_counts_each_file_once(tmp_path):
    (tmp_path / "commands").mkdir()
    (tmp_path / "a.py").write_text('"""A."""\n\nX = 1\n', "utf8")
    (tmp_path / "commands" / "b.py").write_text("X = 1\nY = 2\n", "utf8")
    rows = [line.split() for line in report(tmp_path).splitlines()]
    assert [row[:3] for row in rows[1:]] == [
        [".", "1", "1"],
        ["commands", "1", "2"],
        ["mathematics", "1", "1"],
        ["all", "2", "3"],
    ]


def test_no_file_is_too_long():
    lengths = {path.relative_to(PACKAGE): path.read_text("utf8").count("\n") for path in PACKAGE.rglob("*.py")}
    long = {path: length for path, length in lengths.items() if length > LONGEST}
    assert long == {}, f"expected at most {LONGEST} lines in a file: split what holds two concepts."
