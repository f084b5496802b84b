"""Formulas in docstrings reach the reference pages as they are typed."""

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from sphinx.ext.napoleon import Config, NumpyDocstring

from book._ext.plain_formulas import escape, escape_prose, process


@pytest.mark.parametrize(
    "text",
    ["A* and v*", "‖x‖ over |i − j|, or |i|", "c_ and c_i, Σ_ij", "(in, *taps, out) from (*taps, out)", "**options"],
)
def test_formulas_are_read_as_text(text):
    document = publish_doctree(escape(text))
    assert document.astext() == text and [type(node) for node in document.findall()] == [
        nodes.document,
        nodes.paragraph,
        nodes.Text,
    ]


def test_markup_stays():
    (paragraph,) = publish_doctree(escape("Of *two* kinds, **strong** too: ``a*b`` and A*."))
    assert [node.astext() for node in paragraph if not isinstance(node, nodes.Text)] == ["two", "strong", "a*b"]


def test_doctests_stay():
    lines = ["Of A*.", "", "Examples", "--------", ">>> 2 * 3 | 1", "7"]
    assert escape_prose(lines) == ["Of A\\*.", *lines[1:]]


def test_a_colon_in_the_first_line_of_a_property_is_no_type():
    lines = ["κ: the number of columns of A*."]
    process(None, "property", "dimension", None, None, lines)
    assert (
        NumpyDocstring(lines, Config(), what="property", name="dimension").lines()[0]
        == "κ: the number of columns of A\\*."
    )
