"""Laws of a table as text: every cell is found again where its heading is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capcore.results.text_table import text_table

CELLS = st.text("ab1.", min_size=1, max_size=6)


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=4), st.sampled_from(["<", ">", "<>", "<<>", "><"]))
def test_cells_end_or_begin_below_their_heading(rows, align):
    headings = ["model", "n", "error"]
    lines = text_table(rows, headings, align).splitlines()
    assert [line.split() for line in lines] == [headings, *rows]
    assert lines == text_table([dict(zip(headings, row, strict=True)) for row in rows], headings, align).splitlines()
    for i, side in enumerate(align.ljust(3, align[-1])):
        edges = set()
        for line in lines:
            begin = 0
            for cell in line.split()[:i]:
                begin = line.index(cell, begin) + len(cell)
            begin = line.index(line.split()[i], begin)
            edges.add(begin if side == "<" else begin + len(line.split()[i]))
        assert len(edges) == 1


def test_one_column_takes_the_first_side():
    assert text_table([["fc"]], ["layer"], "><") == "layer\n   fc"


@pytest.mark.parametrize("rows", [[["a"]], [["a", "b", "c"]]])
def test_rows_of_another_length_are_refused(rows):
    with pytest.raises(ValueError, match="zip"):
        text_table(rows, ["model", "n"])
