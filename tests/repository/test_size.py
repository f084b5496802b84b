"""The package stays small: its files, its lines of code, and the longest of its files are within a budget."""

import ast
import io
import tokenize
from pathlib import Path

FILES, LINES, LONGEST = 120, 10_000, 300
"""At most so many files of ``capcore``, lines of code in all, and lines of any kind in one file."""
PACKAGE = Path(__file__).resolve().parents[2] / "capcore"
LAYOUT = {getattr(tokenize, name) for name in ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")}


def lines_of_code(text):
    """Lines that hold code: neither blank, nor a comment alone, nor of a docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for each in tokens if each.type not in LAYOUT for line in range(each.start[0], each.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
                lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def test_lines_that_count():
    assert (
        lines_of_code(
            '"""Doc."""\n\nX = 1  # one\n# no\n\n\ndef f(\n    x,\n):\n    """A\n    B"""\n    return """\n"""\n'
        )
        == 6
    )


def test_the_package_is_within_its_budget():
    files = sorted(PACKAGE.rglob("*.py"))
    texts = {path: path.read_text("utf8") for path in files}
    lines = sum(map(lines_of_code, texts.values()))
    advice = "What one chapter alone needs belongs to it, and a library beats our own code."
    assert len(files) <= FILES, f"found {len(files)} files, expected at most {FILES}. {advice}"
    assert lines <= LINES, f"found {lines:,} lines of code, expected at most {LINES:,}. {advice}"
    long = {path.relative_to(PACKAGE): text.count("\n") for path, text in texts.items() if text.count("\n") > LONGEST}
    assert long == {}, f"expected at most {LONGEST} lines in a file: split what holds two concepts."
