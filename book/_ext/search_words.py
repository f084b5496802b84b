"""Sphinx extension: what readers search for, in their own words, finds the page that answers it.

``book/search_words.yml`` lists such words for each page; they become entries of the index, which the search of the site
puts before what merely contains them. How-to pages and chapters then come before pages of the reference:
``book/_ext/search_scorer.js``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

HERE = Path(__file__).parent
WORDS = HERE.parent / "search_words.yml"


class SearchWords(SphinxTransform):
    """An index node with the words of a page, at its top."""

    default_priority = 800  # before the index is read from the page, which is at 850

    def apply(self, **_: Any) -> None:
        self.env.note_dependency(str(WORDS))
        words = yaml.safe_load(WORDS.read_text(encoding="utf-8")).get(self.env.docname)
        if words:
            entries = [("single", word, "", "main", None) for word in words]
            self.document.insert(0, addnodes.index(entries=entries))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the words, and the order of what is found."""
    app.add_transform(SearchWords)
    app.config.html_search_scorer = str(HERE / "search_scorer.js")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
