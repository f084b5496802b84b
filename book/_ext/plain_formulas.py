"""Sphinx extension: formulas in docstrings stay as they are typed; ``sphinx.ext.napoleon`` reads the sections.

A*, |i − j| and c_ would be read as markup. This runs before napoleon, which takes what precedes the first colon of an
attribute's docstring for its type; docstrings here give no types in that way.
"""

from __future__ import annotations

import re
from itertools import groupby, zip_longest
from typing import Any

from sphinx.application import Sphinx

LITERAL = re.compile(r"(``.+?``|:[a-z:]+:`[^`]+`|`[^`]+`_)", re.DOTALL)
WORDS = r"(?![\s*])[^*]+?(?<![\s*])"
EMPHASIS = re.compile(rf"(?<![\w*\\])(?:\*\*{WORDS}\*\*|\*{WORDS}\*)(?![\w*])")
BEFORE_NAPOLEON = 400


def escape(text: str) -> str:
    """The text with everything escaped that markup would misread, outside literals, roles, *emphasis* and **more**.

    >>> escape("A* and v*, |i|, c_, ``a*b``")
    'A\\\\* and v\\\\*, \\\\|i\\\\|, c\\\\_, ``a*b``'
    """
    parts = LITERAL.split(text)
    for k in range(1, len(parts), 2):
        if parts[k].startswith("``"):
            parts[k] = f"``{parts[k][2:-2].strip()}``"
    for k in range(0, len(parts), 2):
        emphasised = EMPHASIS.findall(parts[k])
        plain = [_escape_plain(piece) for piece in EMPHASIS.split(parts[k])]
        parts[k] = "".join(a + b for a, b in zip_longest(plain, emphasised, fillvalue=""))
    return "".join(parts)


def _escape_plain(text: str) -> str:
    return re.sub(r"(?<=\w)_(?!\w)", r"\\_", re.sub(r"([*|])", r"\\\1", text))


def escape_prose(lines: list[str]) -> list[str]:
    r"""A docstring's lines, escaped paragraph by paragraph, without what stands in doctests.

    >>> escape_prose(["Of A*.", "", "Examples", "--------", ">>> 2 * 3", "6"])
    ['Of A\\*.', '', 'Examples', '--------', '>>> 2 * 3', '6']
    """
    output: list[str] = []
    for _, block in groupby(lines, key=lambda line: bool(line.strip())):
        paragraph = list(block)
        prose = next((k for k, line in enumerate(paragraph) if line.lstrip().startswith(">>>")), len(paragraph))
        output += escape("\n".join(paragraph[:prose])).split("\n") if prose else []
        output += paragraph[prose:]
    return output


def process(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Replace a docstring's lines in place."""
    lines[:] = escape_prose(lines)
    if lines and what in ("attribute", "data", "property"):
        lines[0] = f": {lines[0]}"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handler."""
    app.connect("autodoc-process-docstring", process, priority=BEFORE_NAPOLEON)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
