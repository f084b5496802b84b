"""Stored benchmarks: the table and the curves of rows, and the file that the chapter reads."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.kit.stored import stored
from chapters.performance import study


def row(work, peer, seconds=1.0, peer_seconds=2.0, holds=True):
    return {
        "work": work,
        "peer": peer,
        "seconds": seconds,
        "peer_seconds": peer_seconds,
        "agreement": "same",
        "holds": holds,
        "memory_gb": 0.1,
    }


ENVIRONMENT = {"processor": "a processor", "cores": 2, "load": 0.5, "versions": {"numpy": "2.4", "sympy": "absent"}}


SUITES = {
    name: {"environment": ENVIRONMENT, "rows": rows}
    for name, rows in {
        "lengths": [
            row("capacity, n = 256, κ = 80", "dense path: SVD", 0.1, 1.0),
            row("capacity, n = 512, κ = 96", "dense path: SVD", 0.1, 4.0),
        ],
        "scale": [
            row("capacity, n = 4,096, κ = 144", "the part no method avoids: dsyrk", 4.0, 2.0),
            row("capacity, n = 1,024, κ = 112", "the part no method avoids: dsyrk", 1.0, 0.5),
            row("capacity, n = 128, κ = 64", "dense path: SVD", 0.1, 0.5),
            row("ΣT, n = 128, κ = 64", "another", 0.1, 0.5, holds=False),
        ],
        "octaves": [
            row("fit, n = 256, c = 4", "fit_large, listed"),
            row("capacity of every octave, n = 1,024, κ = 112", "none", 1e-3, None),
        ],
    }.items()
}


ROWS = study.rows_of(SUITES)


@given(st.integers(1, 2**50), st.integers(1, 10**6))
def test_sizes_are_read_off_the_work(n, kappa):
    works = [f"capacity of every input, n = {n:,}, κ = {kappa}", f"κ = {kappa}, c = 4, n = {n:,}", "rank of a matrix"]
    rows = study.rows_of({"ranks": {"rows": [row(work, "peer") for work in works]}})[["n", "kappa"]]
    np.testing.assert_array_equal(rows, [[n, kappa], [n, kappa], [np.nan, np.nan]])


@given(st.floats(-1, 4), st.floats(1e-6, 1e3))
def test_the_exponent_of_a_power_law_is_found(a, b):
    n = np.array([10.0, 100.0, 3000.0])
    assert study.exponent(pd.Series(b * n**a, n)) == pytest.approx(a, abs=1e-9)


def test_the_summary_counts_rows_with_a_peer():
    summary = study.summary(ROWS, SUITES)
    assert list(summary.index) == [study.TITLES[name] for name in SUITES]
    assert summary.loc["Capacity of every input, at length"].tolist() == [4, 2, "2.8", "0.5"]
    assert summary.loc["Capacity by octaves"].tolist() == [1, 1, "2.0", "0.5"]


@pytest.mark.parametrize("threads", [1, 2])
def test_the_stored_file_holds_full_runs_in_which_both_sides_agreed(threads):
    suites = study.suites_with(stored("benchmarks"), threads)
    rows = study.rows_of(suites)
    assert list(suites) == list(study.TITLES)
    assert not any(suite["quick"] for suite in suites.values())
    assert rows["holds"].all() and (rows["seconds"] > 0).all()
    assert all(set(suite["environment"]) == set(ENVIRONMENT) for suite in suites.values())
    times = study.times(rows)
    assert (times.count() >= 3).all()
    assert times["octaves"].dropna().index.max() >= 2**30 and times["fast"].dropna().index.max() >= 2**20
