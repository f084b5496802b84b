"""Sphinx extension: render the package's compact docstrings on the API pages.

Sections are NumPy's: ``name : type or shape`` and an indented explanation, or one or more ``name : what it is`` to a
line, where the signature has the types. A section ends at the first blank line. This turns sections into definition
lists and keeps asterisks, bars and underscores of formulas (A*, |i − j|, c_) from being read as markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, zip_longest
from typing import Any

from sphinx.application import Sphinx

SECTIONS = ("Parameters", "Returns", "Attributes", "Raises", "Warns", "Notes", "Examples")
LITERAL = re.compile(r"(``.+?``|:[a-z:]+:`[^`]+`|`[^`]+`_)", re.DOTALL)
EMPHASIS = re.compile(r"(?<![\w*\\])\*(?![\s*])[^*]+?(?<![\s*])\*(?![\w*])")
NAMES = r"\*{0,2}[A-Za-z_]\w*(?:, [A-Za-z_]\w*)*"
ITEM = re.compile(rf"({NAMES}) : (.*)", re.DOTALL)
NEXT_ITEM = re.compile(rf"(?<=[.;)])\s+(?={NAMES} : )")
SHORT = 90  # of a line with the first word of the next: it was ended on purpose, after a type


def render(lines: list[str]) -> list[str]:
    """Lines of reStructuredText for the lines of a docstring.

    >>> render(["Parameters", "----------", "a : (n,) A*. b : the rest."])
    ['.. rubric:: Parameters', '', '``a``', '   (n,) A\\\\*.', '``b``', '   the rest.']
    >>> render(["Parameters", "----------", "a : (n,) array", "    Lag 0 first."])
    ['.. rubric:: Parameters', '', '``a``', '   (n,) array: Lag 0 first.']
    """
    output: list[str] = []
    for block in _blocks(lines):
        if len(block) > 1 and block[0].strip() in SECTIONS and re.fullmatch(r"\s*-{4,}\s*", block[1]):
            output += [f".. rubric:: {block[0].strip()}", "", *_items(block[2:])]
        elif block[0].lstrip().startswith(">>>"):
            output += block
        else:
            output += escape("\n".join(block)).split("\n")
        output.append("")
    return output[:-1]


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines between blank lines."""
    for filled, block in groupby(lines, key=lambda line: bool(line.strip())):
        if filled:
            yield list(block)


def escape(text: str) -> str:
    """The text with everything escaped that markup would misread, outside literals, roles and *emphasis*.

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


def _items(lines: list[str]) -> list[str]:
    """A definition list; lines that name nothing stay a paragraph."""
    entries: list[str] = []
    for before, line in zip(["", *lines], lines, strict=False):
        if entries and line[:1].isspace():
            ended = not before[:1].isspace() and len(before) + len(line.split()[0]) < SHORT
            entries[-1] += (" : " if entries[-1].isidentifier() else ": " if ended else " ") + line.strip()
        elif line.isidentifier() or ITEM.match(line.strip()) or not entries or ITEM.match(entries[-1]) is None:
            entries.append(line.strip())
        else:
            entries[-1] += " " + line.strip()
    output: list[str] = []
    for entry in (part for whole in _join_prose(entries) for part in NEXT_ITEM.split(whole)):
        match = ITEM.fullmatch(entry)
        if match:
            names = ", ".join(f"``{name}``" for name in match.group(1).split(", "))
            output += [names, f"   {escape(match.group(2))}"]
        else:
            output += [escape(entry), ""]
    return output


def _join_prose(entries: list[str]) -> list[str]:
    """Consecutive entries that name nothing are one paragraph."""
    joined: list[str] = []
    for entry in entries:
        if joined and not ITEM.match(entry) and not ITEM.match(joined[-1]):
            joined[-1] += " " + entry
        else:
            joined.append(entry)
    return joined


def process(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Replace a docstring's lines in place."""
    lines[:] = [*render(lines), ""]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handler."""
    app.connect("autodoc-process-docstring", process)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
