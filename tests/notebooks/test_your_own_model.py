"""The chapter on one's own model with a reader's own series, and with what it must refuse."""

import nbformat
import numpy as np
import pytest

FAST = {"n_inputs": 16, "n_bootstrap": 3}


@pytest.fixture
def files(tmp_path):
    """A reader's files: a random walk pulled back to its mean, with a column of text and one that is too short."""
    noise = np.random.default_rng(0).normal(size=200)
    values = np.array([sum(0.8**k * noise[i - k] for k in range(i + 1)) for i in range(200)])
    np.save(tmp_path / "series.npy", values)
    np.savez(tmp_path / "several.npz", values=values, short=values[:60], flat=np.ones(200))
    rows = "\n".join(f"day {i},{value}" for i, value in enumerate(values))
    (tmp_path / "series.csv").write_text(f"day,value\n{rows}\n")
    return tmp_path


@pytest.mark.parametrize(("name", "column"), [("series.csv", ""), ("several.npz", "values")])
def test_a_series_of_the_readers_own(run, files, name, column):
    executed = run(series=str(files / name), column=column, logarithm=False, **FAST)
    text = nbformat.writes(executed)
    assert "18 parameters, exact \\u03ba = 16" in text or "18 parameters, exact κ = 16" in text


@pytest.mark.parametrize("parameters", [{"n_inputs": 24, "seed": 2}, {"channels": 2}], ids=str)
def test_it_runs_with_other_parameters(run, parameters):
    run(**{**FAST, **parameters})


@pytest.mark.parametrize(
    ("message", "parameters"),
    [
        ("series: found no file '.*absent.csv'", {"series": "absent.csv"}),
        ("type of file: found '.ipynb', expected one of", {"series": "your_own_model.ipynb"}),
        ("column: found 'volumes'.*Did you mean 'volume'", {"column": "volumes"}),
        ("column 'date': found .*expected a column of numbers", {"column": "date"}),
        ("series: found 1,047 values, expected at least 2052 .*Give a longer series", {"n_inputs": 512}),
    ],
)
def test_it_refuses_in_one_line(refused, message, parameters):
    refused(message, **parameters)


@pytest.mark.parametrize(
    ("message", "column"),
    [
        ("series: found 60 values, expected at least 68", "short"),
        ("series: found the constant 1", "flat"),
        ("logarithm: found the value -", "values"),
    ],
)
def test_it_refuses_series_that_cannot_be_used(refused, files, message, column):
    refused(message, series=str(files / "several.npz"), column=column, logarithm=column == "values", **FAST)


def test_a_series_is_not_asked_for_the_default_files_column(refused, files):
    refused("column: not given, expected one of 'values', 'short', 'flat'", series=str(files / "several.npz"), **FAST)
