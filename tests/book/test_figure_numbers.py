"""One numbering of figures: by chapter, with the details below it, and by letter behind the chapters."""

import pytest
from lxml import html
from sphinx.application import Sphinx
from sphinx.environment.collectors.toctree import TocTreeCollector
from sphinx.util.docutils import docutils_namespace

FIGURE = "```{{figure}} x.png\n:alt: A line.\n:name: fig-{}\n\nCaption.\n```\n"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415408d763f8ffff3f0005fe02fea7356981000000004945" + "4e44ae426082"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")

    def toctree(*pages, numbered=False):
        return "\n".join(["```{toctree}", *[":numbered: 1"] * numbered, *pages, "```", ""])

    pages = {
        "index": toctree("start") + toctree("first", "second", numbered=True) + toctree("check"),
        "start": FIGURE.format("s1") + FIGURE.format("s2"),
        "first": "## Section\n\n" + FIGURE.format("f1") + toctree("detail"),
        "detail": "## Part\n\n" + FIGURE.format("d1") + "\nAs {numref}`fig-c1` shows.\n",
        "second": FIGURE.format("n1"),
        "check": toctree("claims", "speed"),
        "claims": FIGURE.format("c1"),
        "speed": FIGURE.format("p1") + FIGURE.format("p2"),
    }
    (folder / "x.png").write_bytes(PIXEL)
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(f"# Page {name}\n\n{text}")
    settings = {"extensions": ["myst_parser", "book._ext.figure_numbers"], "numfig": True}
    out = folder / "out"
    with docutils_namespace(), pytest.MonkeyPatch.context() as patch:  # the extension replaces it
        patch.setattr(TocTreeCollector, "assign_figure_numbers", TocTreeCollector.assign_figure_numbers)
        Sphinx(folder, None, out, out, "html", settings, status=None, warning=None, freshenv=True).build()
    return lambda name: html.fromstring((out / f"{name}.html").read_text("utf8"))


def test_numbers(built):
    def numbers(name):
        return [part.text_content().strip() for part in built(name).cssselect("figure .caption-number")]

    assert numbers("start") == ["Fig. 1", "Fig. 2"]
    assert numbers("first") == ["Fig. 1.1"] and numbers("detail") == ["Fig. 1.2"] and numbers("second") == ["Fig. 2.1"]
    assert numbers("claims") == ["Fig. A.1"] and numbers("speed") == ["Fig. B.1", "Fig. B.2"]
    assert "As Fig. A.1 shows" in built("detail").text_content()


def test_chapters_alone_have_numbers(built):
    titles = {name: built(name).cssselect("h1")[0].text_content() for name in ("first", "detail", "speed")}
    assert (
        titles["first"].startswith("1.") and titles["detail"].startswith("Page") and titles["speed"].startswith("Page")
    )
    assert built("first").cssselect("h2")[0].text_content().startswith("Section")
