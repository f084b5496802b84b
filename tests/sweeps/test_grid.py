"""Grids: what they mean, and that a file of them can do nothing but say it."""

import os

import pytest

from chapters.sweeps.declared import NotebookError
from chapters.sweeps.grid import check_grid, read_grid, settings_of, size

RANDOM = {"draws": 50, "seed": 1, "parameters": {"x": {"log_uniform": [1e-3, 10]}, "k": {"integers": [2, 3]}}}


def test_every_setting_of_a_part_meets_every_one_of_the_others():
    grid = {"product": {"a": [1, 2], "b": ["x", "y"]}, "list": [{"c": 1}, {"c": 2, "d": 0}], "random": RANDOM}
    found = list(settings_of(check_grid(grid)))
    assert len(found) == size(grid) == 2 * 2 * 2 * 50
    assert {(each["a"], each["b"], each["c"]) for each in found} == {
        (a, b, c) for a in (1, 2) for b in "xy" for c in (1, 2)
    }


def test_draws_are_those_of_their_seed():
    first, again = (list(settings_of({"random": RANDOM})) for _ in range(2))
    assert first == again != list(settings_of({"random": {**RANDOM, "seed": 2}}))
    assert all(1e-3 <= each["x"] <= 10 and each["k"] in (2, 3) for each in first)
    assert {each["k"] for each in first} == {2, 3} and sum(each["x"] < 0.1 for each in first) > 10  # by its logarithm


DRAW = "random: {{draws: 2, seed: 0, parameters: {{{}}}}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("product: {n: !!python/object/apply:os.system [ls]}", "cannot be read"),
        ("a: &a [1, 1]\nproduct: {n: [*a, *a]}", "references"),
        ("product: {n: 3}", "product: n: found 3, expected a list"),
        ("prodct: {n: [3]}", "prodct"),
        ("[1, 2]", "expected product, list or random"),
        ("list: [3]", "list"),
        ("product: {file: [/etc/passwd]}", "no path out"),
        ("product: {file: [a/../../b]}", "no path out"),
        ("product: {files: [[{deep: '..\\b'}]]}", "no path out"),
        ("list: [{file: 'C:\\x'}]", "no path out"),
        ("random: {draws: 2, seed: 0, parameters: {n: {normal: [0, 1]}}}", "expected one of uniform"),
        ("random: {draws: 0, seed: 0, parameters: {}}", "draws"),
        ("random: {draws: 2, parameters: {}}", "random"),
        ("product: {a: [" + "1," * 4000 + "], b: [" + "1," * 4000 + "]}", "at most 10,000,000"),
        ("[" * 1500, "cannot be read"),
        ("# " + "x" * 1_000_000, "bytes"),
        ("product: {n: [1]}\nproduct: {n: [2]}", "found product twice"),
        ("product: {n: [1], n: [2]}", "found n twice"),
        ("list: [{n: 1, m: {a: 1, b: 2, a: 3}}]", "found a twice"),
        ("product: {n: [1]}\nlist: [{n: 2}]", "n in product and in list"),
        ("product: {n: [1]}\n" + DRAW.format("n: {uniform: [0, 1]}"), "n in product and in random"),
        ("list: [{n: 1}]\n" + DRAW.format("n: {uniform: [0, 1]}"), "n in list and in random"),
        ("list: []", "list: found .., expected a list of mappings, or no list"),
        ("product: {}", "product: found {}"),
        ("random:", "random: found None"),
        (DRAW.format(""), "random: parameters: found {}"),
        ("product: {n: [" + "9" * 5000 + "]}", "5000 digits"),
        ("product: {n: [0x" + "f" * 5000 + "]}", "a number of 20000 bits"),
        ("list: 0x" + "f" * 5000, "a huge number"),
        ("product: {n: [.inf]}", "expected finite numbers"),
        ("product: {n: [[.nan]]}", "expected finite numbers"),
        ("product: {n: [2024-01-01]}", "date"),
        ("product: {n: [!!binary aGk=]}", "bytes"),
        ("product: {1: [2]}", "names that are text"),
        (DRAW.format("n: {uniform: [0, .inf]}"), "expected finite numbers"),
        (DRAW.format("n: {uniform: [-1.7e+308, 1.7e+308]}"), "a finite distance"),
        (DRAW.format("n: {uniform: [1, 0]}"), "the smaller one first"),
        (DRAW.format("n: {uniform: [a, 2]}"), "expected two numbers"),
        (DRAW.format("n: {log_uniform: [0, 1]}"), "above 0"),
        (DRAW.format("n: {integers: [0, 2.7]}"), "two whole numbers"),
        (DRAW.format("n: {integers: [0, 9223372036854775808]}"), "63 bits"),
        (DRAW.format("n: {integers: [0]}"), "two whole numbers"),
        (DRAW.format("n: {choice: []}"), "a list behind it"),
    ],
    ids=lambda text: text[:30],
)
def test_what_is_no_grid_is_refused(tmp_path, text, message):
    path = tmp_path / "grid.yml"
    path.write_text(text)
    with pytest.raises(NotebookError, match=message):
        read_grid(path)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.mkdir()])
def test_only_a_plain_file_is_read(tmp_path, make):
    make(tmp_path / "grid.yml")
    with pytest.raises(NotebookError, match="cannot be read as a grid"):
        read_grid(tmp_path / "grid.yml")
