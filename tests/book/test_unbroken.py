"""Formulas with their punctuation, and names with hyphens, that a browser keeps on one line."""

from docutils import nodes
from docutils.utils import new_document

from book._ext.unbroken import keep_formulas, keep_names


def kept(*children):
    document = new_document("page")
    document += nodes.paragraph("", "", *children)
    before = document.astext()
    keep_formulas(document)
    keep_names(document)
    assert document.astext() == before, "the text stays as it is"
    return [span.astext() for span in document.findall(nodes.inline)]


def formula(text="x"):
    return nodes.math("", text)


def test_a_formula_and_the_punctuation_that_touches_it_are_one():
    assert kept(nodes.Text("at "), formula("w = 1"), nodes.Text(". Then")) == ["w = 1."]
    assert kept(nodes.Text("so ("), formula(), nodes.Text("), and "), formula("y"), nodes.Text(";")) == ["(x),", "y;"]
    assert kept(formula(), nodes.emphasis(text="?")) == []


def test_words_beside_a_formula_stay_outside():
    assert kept(nodes.Text("with "), formula(), nodes.Text(" inputs, (a) and "), formula("y")) == []


def test_a_name_is_kept_in_prose_and_left_alone_in_code():
    assert kept(nodes.Text("L-BFGS-B stops; so does L-BFGS-B")) == ["L-BFGS-B", "L-BFGS-B"]
    assert kept(nodes.literal(text="L-BFGS-B"), nodes.Text("no name")) == []
