"""Whether words in quotation marks stand in the sources, whose text comes out of PDF files and out of LaTeX.

Words and numbers are compared, in their order; typography is not: line breaks, hyphens, quotation marks, footnote
numbers glued to a word, ligatures. Formulas look different in each text: in a quotation whatever is neither a word nor
a plain number, and an ellipsis, may stand for a few pieces of the source, and no more.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

SHARED = Path(__file__).resolve().parents[3] / "shared" / "seeds"
SOURCES = {
    "paper 1": "paper1_capacity_allocation_analysis.txt",
    "paper 2": "paper2_scaling_up_capacity_perspective.txt",
    "paper 3": "paper3_universality_capacity_metrics.txt",
    "slides": "slides_effective_model_complexity.txt",
    "note": "note_capacity_vs_expressivity.txt",
}
GAP = 14
"""Pieces of the source that one formula or ellipsis of a quotation may stand for."""
ASIDE = 30
"""Pieces of a caption or a footnote that may stand between two breaks in the middle of a sentence."""
FORMULA, BREAK = "¤", "¶"
_PIECE = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*|¤|¶")
_QUOTED = re.compile(r"“([^“”]+)”|\"([^\"]+)\"")
_WORD = re.compile(r"(?:[A-Za-z][A-Za-z]+|[aIA]|\d+(?:\.\d+)?)(?:'s|s')?")


def pieces(text: str) -> list[str]:
    r"""Words and numbers of a source, in small letters; hyphens join, LaTeX is one ``¤`` a formula, a break ``¶``.

    >>> pieces("An effi-\ncient non-linear model.7 The $x^2$ case\n\nends")
    ['an', 'efficient', 'nonlinear', 'model', '7', 'the', '¤', 'case', '¶', 'ends']
    """
    text = re.sub(r"\$\$.+?\$\$|\$[^$\n]+\$", f" {FORMULA} ", unicodedata.normalize("NFKC", text))
    text = re.sub(r"\[\d+(?:, ?\d+)*\]", " ", text).replace("*", "")
    text = re.sub(r"(?<=[a-z])['’](?=s?\b)", "", text)
    text = re.sub(r"(?<=\w)[-\u2010\u2011]\s*(?=\w)", "", text)
    return [piece.lower() for piece in _PIECE.findall(re.sub(r"\n(?:\s*\n)+|\n ", f" {BREAK} ", text))]


def pattern(quotation: str) -> str:
    """What matches a quotation in the joined pieces of a source.

    >>> pattern("The 8-channel model").count("model"), pattern("at κ = 1 the model").count("1")
    (1, 1)
    """
    text = re.sub(r"\[\d+(?:, ?\d+)*\]", " ", quotation).replace("*", "").replace("…", f" {FORMULA} ")
    found: list[str] = []
    for token in re.sub(r"\$.*?\$", FORMULA, text).split():
        bare = token.strip(".,;:!?()[]“”\"'–—‘’").replace("’", "'")
        plain = re.sub(r"[-\u2010\u2011]", "", bare)
        if bare and _WORD.fullmatch(plain):
            found.extend(re.escape(piece) for piece in pieces(plain))
        elif bare:
            found.append(FORMULA)
    words = re.sub(rf"(?:(?<= )[\d\\.]+ )?{FORMULA}(?: (?:{FORMULA}|[\d\\.]+(?= |$)))*", FORMULA, " ".join(found))
    aside = rf"(?: {BREAK}(?:(?: [^{BREAK}\s]+){{0,{ASIDE}}} {BREAK})?)?"
    gap = rf"{aside}(?: \S+){{0,{GAP}}}?{aside} "
    return gap.join(part.replace(" ", f"{aside} ") for part in words.strip(f"{FORMULA} ").split(f" {FORMULA} "))


def quotations(text: str) -> list[str]:
    """What stands in quotation marks.

    >>> quotations('It is "large", or “so it seems”.')
    ['large', 'so it seems']
    """
    return [first or second for first, second in _QUOTED.findall(text)]


def stands(quotation: str, source: str) -> bool:
    r"""Whether the quotation stands in the text of a source.

    >>> stands("a small model of size κ_S works", "For us a small\nmodel of size kS works.")
    True
    >>> stands("a model always works", "For us a model\n\n4\n\nalways works."), stands("large", "A small one.")
    (True, False)
    """
    words = pattern(quotation)
    return bool(words) and re.search(rf"(?<!\S){words}(?!\S)", " ".join(pieces(source))) is not None


def source_of(place: str) -> str:
    """The text of the source whose name ``place`` begins with, such as ``paper 1, §3``."""
    (name,) = [name for key, name in SOURCES.items() if place.lower().startswith(key)]
    return (SHARED / name).read_text(encoding="utf-8")
