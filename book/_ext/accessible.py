"""Sphinx extension: markup that screen readers need, where Sphinx, its theme or pandas write another.

``axe`` finds these on every page (``tests/book/test_browser.py``): a list of parameters that is no list of definitions,
entries of the bibliography in a role that was withdrawn, a corner of a table that heads nothing, and the switches of
the table of contents, which have no name. And words of the glossary can be tapped and reached with the keyboard, so
that their explanations can be read where nothing hovers (custom.css).
"""

from __future__ import annotations

import re
from typing import Any

from bs4 import BeautifulSoup
from sphinx.application import Sphinx

PARAMETERS = re.compile(r'<dl>\s*((?:<dd><em class="sig-param">.*?</dd>\s*)+)</dl>', re.DOTALL)
EMPTY_HEAD = re.compile(r"<th((?: [^>]*)?)>\s*(?:<p>\s*</p>)?\s*</th>")


def mended(body: str) -> str:
    """The text of a page with names and roles that its readers understand.

    >>> mended('<tr><th></th><th>alpha</th></tr>')
    '<tr><td></td><th>alpha</th></tr>'
    >>> mended('<dl> <dd><em class="sig-param">n</em></dd> </dl>')
    '<ul class="sig-params"><li><em class="sig-param">n</em></li> </ul>'
    >>> mended('<abbr class="glossary-term" title="Distance.">lag</abbr>')
    '<abbr tabindex="0" class="glossary-term" title="Distance.">lag</abbr>'
    """
    body = PARAMETERS.sub(_as_list, body)
    body = EMPTY_HEAD.sub(r"<td\1></td>", body)
    body = body.replace('<abbr class="glossary-term"', '<abbr tabindex="0" class="glossary-term"')
    return body.replace('role="doc-biblioentry"', 'role="listitem"')


def _as_list(found: re.Match[str]) -> str:
    items = found[1].replace("<dd>", "<li>").replace("</dd>", "</li>")
    return f'<ul class="sig-params">{items}</ul>'


def name_switches(contents: BeautifulSoup) -> BeautifulSoup:
    """Name each switch of the table of contents after the page whose parts it shows.

    >>> text = '<li><a>Reference</a><details><summary></summary></details></li>'
    >>> name_switches(BeautifulSoup(text, "html.parser")).summary["aria-label"]
    'Parts of Reference'
    """
    for entry in contents.select("li:has(> details)"):
        name = "".join(link.get_text(strip=True) for link in entry.select("a")[:1])
        for summary in entry.select(":scope > details > summary"):
            summary["aria-label"] = f"Parts of {name}"
    return contents


def mend(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Do both to a page before it is written; its table of contents is made when the template asks for it."""
    if "body" in context:
        context["body"] = mended(context["body"])
    made = context.get("generate_toctree_html")
    if made is not None:
        context["generate_toctree_html"] = lambda *args, **options: _named(made(*args, **options))


def _named(contents: Any) -> Any:
    return name_switches(contents) if isinstance(contents, BeautifulSoup) else contents


def setup(app: Sphinx) -> dict[str, Any]:
    """After the theme, which puts the function into the context."""
    app.connect("html-page-context", mend, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
