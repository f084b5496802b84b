"""Ceilings of lines are held by ``make check``; no file is longer than can be read."""

import pytest

from scripts.sizes import code_lines, rooms_of, sizes, tracked

LONGEST = 400
"""Lines of any kind in one file."""


def test_lines_that_count():
    counted = ["X = 1  # one", "def f(", "    x,", "):", '    return """', '"""']
    others = ['"""Module."""', "", "# no", *counted[:4], '    """A', '    B"""', *counted[4:], ""]
    assert code_lines("\n".join(others)) == counted


def test_a_room_counts_for_the_core_too():
    lines, characters, files = sizes({"capcore/fitting/a.py": "X = 1\n", "capcore/large/b.py": "Y = 22\n"})
    assert lines == {"capcore": 2, "fitting": 1, "core": 1, "large": 1}
    assert characters["capcore"] == 11 and files["core"] == 1 and rooms_of("setup.py") == []


@pytest.mark.parametrize("room", ["capcore", "chapters", "scripts", "benchmarks"])
def test_no_file_is_longer_than_can_be_read(room):
    long = {path: text.count("\n") for path, text in tracked().items() if path.startswith(f"{room}/")}
    assert {path: length for path, length in long.items() if length > LONGEST} == {}
