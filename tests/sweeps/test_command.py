"""What the command is given and cannot use is one line and no *runs failed*; nothing foreign acts on the terminal."""

import errno
import os

import pandas as pd
import pytest

from chapters.sweeps import engine
from chapters.sweeps.command import for_csv, main

TOYS = "tests.sweeps.toys"


@pytest.fixture
def called(tmp_path, capsys):
    """``called(...)``: the command's status and what it says, with a grid of one setting unless it is told another."""

    def called(*options, target=f"{TOYS}:square", grid="product: {n: [1]}", output=tmp_path / "results"):
        path = tmp_path / "grid.yml"
        path.write_text(grid)
        status = main([target, "--grid", str(path), "-o", str(output), "--quiet", *options], "sweep")
        said = capsys.readouterr()
        return status, said.out + said.err

    return called


def refused(outcome, *words):
    status, said = outcome
    assert status == 2 and said.startswith("sweep: ") and said.count("\n") == 1 and said.isascii()
    assert all(word in said for word in words), said


UNUSABLE = {
    "seconds": ["-1", "0", "nan", "inf", "-inf"],
    "memory": ["-1", "0", "nan", "inf", "-inf"],
    "workers": ["-1", "0"],
}


@pytest.mark.parametrize(("option", "value"), [(option, value) for option in UNUSABLE for value in UNUSABLE[option]])
def test_what_an_option_cannot_be_is_refused(called, option, value):
    refused(called(f"--{option}={value}"), option, ": found")


@pytest.mark.parametrize(
    "target", [":", "os:path", "math:sin", f"{TOYS}:", f"{TOYS}:np", f"{TOYS}:os", ":x", "..:x", "x" * 5000]
)
def test_a_target_that_is_no_function_is_refused(called, target):
    refused(called(target=target))


def test_a_module_in_the_working_folder_is_not_imported(called, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("open('imported', 'w')\ndef f(n=1): return {}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    refused(called(target="mine:f"), "no module of this repository", "a notebook calls others")
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize("place", ["results", "above", "results/runs"])
def test_an_output_that_is_no_folder_of_results_is_refused(called, place, tmp_path):
    path = tmp_path / place if place != "above" else tmp_path / "above"
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    refused(called("--workers", "1", output=tmp_path / ("above/results" if place == "above" else "results")))


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_table_that_is_no_file_of_its_own_is_refused_before_any_run(called, kind, tmp_path):
    """A pipe would wait for its reader, and the target of a link would be overwritten."""
    (tmp_path / "results").mkdir()
    (tmp_path / "precious").write_text("mine")
    table = tmp_path / "results" / "table.csv"
    if kind == "pipe":
        os.mkfifo(table)
    else:
        table.symlink_to(tmp_path / "precious")
    refused(called("--workers", "1"), "table.csv", "expected a file or none")
    assert (tmp_path / "precious").read_text() == "mine" and not list(tmp_path.glob("results/runs/*"))


ESCAPES = "\x1b[31m\x1b]0;title\x07\x9b2J\x08\u202e"


GRIDS = [
    "product: {'%s': [1]}",
    "product: {n: ['%s']}",
    "'%s': 1",
    "list: [{'%s'",
    "product: {n: [1], 'a%s': [2], 'a%s': [3]}",
]


@pytest.mark.parametrize("grid", GRIDS)
def test_a_grid_does_not_act_on_the_terminal(called, grid):
    quoted = ESCAPES.encode("unicode_escape").decode()
    refused(called(grid=grid.replace("'", '"').replace("%s", quoted)))


def test_errors_do_not_act_on_the_terminal(called):
    status, said = called("--workers", "1", target=f"{TOYS}:troubled", grid="product: {what: [escapes]}")
    assert status == 1 and "1 runs, 1 failed" in said and r"ValueError: \x1b[31m" in said
    assert all(sign.isprintable() or sign == "\n" for sign in said)


def test_settings_do_not_act_on_the_terminal(called):
    status, said = called("--dry-run", target=f"{TOYS}:troubled", grid='product: {what: ["\\e[31m\\u202e"]}')
    assert status == 0 and r"\x1b[31m" in said and "\x1b" not in said and "\u202e" not in said


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (OSError(errno.ENOSPC, "no space"), 3, "the disk is full"),
        (OSError(errno.EDQUOT, "over quota"), 3, "the disk is full"),
        (OSError(errno.EIO, "broken"), 2, "broken"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
    ids=repr,
)
def test_what_stops_a_sweep_has_the_status_that_the_help_names(called, error, status, words, monkeypatch):
    def stopped(*_):
        raise error

    monkeypatch.setattr(engine, "run", stopped)
    assert called()[0] == status
    assert words in called()[1]


def test_the_command_sweeps_resumes_and_writes_a_table(called, tmp_path):
    grid = "product: {n: [1, 2, 3]}"
    assert "3 settings, 0 with a result, 3 to run" in called("--dry-run", grid=grid)[1]
    status, said = called("--workers", "1", grid=grid)
    assert status == 0 and "3 runs, 0 failed" in said
    assert "3 with a result, 1 to run" in called("--dry-run", grid="product: {n: [1, 2, 3, 4]}")[1]
    assert (tmp_path / "results" / "table.csv").read_text().count("\n") == 4


def test_cells_that_would_be_formulas_are_text(tmp_path):
    bad = ["=1+1", "+cmd", "-x", "@sum", "\t=1", "\r=1", "\n=1", "＝1"]
    fine = [-1.5, "3", "", "a=b", "1e-3", "b", None, "x"]
    table = pd.DataFrame({"=name": bad, "n": range(len(bad)), "fine": fine})
    for_csv(table).to_csv(tmp_path / "table.csv", index=False)
    lines = (tmp_path / "table.csv").read_text("utf8").splitlines()
    assert lines[0] == "'=name,n,fine" and len(lines) == len(bad) + 1
    assert all(line[0] in "'\\" for line in lines) and lines[1] == "'=1+1,0,-1.5" and lines[2].endswith(",3")
