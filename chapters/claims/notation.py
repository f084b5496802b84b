"""Raised and lowered parts of a line of text, as the registry writes them: ``R^30``, ``𝒦_φ^⊥``, ``κ_{i+1}``."""

import re
from html import escape

_CHARACTER = r"[^\W_⁰¹²³⁴-⁹]"  # a letter or digit of any script that is not raised already
_MARKED = re.compile(
    rf"(?<=\S)(?:\^(?:\((?P<bracket>[^()]+)\)|\{{(?P<brace>[^{{}}]+)\}}|(?P<sup>⊥|{_CHARACTER}+))"
    rf"|_(?:\{{(?P<below>[^{{}}]+)\}}|(?P<sub>\|[^|]+\||{_CHARACTER}{{1,3}}(?!{_CHARACTER}|_))))"
)


def pieces(text: str) -> list[tuple[str, str]]:
    """``text`` cut into pairs of a kind (``text``, ``sup`` or ``sub``) and its characters, marks and brackets dropped.

    What follows ``_`` is lowered if it has at most three characters or stands in braces, so that the names of
    functions and arguments stay as they are.

    >>> pieces("κ_S of R^30")
    [('text', 'κ'), ('sub', 'S'), ('text', ' of R'), ('sup', '30')]
    """
    found, end = [], 0
    for match in _MARKED.finditer(text):
        if match.start() > end:
            found.append(("text", text[end : match.start()]))
        kind = "sup" if match[0].startswith("^") else "sub"
        found.append((kind, next(part for part in match.groups() if part is not None)))
        end = match.end()
    return [*found, ("text", text[end:])] if end < len(text) else found


def to_html(text: str) -> str:
    """``text`` as HTML: special characters escaped, raised and lowered parts marked.

    >>> to_html("κ & 𝒦_φ^⊥")
    'κ &amp; 𝒦<sub>φ</sub><sup>⊥</sup>'
    """
    return "".join(escape(part) if tag == "text" else f"<{tag}>{escape(part)}</{tag}>" for tag, part in pieces(text))
