"""The chapter on mimicry with other parameters."""

import re
from pathlib import Path

import nbformat

DRAWN = {"teacher_layers": 1, "teacher_width": 5}
PAGE = Path(__file__).parents[2] / "notebooks" / "mimicry.ipynb"


def accuracy(notebook):
    (cell,) = [cell for cell in notebook.cells if "same answer as the teacher" in cell.source]
    return int(
        re.search(r"^teacher: accuracy (\d+)%, same answer as the teacher 100%$", cell.outputs[-1].text, re.M)[1]
    )


def test_it_mimics_another_teacher(run, recorded):
    shown = run(**DRAWN)
    assert accuracy(shown) < accuracy(nbformat.read(PAGE, 4)), "five units answer worse than three layers of 32"
    values = recorded(shown)
    assert len(values) == 11 and {name.split(".")[1] for name in values} == {"10"}
    assert values["S4.10.memorises"] == 1
