"""Grids: what they mean, and that a file of them can do nothing but say it."""

from itertools import product

import pytest

from chapters.sweeps.grid import check_grid, read_grid
from chapters.sweeps.notebooks import NotebookError

RANDOM = {"draws": 50, "seed": 1, "parameters": {"x": {"log_uniform": [1e-3, 10]}, "k": {"integers": [2, 3]}}}


def test_every_setting_of_a_part_meets_every_one_of_the_others():
    grid = {"product": {"a": [1, 2], "b": ["x", "y"]}, "list": [{"c": 1}, {"c": 2, "d": 0}], "random": RANDOM}
    settings = list(check_grid(grid).settings())
    assert len(settings) == 2 * 2 * 2 * 50
    assert {(one["a"], one["b"], one["c"]) for one in settings} == set(product((1, 2), "xy", (1, 2)))


def test_draws_are_those_of_their_seed():
    first, again, other = (list(check_grid({"random": {**RANDOM, "seed": seed}}).settings()) for seed in (1, 1, 2))
    assert first == again != other
    assert all(1e-3 <= one["x"] <= 10 for one in first)
    assert {one["k"] for one in first} == {2, 3} and sum(one["x"] < 0.1 for one in first) > 10  # by its logarithm


DRAW = "random: {{draws: 2, seed: 0, parameters: {{{}}}}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("product: {n: !!python/object/apply:os.system [ls]}", "cannot be read"),
        ("a: &a [1, 1]\nproduct: {n: [*a, *a]}", "references"),
        ("product: {n: 3}", "product: n: found 3.*list"),
        ("prodct: {n: [3]}", "prodct"),
        ("[1, 2]", "found .1, 2."),
        ("list: [3]", "list: 0: found 3"),
        ("random: {draws: 2, seed: 0, parameters: {n: {normal: [0, 1]}}}", "uniform"),
        ("random: {draws: 0, seed: 0, parameters: {}}", "draws"),
        ("random: {draws: 2, parameters: {}}", "random"),
        ("[" * 1500, "cannot be read"),
        ("product: {n: [1], n: [2]}", "n, n, expected once"),
        ("product: {n: [1]}\n" + DRAW.format("n: {uniform: [0, 1]}"), "n in two of its parts"),
        ("list: []", "list: found .."),
        ("product: {}", "product: found {}"),
        (DRAW.format(""), "random: parameters: found {}"),
        ("product: {n: [" + "9" * 5000 + "]}", "digits"),
        ("product: {n: [.inf]}", "grid: found|random: found"),
        ("product: {n: [2024-01-01]}", "date is not JSON"),
        ("product: {1: [2]}", "product: 1"),
        (DRAW.format("n: {uniform: [-1.7e+308, 1.7e+308]}"), "range exceeds"),
        (DRAW.format("n: {uniform: [1, 0]}"), "high - low < 0"),
        (DRAW.format("n: {log_uniform: [0, 1]}"), "math domain"),
        (DRAW.format("n: {integers: [0, 2.7]}"), "random"),
        (DRAW.format("n: {integers: [0, 9223372036854775808]}"), "int64"),
        (DRAW.format("n: {choice: []}"), "choice: found"),
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
