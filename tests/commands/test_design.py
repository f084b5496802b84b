"""``capcore design``: an answer in words, code and a figure, and one line for what cannot be used."""

import numpy as np
import pytest
from scipy.signal import lfilter

import capcore as cc
from capcore.commands import design as command
from capcore.commands.design import NAMED, main
from capcore.commands.shared import in_options
from capcore.designs.families import FAMILIES

USUAL = ["series.csv", "--inputs", "16", "--params", "8"]


@pytest.fixture
def series(tmp_path, monkeypatch):
    """A folder with an AR(2) series as a table of one column, and one of two columns."""
    values = lfilter([1.0], [1.0, -0.5, -0.3], np.random.default_rng(0).normal(size=3000))
    np.savetxt(tmp_path / "series.csv", values, header="value", comments="")
    np.savetxt(tmp_path / "two.csv", np.c_[values, -values], header="a;b", comments="", delimiter=";")
    (tmp_path / "text.csv").write_text("value\none\ntwo\n")
    monkeypatch.chdir(tmp_path)
    return values


def told(capsys, *arguments):
    """(status, output, errors)"""
    status = main(arguments)
    return status, *capsys.readouterr()


def test_the_answer_is_that_of_the_package(series, capsys):
    status, out, err = told(capsys, *USUAL)
    expected = cc.design(np.loadtxt("series.csv", skiprows=1), max_params=8, n_inputs=16)
    assert (status, err, out) == (0, "", expected.report() + "\n")
    assert out.startswith(("Use 2 taps, weights by ", "Use 3 taps, weights by "))
    assert "repeating the last value" in out and "with a window of 16." in out


def test_warnings_are_in_the_report(series, capsys):
    np.savetxt("series.csv", series + np.arange(3000), header="value", comments="")
    status, out, err = told(capsys, *USUAL, "--families", "log taps")
    assert status == 0 and err == "" and "as it has a trend. With differences=1 it is" in out


def test_options(series, capsys):
    arguments = ["two.csv", "--column", "b", "--sep", ";", "--inputs", "16", "--params", "20", "--horizon", "2"]
    status, out, _ = told(capsys, *arguments, "--best", "3", "--families", "stacks", "log taps")
    rows = [line for line in out.splitlines() if "layers, kernels" in line or "geometric" in line]
    assert status == 0 and ", 2 steps ahead; " in out and 3 <= len(rows) <= 4
    assert (*FAMILIES,) == command.FAMILIES


def test_differences_are_undone_and_a_figure_is_written(series, capsys, tmp_path):
    options = ["--differences", "1", "--season", "4"]
    status, out, _ = told(capsys, *USUAL, *options, "--plot", "design.svg")
    found = cc.design(np.loadtxt("series.csv", skiprows=1), max_params=8, n_inputs=16, differences=1, season=4)
    assert status == 0 and out == found.report() + "\n"
    assert "<svg" in (tmp_path / "design.svg").read_text("utf8")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["absent.csv"], "SERIES: found no file 'absent.csv'"),
        (["two.csv"], "--column: not given, expected one of 'a', 'b'"),
        (["text.csv"], "--column: not given, expected numbers"),
        (
            ["series.csv", "--inputs", "2000"],
            "SERIES: found 2,400 values before those held out, expected at least 8,004",
        ),
        (["series.csv", "--params", "0"], "--params: found 0, expected a whole number of at least 1"),
        (["series.csv", "--inputs", "1"], "--inputs: found 1, expected a whole number of at least 2"),
        ([*USUAL, "--best", "0"], "--best: found 0, expected"),
        ([*USUAL, "--plot", "design.txt"], "--plot: found design.txt, expected a name that ends in .png"),
        ([*USUAL, "--horizon", "0"], "--horizon: found 0, expected a whole number of at least 1"),
        ([*USUAL, "--season", "1"], "--season: found 1, expected a whole number of at least 2"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_used_is_one_line(series, capsys, arguments, line):
    status, out, err = told(capsys, *arguments)
    assert (status, out) == (2, "") and err.startswith(f"capcore design: {line}") and err.count("\n") == 1


def test_an_unknown_family_is_a_usage_error(series, capsys):
    with pytest.raises(SystemExit) as left:
        main([*USUAL, "--families", "trees"])
    assert left.value.code == 2 and "invalid choice: 'trees'" in capsys.readouterr().err


def test_errors_are_shown_where_asked_for(series, monkeypatch, capsys):
    assert in_options("other: found 1", NAMED) == "other: found 1"
    with pytest.raises(ValueError, match="found no file"):
        main(["absent.csv", "--traceback"])
