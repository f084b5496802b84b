"""Grids: what they mean, and that a file of them can do nothing but say it."""

from itertools import product

import pytest

from chapters.sweeps.grid import check_grid, read_grid
from chapters.sweeps.notebooks import NotebookError


def test_every_setting_of_a_part_meets_every_one_of_the_others():
    grid = {"product": {"a": [1, 2], "b": ["x", "y"]}, "list": [{"c": 1}, {"c": 2, "d": 0}]}
    settings = list(check_grid(grid).settings())
    assert len(settings) == 2 * 2 * 2
    assert {(one["a"], one["b"], one["c"]) for one in settings} == set(product((1, 2), "xy", (1, 2)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("product: {n: !!python/object/apply:os.system [ls]}", "cannot be read"),
        ("a: &a [1, 1]\nproduct: {n: [*a, *a]}", "references"),
        ("product: {n: 3}", "product: n: found 3.*list"),
        ("prodct: {n: [3]}", "prodct"),
        ("[1, 2]", "found .1, 2."),
        ("list: [3]", "list: 0: found 3"),
        ("[" * 1500, "cannot be read"),
        ("product: {n: [1], n: [2]}", "n, n, expected once"),
        ("product: {n: [1]}\nlist: [{n: 2}]", "n in two of its parts"),
        ("list: []", "list: found .."),
        ("product: {}", "product: found {}"),
        ("product: {n: [" + "9" * 5000 + "]}", "digits"),
        ("product: {n: [.inf]}", "grid: found"),
        ("product: {n: [2024-01-01]}", "date is not JSON"),
        ("product: {1: [2]}", "product: 1"),
    ],
    ids=lambda text: text[:30],
)
def test_what_is_no_grid_is_refused(tmp_path, text, message):
    path = tmp_path / "grid.yml"
    path.write_text(text)
    with pytest.raises(NotebookError, match=message):
        read_grid(path)


def test_a_folder_is_no_grid(tmp_path):
    with pytest.raises(NotebookError, match="cannot be read as a grid"):
        read_grid(tmp_path)
