"""Terms of the glossary: found once a page, as whole words, outside headings, links and formulas."""

from pathlib import Path

from docutils import nodes
from docutils.utils import new_document

from book._ext.glossary import definitions, explain

TERMS = definitions("lag\n: Distance.\n\ngauge\n: Change without effect.\n\nlag window\n: Several lags.\n")
GLOSSARY = Path(__file__).resolve().parents[2] / "book" / "glossary.md"


def marked(*children):
    document = new_document("page")
    document += list(children)
    explain(document, TERMS)
    return [(node.astext(), node["explanation"]) for node in document.findall(nodes.abbreviation)], document.astext()


def test_the_first_use_alone_is_marked_and_the_text_stays():
    found, text = marked(nodes.paragraph(text="Lags and a lag; gauges, flags and a lag window."))
    assert found == [("Lags", "Distance."), ("gauges", "Change without effect."), ("lag window", "Several lags.")]
    assert text == "Lags and a lag; gauges, flags and a lag window."


def test_headings_links_and_formulas_are_left_alone():
    link = nodes.paragraph("", "", nodes.reference("", "the lag", refuri="x"), nodes.math(text="lag"))
    assert marked(nodes.title(text="The lag"), link)[0] == []


def test_every_entry_is_read_and_stands_in_order():
    terms = list(definitions(GLOSSARY.read_text("utf8")))
    written = [line for line in GLOSSARY.read_text("utf8").splitlines()[4:] if line and not line.startswith(":")]
    assert sorted(terms) == sorted(written) and len(terms) > 30
    assert written == sorted(written, key=str.lower)
