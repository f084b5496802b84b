"""Count what a reader has to read: ``python scripts/budget.py``.

For every chapter: words of prose, sentences over 35 words, the share of those with at most eight, what comes first on
the page, visible lines of code in the longest cell, numbers glued into the text. Prose is what stands on the page
unfolded: text cells and what cells say. Formulas, code, tables, captions, claim boxes and folded passages are not
counted. Exit status 1 beyond a budget.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import nbformat

from scripts.contents import appendices, main_line

ROOT = Path(__file__).resolve().parent.parent
MAIN, DETAILS, SLIPS = 30_000, 40_000, 6_000  # words in all; the second holds the main line and the details below it
ERRATA = "book/errata"
CHAPTER, LONGEST_SENTENCE, SHORT, GLUED, VISIBLE = 2_200, 35, 8, 15, 15
LABELS = r"^#+ .*$|^\*[^*]+\*$|\*\*[^*]+[.:?]\*\*"  # headings, a page's source, bold words that open a passage
FOLDED = [r"<details.*?</details>", r"^(`{3,}|:{3,}|~{3,}).*?^\1 *$", r"^\|.*$", r"^%.*$", r"<!--.*?-->"]
SCRIPT = ["answer", "code", "picture"]
HIDDEN = {"hide-input", "remove-input", "hide-cell", "remove-cell"}  # tags of cells whose source the book hides


@dataclass(frozen=True)
class Chapter:
    """What was counted on one page."""

    name: str
    part: str
    words: int
    long: list[str]
    short: list[bool]
    order: list[str]
    lines: int
    glued: int

    def problems(self) -> Iterator[str]:
        """One line for each budget that the page exceeds."""
        if self.words > CHAPTER:
            yield f"found {self.words} words, expected at most {CHAPTER}."
        for sentence in self.long:
            yield f"found a sentence of {len(sentence.split())} words, expected at most {LONGEST_SENTENCE}: {sentence}"
        if self.glued > GLUED:
            yield f"found {self.glued} glued numbers, expected at most {GLUED}: say them in a cell."
        if self.lines > VISIBLE:
            yield f"found a visible cell of {self.lines} lines, expected at most {VISIBLE}: hide it or move the work."
        order = [kind for kind, _ in groupby(self.order)]  # a script may end in the key picture
        if self.name.startswith("notebooks/") and order[:2] != ["answer", "picture"] and order[:3] != SCRIPT:
            yield f"found {' → '.join(self.order[:3])}, expected the answer, then the key picture, then code."


def prose(markdown: str) -> str:
    """Text as it is read: no folded or fenced passages, tables, comments; a formula is one word.

    >>> prose("See [the *idea*](idea.md): $a + b$ holds.")
    'See the idea: x holds.'
    """
    for pattern in FOLDED:
        markdown = re.sub(pattern, "", markdown, flags=re.S | re.M if "^" not in pattern or "`" in pattern else re.M)
    markdown = re.sub(r"\$\$.*?\$\$|\$[^$]+\$", "x", markdown, flags=re.S)
    markdown = re.sub(r"\{[a-z:]+\}`[^`<]*(?:<[^`]*>)?`", "x", markdown)
    markdown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"[*`]|^\([\w-]+\)=$", "", markdown, flags=re.M).strip()


def sentences(text: str) -> list[str]:
    """Sentences of prose; a heading or a list's item ends one.

    >>> sentences("Two words. Three, e.g. four?")
    ['Two words.', 'Three, e.g. four?']
    """
    found = []
    for block in re.split(r"\n\s*\n|^\s*(?:[-*+]|\d+\.|#+) ", text, flags=re.M):
        found += re.split(r"(?<=[.?!:;])[\"”)]* +(?=[A-Z0-9“\"(])", " ".join(block.split()))
    return [sentence for sentence in found if sentence]


def pieces(page: Path) -> Iterator[tuple[str, str]]:
    """(kind, text) of what stands on the page, in order: prose, code, picture, output."""
    if page.suffix == ".md":
        yield "prose", re.sub(r"\A---\n.*?\n---\n", "", page.read_text("utf8"), flags=re.S)
        return
    for cell in nbformat.read(page, as_version=4).cells:
        if cell.cell_type == "markdown":
            yield "prose", cell.source
            continue
        tags = set(cell.metadata.get("tags", []))
        if not tags & HIDDEN:
            yield "code", cell.source
        for output in cell.outputs if not tags & {"hide-cell", "remove-cell", "remove-output"} else []:
            yield from _shown(output)


def _shown(output: Any) -> Iterator[tuple[str, str]]:
    data, own = output.get("data", {}), output.get("metadata", {}).get("capcore", {})
    if {"image/png", "image/svg+xml"} & set(data):
        yield "picture", ""
    elif "text/markdown" in data and not own.get("caption"):
        yield "prose", data["text/markdown"]


def count(name: str, part: str) -> Chapter:
    """The counts of one page, ``notebooks/idea`` for example."""
    page = next(path for suffix in (".ipynb", ".md") if (path := ROOT / f"{name}{suffix}").is_file())
    found = list(pieces(page))
    text = "\n\n".join(prose(each) for kind, each in found if kind == "prose")
    order = ["answer" if "**In one sentence" in each else kind for kind, each in found]
    order = [kind for kind in order if kind != "prose"]
    lines = max((each.count("\n") + 1 for kind, each in found if kind == "code"), default=0)
    glued = sum(each.count("{glue") for kind, each in found if kind == "prose")
    long = [each for each in sentences(text) if len(each.split()) > LONGEST_SENTENCE]
    said = [prose(re.sub(LABELS, "", each, flags=re.M)) for kind, each in found if kind == "prose"]
    short = [len(each.split()) <= SHORT for one in said for each in sentences(one) if re.search(r" .*[.?!:;)”]$", each)]
    return Chapter(name, part, len(text.split()), long, short, order, lines, glued)


def _share(chapters: list[Chapter]) -> str:
    short = [each for chapter in chapters for each in chapter.short]
    return f"{sum(short) / max(len(short), 1):3.0%}"


def main() -> int:
    """Print the table and the problems."""
    led, behind = ([count(*each) for each in pages.items()] for pages in (main_line(), appendices()))
    slips = [each for each in behind if each.name == ERRATA]
    behind = [each for each in behind if each.name != ERRATA]
    problems = [f"{each.name}: {problem}" for each in [*led, *behind, *slips] for problem in each.problems()]
    for name, found, budget in (("main line", led, MAIN), ("details", behind, None), ("errata", slips, SLIPS)):
        for part in dict.fromkeys(chapter.part for chapter in found):
            print(part)
            for each in (chapter for chapter in found if chapter.part == part):
                told = f"{len(each.long):2} long  {_share([each])} short"
                print(f"{each.words:6} words  {told}  {each.lines:3} lines  {each.glued:3} glued  {each.name}")
        words = sum(each.words for each in found)
        print(f"{name}: {words:,} words{f' of {budget:,}' if budget else ''}, {_share(found)} of sentences short\n")
        if budget and words > budget:
            problems.append(f"{name}: found {words:,} words, expected at most {budget:,}.")
    words = sum(each.words for each in [*led, *behind])
    print(f"main line and details: {words:,} words of {DETAILS:,}\n")
    problems += [f"both: found {words:,} words, expected at most {DETAILS:,}."] if words > DETAILS else []
    print("\n".join(problems))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
