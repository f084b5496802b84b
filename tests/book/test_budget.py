"""What a reader has to read stays within its budget: ``python scripts/budget.py`` prints the table."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from scripts import budget

FOUND = budget.chapters()


@pytest.mark.parametrize("chapter", FOUND, ids=lambda chapter: chapter.name)
def test_a_chapter_is_within_its_budget(chapter):
    assert list(chapter.problems()) == []


@pytest.mark.parametrize(("appendix", "most"), [(False, budget.MAIN), (True, budget.APPENDIX)])
def test_main_line_and_appendices_are_within_theirs(appendix, most):
    assert sum(each.words for each in FOUND if (each.part in budget.APPENDICES) == appendix) <= most


def counted(tmp_path, monkeypatch, *cells):
    monkeypatch.setattr(budget, "ROOT", tmp_path)
    (tmp_path / "notebooks").mkdir()
    nbformat.write(new_notebook(cells=list(cells)), tmp_path / "notebooks" / "x.ipynb")
    return budget.count("notebooks/x", "I")


def picture(**metadata):
    return new_code_cell("draw()", outputs=[new_output("display_data", {"image/png": "…"})], metadata=metadata)


def said(text, **own):
    return new_code_cell(
        "say()",
        outputs=[new_output("display_data", {"text/markdown": text}, metadata={"capcore": own})],
        metadata={"tags": ["remove-input"]},
    )


def test_prose_is_what_stands_unfolded(tmp_path, monkeypatch):
    folded = (
        "<details><summary>Solution</summary>\n\nnot counted\n\n</details>\n\n```python\nnot = 1\n```\n\n| a | b |\n"
    )
    found = counted(
        tmp_path,
        monkeypatch,
        new_markdown_cell("# Title\n\n**In one sentence.** Yes."),
        picture(tags=["hide-input"]),
        new_markdown_cell(f"Two [words](x.md) and $a + b$.\n\n{folded}"),
        said("Three words said."),
        said("A caption.", caption=True),
    )
    assert found.words == 2 + 3 + 1 + 4 + 3 and list(found.problems()) == []


def test_each_budget_is_noticed(tmp_path, monkeypatch):
    long = " ".join(["word"] * 2300) + "."
    found = counted(
        tmp_path, monkeypatch, new_markdown_cell(long + "{glue:text}`x`" * 16), new_code_cell("x = 1\n" * 20), picture()
    )
    problems = "\n".join(found.problems())
    for expected in ("words, expected at most 2200", "a sentence of", "16 glued", "21 lines", "found code → code"):
        assert expected in problems
