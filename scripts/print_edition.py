"""Print the main line of the built book: ``python scripts/print_edition.py``, after ``make book``.

The pages of the main line become one document, in which links lead from chapter to chapter and others are plain
text; Chromium prints it to ``_build/html/capacity-allocation.pdf``, without the network. The first page of the site
then links to it. Exit status 1 without a built book or Chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from bs4 import BeautifulSoup, Tag

from scripts.contents import main_line

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
TARGET = "capacity-allocation.pdf"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
STYLE = """
article { break-before: page; }
article:first-of-type { break-before: auto; }
.headerlink, .cell details.hide, .copybtn, .sd-card-footer { display: none !important; }
figure, table, .capcore-claim, div.highlight, .cell_output, tr, li { break-inside: avoid; }
h1, h2, h3, h4, summary, p:has(+ .cell, + div.highlight, + ul, + ol) { break-after: avoid; }
p, li { orphans: 3; widows: 3; }
div.highlight pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 8.5pt; }
img { max-width: 100%; height: auto; }
body { font-size: 10.5pt; max-width: none; }
"""

FOOTER = '<div style="width: 100%; text-align: center; font-size: 8pt"><span class="pageNumber"></span></div>'


def anchor(url: str) -> str:
    """The anchor, in the one document, of a page or of a place on it.

    >>> anchor("notebooks/idea.html"), anchor("notebooks/idea.html#fig-shadows")
    ('notebooks-idea', 'notebooks-idea--fig-shadows')
    """
    page, fragment = urldefrag(url)
    name = page.removesuffix(".html").replace("/", "-")
    return f"{name}--{unquote(fragment)}" if fragment else name


def article(name: str, pages: set[str]) -> Tag:
    """The text of one page: unique anchors, links within the document alone, files found from the root."""
    page = f"{name}.html"
    found = BeautifulSoup((SITE / page).read_text("utf8"), "html.parser").find("article")
    if not isinstance(found, Tag):
        raise ValueError(f"{page}: found no article. Run make book.")
    for node in found.find_all(id=True):
        node["id"] = anchor(f"{page}#{node['id']}")
    found["id"] = anchor(page)
    for node in found.select("details:not([class], .capcore-claim *)"):  # solutions
        node["open"] = ""
    for node in found.find_all("source"):  # of a picture, for phones
        node.decompose()
    for node in found.find_all(src=True):
        node["src"] = urljoin(page, str(node["src"]))
    for link in found.find_all("a", href=True):
        url = urljoin(page, str(link["href"]))
        if url.startswith(("http", "mailto")):
            continue
        if urldefrag(url)[0] in pages:
            link["href"] = f"#{anchor(url)}"
        else:
            link.unwrap()
    return found


def document() -> str:
    """All pages in one, with the site's own style and MathJax."""
    names = list(main_line())
    whole = BeautifulSoup((SITE / f"{names[0]}.html").read_text("utf8"), "html.parser")
    for node in whole.head.find_all(["link", "script"]):  # type: ignore[union-attr]
        for key in {"href", "src"} & set(node.attrs):
            node[key] = urljoin(f"{names[0]}.html", str(node[key]))
    pages = {f"{name}.html" for name in names}
    articles = "".join(str(article(name, pages)) for name in names)
    head = "".join(str(node) for node in whole.head.find_all(["link", "style", "title"]))  # type: ignore[union-attr]
    scripts = "".join(str(node) for node in whole.find_all("script") if "mathjax" in str(node).lower())
    opening = '<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">'
    body = f'<body><main class="bd-content">{articles}</main></body>'
    return f"{opening}{head}<style>{STYLE}</style>{scripts}</head>{body}</html>"


def print_to_pdf(browser: str) -> None:
    """Print the document, once its formulas are set."""
    from playwright.sync_api import sync_playwright

    source = SITE / "print.html"
    source.write_text(document(), "utf8")
    try:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            page = chromium.new_page()
            page.goto(source.as_uri(), wait_until="load", timeout=300_000)
            page.wait_for_function("() => window.MathJax?.startup?.promise", timeout=300_000)
            page.evaluate("() => MathJax.startup.promise")
            margin: Any = dict.fromkeys(("top", "bottom", "left", "right"), "18mm")
            numbers: Any = {"display_header_footer": True, "header_template": "<i></i>", "footer_template": FOOTER}
            page.pdf(path=SITE / TARGET, format="A4", outline=True, tagged=True, margin=margin, **numbers)
            chromium.close()
    finally:
        source.unlink()


def link_from_first_page() -> None:
    """Fill the place that the first page keeps for the link."""
    for name in ("index.html", f"{next(iter(main_line()))}.html"):
        path = SITE / name
        text = path.read_text("utf8")
        href = "../" * (len(Path(name).parts) - 1) + TARGET
        link = f'<span id="print-edition"><a href="{href}">PDF of the main line</a></span>'
        path.write_text(text.replace('<span id="print-edition"></span>', link), "utf8")


def main() -> None:
    """Print, link, and say where it is."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if not (SITE / "index.html").is_file():
        sys.exit(f"found no {SITE.relative_to(ROOT)}/index.html, expected the built book. Run make book.")
    if browser is None:
        sys.exit(f"found none of {', '.join(BROWSERS)}, expected a browser that can print. Install Chromium.")
    print_to_pdf(browser)
    link_from_first_page()
    print(f"{(SITE / TARGET).relative_to(ROOT)}: {(SITE / TARGET).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
