"""Sphinx extension: on the page of a chapter, the details below it stay folded in the contents at the side.

The theme opens what lies below the page that is read, so that up to thirty entries would stand in sight. Folded, the
contents have two dozen; the details of a chapter open with its arrow, and on the pages of these details.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bs4 import BeautifulSoup
from sphinx.application import Sphinx


def fold_own(contents: BeautifulSoup) -> BeautifulSoup:
    """Close the details of the entry that is the page itself; those of an entry above it stay open.

    >>> page = '<li><a class="current">{}</a><details open><summary></summary><ul><li>{}</li></ul></details></li>'
    >>> inner = page.format("Detail", "<a>More</a>")
    >>> found = fold_own(BeautifulSoup(page.replace(' class="current"', "").format("Chapter", inner), "html.parser"))
    >>> [node.has_attr("open") for node in found.find_all("details")]
    [True, False]
    """
    for node in contents.select("li:has(> a.current) > details[open]"):
        del node["open"]
    return contents


def shorten(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Fold the contents when the template asks for them."""
    made: Callable[..., Any] | None = context.get("generate_toctree_html")
    if made is None:
        return

    def folded(*args: Any, **options: Any) -> Any:
        contents = made(*args, **options)
        return fold_own(contents) if isinstance(contents, BeautifulSoup) else contents

    context["generate_toctree_html"] = folded


def setup(app: Sphinx) -> dict[str, Any]:
    """After the theme, which puts the function into the context."""
    app.connect("html-page-context", shorten, priority=910)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
