"""The how-to pages, the first and the last: what is pasted from one, from top to bottom, prints what it shows."""

import contextlib
import importlib.util
import io

import pytest
from markdown_it import MarkdownIt

from book._ext.literal_parameters import WIDTH
from tests.listings import ROOT, run

PAGES = sorted(page for page in (ROOT / "book" / "howto").glob("*.md") if page.stem != "index")
ENDS = (ROOT / "book" / "index.md", ROOT / "book" / "take_away.md")
LIBRARIES = {"# needs PyTorch": "torch", "# needs xarray": "xarray", "# needs pyarrow": "pyarrow"}
"""First line of a block that an optional library is needed for; where it is missing, the page is read to there."""


def blocks(page):
    """The code blocks of a page that are Python or what it prints."""
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    return [token for token in tokens if token.type == "fence" and token.info.strip() in ("python", "text")]


def runnable(tokens):
    """The blocks before the first that needs a library which is not installed."""
    for i, token in enumerate(tokens):
        needed = LIBRARIES.get(token.content.split("\n")[0])
        if needed and importlib.util.find_spec(needed) is None:
            return tokens[:i]
    return tokens


@pytest.mark.parametrize("page", [*PAGES, *ENDS], ids=lambda page: page.stem)
def test_a_page_prints_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tokens = runnable(blocks(page))
    names = {"__name__": "__main__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for token in tokens:
            if token.info.strip() == "python":
                run(token.content, names)
    shown = "".join(token.content for token in tokens if token.info.strip() == "text")
    assert printed.getvalue().split() == shown.split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short_and_shows_what_it_prints(page):
    kinds = [token.info.strip() for token in blocks(page)]
    assert {"python", "text"} <= set(kinds), "a page has code and what it prints"
    code = [line for token in blocks(page) if token.info.strip() == "python" for line in token.content.splitlines()]
    assert sum(bool(line.strip()) for line in code) <= 30
    assert [line for token in blocks(page) for line in token.content.splitlines() if len(line) > WIDTH] == []
