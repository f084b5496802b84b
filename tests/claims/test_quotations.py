"""What the registry and the errata put between quotation marks stands in the sources, word by word."""

import re
from pathlib import Path

import pytest

from chapters.claims.registry import load
from tests.claims.quotations import SHARED, pieces, quotations, source_of, stands

ROOT = Path(__file__).resolve().parents[2]
NUMBERED = {"1": "paper 1", "2": "paper 2", "3": "paper 3", "4": "slides", "5": "note"}
needs_sources = pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared, which is absent")
TEXT = "The loss roughly falls as a power\nlaw of κS, in non-lin-\near models.3 It is $x^2$ then\n\n12\n\nand always."


@pytest.mark.parametrize(
    ("quotation", "expected"),
    [
        ("The loss roughly falls as a power law of κ_S", True),
        ("The loss falls as a power law", False),
        ("in nonlinear models", True),
        ("in non-linear models. It is x² then", False),
        ("It is x² then and always.", True),
        ("roughly falls … models", True),
        ("as a power laws", False),
        ("", False),
    ],
)
def test_words_count_and_typography_does_not(quotation, expected):
    assert stands(quotation, TEXT) == expected


def quoted_claims():
    for claim in load(ROOT / "book" / "claims.yml"):
        texts = (claim.claim, claim.sentence, claim.changed or "", claim.open or "", *claim.history)
        for quotation in (quotation for text in texts for quotation in quotations(text)):
            yield pytest.param(claim.source, quotation, id=f"{claim.id}-{quotation[:30]}")


def printed():
    """Id, source and what it prints, of each erratum: those with a heading of their own, and rows of the tables."""
    text = (ROOT / "book" / "errata.md").read_text(encoding="utf-8")
    for found in re.finditer(r"(?ms)^### E((\d)\.\d+).*?^\*\*Printed:\*\* (.*?)$", text):
        yield pytest.param(NUMBERED[found[2]], found[3], id=f"E{found[1]}")
    for found in re.finditer(r"(?m)^\| \[E((\d)\.\d+)\](?:[^|\\]|\\.)*\|(?:[^|\\]|\\.)*\|((?:[^|\\]|\\.)*)\|", text):
        yield pytest.param(NUMBERED[found[2]], found[3], id=f"E{found[1]}")


@needs_sources
@pytest.mark.parametrize(("source", "quotation"), list(quoted_claims()))
def test_the_registry_quotes_verbatim(source, quotation):
    assert stands(quotation, source_of(source)), quotation


@needs_sources
@pytest.mark.parametrize(("source", "cell"), list(printed()))
def test_what_an_erratum_calls_printed_is(source, cell):
    """Formulas cannot be compared across typesetting, so the words around them are quoted, three at least."""
    found = quotations(cell)
    assert max((len(pieces(each)) for each in found), default=0) >= 3, f"{cell}: quote the words around it"
    for quotation in found:
        assert stands(quotation, source_of(source)), quotation


def test_every_erratum_is_read():
    text = (ROOT / "book" / "errata.md").read_text(encoding="utf-8")
    assert len(list(printed())) == len(re.findall(r"(?m)^(?:### E|\| \[E)\d", text)) > 70
