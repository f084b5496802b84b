"""Sphinx extension: a reader is led along the chapters; details are reached from theirs, and lead back to it.

*Next* and *Previous* go from chapter to chapter. A chapter ends with links to its details, whose *Previous* is the
chapter, and whose *Next* the following detail. On a chapter, its details are folded in the contents at the side. The
reading time that a page names is counted from what it shows unfolded, and the time that its code took is added.

The theme opens what lies below the page that is read, so that up to thirty entries would stand in sight. Folded, the
contents have two dozen; the details of a chapter open with its arrow, and on the pages of these details.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any

from bs4 import BeautifulSoup
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

LONG = 20  # seconds that code runs, from which on a page says so


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


def neighbours(env: BuildEnvironment, page: str) -> tuple[str | None, str | None]:
    """The pages to which *Previous* and *Next* of a page lead."""
    below, root = env.toctree_includes, env.config.root_doc
    parent = next((name for name, pages in below.items() if page in pages), root)
    line = [*[root] * (parent == root), *below.get(parent, [])]
    if page not in line:
        return None, None
    place = line.index(page)
    before = line[place - 1] if place else None
    return before if parent == root else parent, next(iter(line[place + 1 :]), None)


def times(body: str, seconds: float) -> str:
    """How long a page takes: 150 words a minute, code and tables included, and for pictures and formulas 30 and 15 s.

    >>> times("<p>" + "word " * 300 + "</p><details><p>Folded.</p></details><figure></figure>" * 2, 41.0)
    'Reading time: 3 minutes, and its code runs for 41 seconds'
    """
    page = BeautifulSoup(body, "html.parser")
    for node in page.select("details:not([open]), script, style, .headerlink, .tag_parameters, .tag_remove-cell"):
        node.decompose()
    for node in page.select("pre, span.math, div.math"):
        node.string = node.get_text() if node.name == "pre" else "formula"
    read = len(page.get_text(" ").split()) / 150 + len(page.select("figure")) / 2 + len(page.select("div.math")) / 4
    ran = f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"
    return f"Reading time: {read:.0f} minutes" + f", and its code runs for {ran}" * (seconds >= LONG)


def lead(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Set the neighbours of a page, and have a chapter end with links to its details."""
    if pagename not in app.env.titles:
        return

    def link(name: str) -> dict[str, str]:
        return {"link": app.builder.get_relative_uri(pagename, name), "title": escape(app.env.titles[name].astext())}

    ran = (NbMetadataCollector.get_exec_data(app.env, pagename) or {}).get("runtime") or 0.0
    context["body"] = re.sub(r"Reading time: \d+ minutes", lambda _: times(context["body"], ran), context["body"])
    before, after = neighbours(app.env, pagename)
    context["prev"], context["next"] = (link(name) if name else None for name in (before, after))
    details = [link(name) for name in app.env.toctree_includes.get(pagename, []) if pagename != app.config.root_doc]
    if details and pagename.startswith("notebooks/"):
        links = " · ".join(f'<a href="{each["link"]}">{each["title"]}</a>' for each in details)
        context["body"] += f'<p class="details-of-chapter">More on this question: {links}</p>'


def setup(app: Sphinx) -> dict[str, Any]:
    """After the theme, which puts the function into the context."""
    app.connect("html-page-context", lead, priority=100)
    app.connect("html-page-context", shorten, priority=910)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
