"""What a page says of itself in its head, and what the site lists for search engines."""

import io

import pytest
from lxml import html
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

SITE = "https://example.org/book/"
CITATION = "version: 1.2.0\ndate-released: 2026-01-31\n"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><style>:root{--0072b2:#0072b2}</style>'
    '<path d="M0 0H20V10H0z" style="fill: var(--0072b2)"/></svg>'
)
PAGES = {
    "index": "# First\n\n```{toctree}\nnotebooks/chapter\nplain\n```\n",
    "notebooks/chapter": "# A chapter\n\nReading time: 9 minutes.\n\n"
    "**In one sentence.** Start at $1/\\sqrt L$, at least"
    ' with "quotes".\n\n```{image} ../drawn.svg\n:alt: A blue box.\n```\n',
    "plain": "# Plain\n\nIts first words.\n",
}


def built(folder, site):
    """Heads of the pages, and the folder; the settings load the extension and those that read what it writes."""
    for name, text in PAGES.items():
        (folder / f"{name}.md").parent.mkdir(exist_ok=True)
        (folder / f"{name}.md").write_text(text)
    (folder / "CITATION.cff").write_text(CITATION)
    (folder / "drawn.svg").write_text(SVG)
    extensions = ["myst_parser", "book._ext.page_metadata", "sphinxext.opengraph", "sphinx.ext.viewcode"]
    settings = {"extensions": extensions, "myst_enable_extensions": ["dollarmath"], "author": "somebody"}
    settings |= {"ogp_site_url": site, "html_theme": "sphinx_book_theme", "project": "A book"}
    warnings, out = io.StringIO(), folder / "out"
    with docutils_namespace():
        Sphinx(folder, None, out, out, "html", settings, status=None, warning=warnings, freshenv=True).build()
    said = [line for line in warnings.getvalue().splitlines() if "already registered" not in line]  # by other tests
    assert said == []
    return {name: html.fromstring((out / f"{name}.html").read_text("utf8")) for name in (*PAGES, "search")}, out


def content(page, name, key="name"):
    return [element.get("content") for element in page.cssselect(f'meta[{key}="{name}"]')]


def test_the_description_is_the_one_sentence_of_the_page(tmp_path):
    pages, out = built(tmp_path, "")
    sentence = "Start at 1/√L, at least with “quotes”."
    assert content(pages["notebooks/chapter"], "description") == [sentence]
    assert content(pages["notebooks/chapter"], "og:description", "property") == [sentence]
    assert content(pages["plain"], "description") == ["Its first words."]
    assert content(pages["search"], "robots") == ["noindex"] and content(pages["plain"], "robots") == []
    assert content(pages["notebooks/chapter"], "citation_title") == ["A chapter"]
    assert content(pages["notebooks/chapter"], "citation_author") == ["somebody"]
    assert content(pages["notebooks/chapter"], "citation_publication_date") == ["2026-01-31"]
    assert content(pages["plain"], "citation_title") == []
    # Without an address of the site nothing names one.
    assert not [*out.glob("*.xml"), *out.glob("robots.txt"), *out.glob("_images/cards/*")]
    assert all(page.cssselect('link[rel="canonical"]') == [] for page in pages.values())


def test_with_an_address_pages_name_it_and_the_sitemap_lists_them(tmp_path):
    resvg_py = pytest.importorskip("resvg_py")
    pages, out = built(tmp_path, SITE)
    (link,) = pages["plain"].cssselect('link[rel="canonical"]')
    assert link.get("href") == f"{SITE}plain.html"
    assert content(pages["notebooks/chapter"], "citation_public_url") == [f"{SITE}notebooks/chapter.html"]
    (picture,) = content(pages["notebooks/chapter"], "og:image", "property")
    assert picture == f"{SITE}_images/cards/notebooks-chapter.png"
    assert content(pages["notebooks/chapter"], "og:image:alt", "property") == ["A blue box."]
    drawn, light = (out / picture.removeprefix(SITE)).read_bytes(), SVG.replace("var(--0072b2)", "#0072b2")
    assert drawn == resvg_py.svg_to_bytes(svg_string=light, width=1200, background="#ffffff")
    assert drawn.startswith(b"\x89PNG")
    listed = [place.text for place in html.fromstring((out / "sitemap.xml").read_bytes()).cssselect("loc")]
    assert listed == [f"{SITE}{name}.html" for name in ("index", "notebooks/chapter", "plain")]
    assert f"Sitemap: {SITE}sitemap.xml" in (out / "robots.txt").read_text()
    options = (out / "_static/documentation_options.js").read_text()
    assert "VERSION: '1.2.0'" in options
    page = (out / "plain.html").read_text("utf8")
    assert f"theme_switcher_json_url = '{SITE}versions.json'" in page and "show_version_warning_banner" in page
