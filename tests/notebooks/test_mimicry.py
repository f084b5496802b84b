"""The chapter on mimicry with other parameters."""

import re

DRAWN = {"teacher_layers": 1, "teacher_width": 5}


def test_it_mimics_another_teacher(run, recorded):
    shown = run(**DRAWN)
    (cell,) = [cell for cell in shown.cells if "same answer as the teacher" in cell.source]
    teacher = re.search(
        r"^teacher: accuracy (\d+)%, same answer as the teacher 100%$", cell.outputs[-1].text, re.MULTILINE
    )
    assert int(teacher[1]) < 80, "five units answer worse than three layers of 32"
    values = recorded(shown)
    assert len(values) == 11 and {name.split(".")[1] for name in values} == {"10"}
    assert values["S4.10.memorises"] == 1
