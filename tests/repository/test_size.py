"""The package stays small: its files, its lines of code, and the longest of its files are within a budget."""

import ast
import io
import tokenize
from pathlib import Path

FILES, LINES, LONGEST = 126, 12_700, 320
"""At most so many files of ``capcore``, lines of code in all, and lines of any kind in one file."""
PACKAGE = Path(__file__).resolve().parents[2] / "capcore"
LAYOUT = {getattr(tokenize, name) for name in ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")}


def lines_of_code(text):
    """Lines that hold code: neither blank, nor a comment alone, nor of a docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for each in tokens if each.type not in LAYOUT for line in range(each.start[0], each.end[0] + 1)}
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def test_lines_that_count():
    counted = ["X = 1  # one", "def f(", "    x,", "):", '    return """', '"""']
    others = ['"""Module."""', "", "# no", *counted[:4], '    """A', '    B"""', *counted[4:], ""]
    assert lines_of_code("\n".join([counted[0], *others[1:3], *others[4:]])) == len(counted)
    assert lines_of_code("\n".join(others)) == len(counted)


def test_the_package_is_within_its_budget():
    files = sorted(PACKAGE.rglob("*.py"))
    texts = {path: path.read_text("utf8") for path in files}
    lines = sum(map(lines_of_code, texts.values()))
    advice = "What one chapter alone needs belongs to it, and a library beats our own code."
    assert len(files) <= FILES, f"found {len(files)} files, expected at most {FILES}. {advice}"
    assert lines <= LINES, f"found {lines:,} lines of code, expected at most {LINES:,}. {advice}"
    long = {path.relative_to(PACKAGE): text.count("\n") for path, text in texts.items() if text.count("\n") > LONGEST}
    assert long == {}, f"expected at most {LONGEST} lines in a file: split what holds two concepts."
