"""Sphinx extension: what search engines, citation managers and previews of links read of a page.

A page's description is its *In one sentence*, or else its first sentences, with formulas in words of plain text; its
preview shows its first figure. Addresses need that of the site (``ogp_site_url``): with one, pages name their canonical
address, there is a ``sitemap.xml``, and previews get a picture, as PNG, because no preview draws SVG. Pages without
text of their own, such as listings of code, are not indexed.
"""

from __future__ import annotations

import functools
import html
import re
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

ONE_SENTENCE = "In one sentence."
LONGEST = 300
"""Characters of a description; search engines show some 160."""
NOT_INDEXED = re.compile(r"^(_modules/.*|search|genindex|py-modindex|404)$")
CHAPTER = re.compile(r"^(notebooks/|book/index$)")
SYMBOLS = {r"\sqrt": "√", r"\times": "×", r"\le": "≤", r"\ge": "≥", r"\approx": "≈", r"\alpha": "α", r"\kappa": "κ"}
CARD_WIDTH = 1200  # pixels, as previews show them


def description(doctree: nodes.document) -> str:
    """The page's *In one sentence*, or its first paragraphs, as plain text of at most ``LONGEST`` characters."""
    paragraphs = [*doctree.findall(nodes.paragraph)]
    own = next((paragraph for paragraph in paragraphs if paragraph.astext().startswith(ONE_SENTENCE)), None)
    text = " ".join(map(plain, paragraphs[:3])) if own is None else plain(own).removeprefix(ONE_SENTENCE)
    return shortened(text.strip())


def plain(paragraph: nodes.paragraph) -> str:
    """A paragraph as text, without references and with readable formulas."""
    copy = paragraph.deepcopy()
    for node in [*copy.findall(nodes.math)]:
        node.replace_self(nodes.Text(readable(node.astext())))
    for node in [*copy.findall(nodes.reference), *copy.findall(nodes.footnote_reference)]:
        if isinstance(node, nodes.footnote_reference) or "bibtex" in node.get("classes", []):
            node.parent.remove(node)
    return re.sub(r"\s+", " ", re.sub(r"\s*\[\s*,?\s*\]", "", copy.astext())).strip()


def readable(formula: str) -> str:
    r"""A formula of LaTeX as one would type it.

    >>> readable(r"1/\sqrt L"), readable(r"\mathcal{K} \le 2^{10}")
    ('1/√L', 'K ≤ 2^10')
    """
    for command, symbol in SYMBOLS.items():
        formula = re.sub(re.escape(command) + r"(?![a-zA-Z])\s*", f"{symbol} " if symbol in "≤≥≈×" else symbol, formula)
    return re.sub(r"[{}$]", "", re.sub(r"\\([a-zA-Z]+|.)", "", formula)).strip()


def shortened(text: str) -> str:
    """Whole sentences, as many as fit, or else words.

    >>> shortened("One. Two."), len(shortened("word " * 200)) <= LONGEST
    ('One. Two.', True)
    """
    if len(text) <= LONGEST:
        return text
    sentences = text[:LONGEST].rpartition(". ")[0]
    return f"{sentences}." if sentences else text[: LONGEST - 1].rpartition(" ")[0] + "…"


def add_tags(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Add a page's tags, before ``sphinxext.opengraph`` looks for a description and a picture."""
    tags = {"robots": "noindex"} if NOT_INDEXED.match(pagename) else {}
    if doctree is not None:
        site, tags["description"] = app.config.ogp_site_url, description(doctree)
        context["meta"] = {**(context.get("meta") or {}), "og:description": tags["description"]}
        if site:
            context["meta"] |= card(app, pagename, doctree)
        if CHAPTER.match(pagename):
            tags |= {
                "citation_title": html.unescape(re.sub(r"<[^>]+>", "", context["title"])),
                "citation_author": app.config.author,
                "citation_publication_date": str(citation(app.srcdir)["date-released"]),
            }
            tags |= {"citation_public_url": site + app.builder.get_target_uri(pagename)} if site else {}
    elements = [f'<meta name="{name}" content="{html.escape(content)}" />\n' for name, content in tags.items()]
    context["metatags"] = context.get("metatags", "") + "".join(elements)


@functools.cache
def citation(root: str | Path) -> dict[str, Any]:
    """What ``CITATION.cff`` says, read once for all pages."""
    return dict(yaml.safe_load(Path(root, "CITATION.cff").read_text("utf8")))


def card(app: Sphinx, pagename: str, doctree: nodes.document) -> dict[str, str]:
    """Draw the page's first figure as PNG, in the colours of a light page."""
    image = next((image for image in doctree.findall(nodes.image) if image["uri"].endswith(".svg")), None)
    if image is None:
        return {}
    import resvg_py

    sources = {name: source for source, name in app.builder.images.items()}
    drawn = Path(app.srcdir, sources[Path(image["uri"]).name])
    path = Path("_images", "cards", pagename.replace("/", "-") + ".png")
    Path(app.outdir, path).parent.mkdir(parents=True, exist_ok=True)
    drawing = re.sub(r"var\(--([0-9a-f]{6})\)", r"#\1", drawn.read_text("utf8"))
    png = resvg_py.svg_to_bytes(svg_string=drawing, width=CARD_WIDTH, background="#ffffff")
    Path(app.outdir, path).write_bytes(png)
    return {"og:image": path.as_posix(), "og:image:alt": image.get("alt", "")}


def name_version(app: Sphinx, config: Config) -> None:
    """Pages know their version, and their address on the published site, which is that of the newest.

    With an address, pages of releases that are kept beside the newest say in a banner that they are old.
    """
    config.version = config.release = str(citation(app.srcdir)["version"])
    site = config.html_baseurl = config.html_baseurl or config.ogp_site_url
    if site:
        switcher = {"json_url": f"{site}versions.json", "version_match": config.version}
        config.html_theme_options |= {"switcher": switcher, "check_switcher": False}
        config.html_theme_options["show_version_warning_banner"] = True


def write_sitemap(app: Sphinx, error: Exception | None) -> None:
    """List the pages that are worth finding."""
    site = app.config.ogp_site_url
    if error is None and site and app.builder.name == "html":
        pages = sorted(app.builder.get_target_uri(name) for name in app.env.found_docs)
        places = "\n".join(f"<url><loc>{html.escape(site + page)}</loc></url>" for page in pages)
        urlset = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        text = f'<?xml version="1.0" encoding="utf-8"?>\n{urlset}\n{places}\n</urlset>\n'
        Path(app.outdir, "sitemap.xml").write_text(text, "utf8")
        Path(app.outdir, "robots.txt").write_text(f"User-agent: *\nDisallow:\nSitemap: {site}sitemap.xml\n", "utf8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handlers."""
    app.connect("config-inited", name_version)
    app.connect("html-page-context", add_tags, priority=400)
    app.connect("build-finished", write_sitemap)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
