"""Sphinx extension: tables that keep numbers on one line, and whose rows become cards on a phone where they are wide.

Three things that Markdown and pandas cannot say. Names of index and columns, for which pandas makes a second, nearly
empty row of heads, move into the first. A cell that holds a word (``one-line``), a number, or one with its interval
(``number``) does not break. A table with a column of sentences would hide it behind the edge of a phone; there each
row becomes a card with the heads beside its cells (``row-cards``). All of it is drawn by ``custom.css``.
"""

from __future__ import annotations

import re
from typing import Any

from bs4 import BeautifulSoup, Tag
from bs4.element import AttributeValueList
from sphinx.application import Sphinx

TABLE = re.compile(r"<table\b(?P<attributes>[^>]*)>.*?</table>", re.DOTALL)
DRAWN_OTHERWISE = re.compile(r"claims|capcore|genindex|modindex|indextable|autosummary|field-list")
NUMBER = re.compile(r"(?=.*\d)[\d\s.,:+±−×≥≤<>%e/()[\]*-]+|[−-]?[\d.]+ \(.*\d\)")
SENTENCE, COLUMNS = 45, 3
"""Letters of a cell's text, and number of columns, from which on a table becomes cards on a phone."""
WORD = 15
"""Letters from which on a text may break."""


def arranged(table: str) -> str:
    """The HTML of a table with its heads in one row, its numbers marked, and, if it is wide, names beside its cells.

    >>> print(arranged("<table><tr><td>0.25 [−0.1, 3 %]</td><td>what breaks is longer</td></tr></table>"))
    <table><tr><td class="number">0.25 [−0.1, 3 %]</td><td>what breaks is longer</td></tr></table>
    """
    soup = BeautifulSoup(table, "html.parser")
    _one_row_of_heads(soup)
    for cell in soup.select("td"):
        number = len(text := cell.get_text(strip=True)) < SENTENCE and NUMBER.fullmatch(text)
        if number or len(text) < WORD:
            _mark(cell, "number" if number else "one-line")
    columns = soup.select("thead > tr:last-child > *")
    heads = [" ".join(head.get_text().split()) for head in columns]
    rows = [row.find_all(["td", "th"], recursive=False) for row in soup.select("tbody > tr")]
    for head, *cells in zip(columns[::-1], *(row[::-1] for row in rows), strict=False):  # a name may span rows
        if any("number" in cell.get_attribute_list("class") for cell in cells):
            _mark(head, "number")
    longest = max((len(cell.get_text(strip=True)) for row in rows for cell in row), default=0)
    if len(heads) >= COLUMNS and longest > SENTENCE and all(len(row) == len(heads) for row in rows):
        _mark(soup.select_one("table"), "row-cards")
        for row in rows:
            for head, cell in zip(heads, row, strict=True):
                cell["data-label"] = head
    return str(soup)


def _one_row_of_heads(soup: BeautifulSoup) -> None:
    """Join the two rows of heads of pandas, of which one has the names of the index and the other all others."""
    rows = soup.select("thead > tr")
    if len(rows) != 2:
        return
    above, below = (row.find_all(["th", "td"], recursive=False) for row in rows)
    count = max((i + 1 for i, cell in enumerate(below) if cell.get_text(strip=True)), default=0)
    if len(above) == len(below) > count:
        for cell, name in zip(above, below[:count], strict=False):
            cell.replace_with(name)
        rows[1].decompose()


def _mark(tag: Tag | None, name: str) -> None:
    if tag is not None:
        before = tag.get_attribute_list("class") if tag.has_attr("class") else []
        tag["class"] = AttributeValueList([*before, name])


def arrange(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """All tables of a page but those with a form of their own."""
    if "body" in context:
        context["body"] = TABLE.sub(
            lambda found: found[0] if DRAWN_OTHERWISE.search(found["attributes"]) else arranged(found[0]),
            context["body"],
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Before the heads that are empty are mended (``accessible``)."""
    app.connect("html-page-context", arrange, priority=890)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
