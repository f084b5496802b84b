"""Errata in the margin: each link to one reads as a link anywhere, and has a note beside the text of a wide page."""

import io
import re

import nbformat
import pytest
from lxml import html
from sphinx.application import Sphinx

from book._ext.margin_notes import errata
from tests.listings import ROOT

PAGE = (ROOT / "book" / "errata.md").read_text("utf8")
NOTES = errata(PAGE)
LINK = re.compile(r"\(\[E(\d\.\d+)\]\(\.\./book/errata\.md#e(\d-\d+)\)\)")


def test_every_entry_has_a_note_without_markup():
    assert set(NOTES) == {
        label for pair in re.findall(r"\{#(e\d-\d+)\}|\((e\d-\d+)\)=", PAGE) for label in pair if label
    }
    assert [note for note in NOTES.values() if re.search(r"`|\\|\{cite|\.\.$", note) or len(note) < 5] == []


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_link_to_an_erratum_stands_in_parentheses_and_has_a_note(path):
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    found = LINK.findall(text)
    assert len(found) == text.count("errata.md#"), "elsewhere it would leave a hole in the line"
    assert all(number.replace(".", "-") == label and f"e{label}" in NOTES for number, label in found)


def built(folder, text):
    """The page that has the text, and the warnings; the settings load nothing but the extension."""
    (folder / "book").mkdir()
    entry = "(e2-02)=\n### E2.02 · Paper 2, §3.1, Eq. 3\n\nThe space 𝒦^⊥.\n"
    (folder / "book" / "errata.md").write_text(f"# Errata\n\n## First\n\n{entry}")
    (folder / "index.md").write_text(f"# Page\n\n{text}\n\n```{{toctree}}\nbook/errata\n```\n")
    settings = {"extensions": ["myst_parser", "book._ext.margin_notes"]}
    warnings, out = io.StringIO(), folder / "out"
    Sphinx(folder, None, out, out, "html", settings, status=None, warning=warnings, freshenv=True).build()
    return html.fromstring((out / "index.html").read_text("utf8")), warnings.getvalue()


def test_the_note_holds_a_link_for_the_line_and_a_place_for_the_margin(tmp_path):
    page, warnings = built(tmp_path, "A second limit{erratum}`E2.02`.")
    (note,) = page.cssselect("p > span.erratum.margin")
    assert [(part.get("class"), part.text_content()) for part in note] == [
        ("narrow", " ("),
        ("wide", "Erratum "),
        ("reference internal", "E2.02"),
        ("narrow", ")"),
        ("wide", " · §3.1, Eq. 3."),
    ]
    assert note.cssselect("a")[0].get("href") == "book/errata.html#e2-02" and warnings == ""
    entries = html.fromstring((tmp_path / "out" / "book" / "errata.html").read_text("utf8"))
    assert [raised.text for raised in entries.cssselect("sup")] == ["⊥"]


def test_a_number_without_an_entry_is_a_warning(tmp_path):
    assert "e2-99" in built(tmp_path, "A slip{erratum}`E2.99`.")[1]
