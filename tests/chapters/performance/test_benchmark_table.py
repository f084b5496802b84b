"""Stored benchmarks: texts and curves from rows, and the file that the chapter reads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.hierarchical.stored_runs import stored
from chapters.performance import benchmark_table as study


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
RUN = {
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
            row("ΣT, n = 128, κ = 64", "another", 0.1, 0.5),
        ],
        "octaves": [
            row("fit, n = 256, c = 4", "fit_large"),
            row("capacity of every octave, n = 1,024, κ = 112", "none", 0.2, None),
        ],
    }.items()
}


@given(st.integers(1, 2**60), st.integers(1, 10**6))
def test_sizes_are_read_back(n, kappa):
    assert study.size(f"capacity of every input, n = {n:,}, κ = {kappa}") == (n, kappa)
    assert study.size(f"κ = {kappa}, c = 4, n = {n:,}, predictor included") == (n, kappa)


def test_rows_are_named_by_suite_and_number():
    assert list(study.tags(RUN)) == ["A1", "A2", "B1", "B2", "B3", "B4", "C1", "C2"]
    assert study.tags(RUN)["B2"]["seconds"] == 1.0
    assert list(study.table(RUN, "octaves")) == ["C1", "C2"]


def test_a_table_says_what_failed_and_what_has_no_peer():
    run = {"x": {"rows": [row("w", "p", 2.0, 0.5, holds=False), row("w", "none", 1e-3, None)]}}
    first, second = study.table(run, "x").values()
    assert (first["ratio"], first["compared"]) == ("0.25", "FAILED: same")
    assert (second["ratio"], second["peer's"], second["ours"]) == ("–", "–", "1.0 ms")


def test_curves_are_in_order_of_length():
    found = study.curves(RUN)
    assert found["fast"] == study.Times([1024, 4096], [1.0, 4.0], [112, 144])
    assert found["unavoidable"].seconds == [0.5, 2.0]
    assert found["dense"] == study.Times([128, 256, 512], [0.5, 1.0, 4.0], [64, 80, 96])
    assert found["octaves"] == study.Times([1024], [0.2], [112])


@given(st.floats(-1, 4), st.floats(1e-6, 1e3))
def test_the_exponent_of_a_power_law_is_found(a, b):
    n = np.array([10.0, 100.0, 3000.0])
    assert study.exponent(n, b * n**a) == pytest.approx(a, abs=1e-9)


def test_the_growth_of_the_rank_is_allowed_for():
    times = study.Times([16, 256, 4096], [16 * 4.0, 256 * 64.0, 4096 * 144.0], [2, 8, 12])
    assert study.exponent_beyond_rank(times, 2) == pytest.approx(1)


@pytest.mark.parametrize(("n", "seconds"), [([8], [1.0]), ([8, 8], [1.0, 2.0]), ([8, 16], [1.0])])
def test_an_exponent_needs_two_lengths(n, seconds):
    with pytest.raises(ValueError, match="expected two different lengths"):
        study.exponent(n, seconds)


def test_a_row_is_found_by_its_texts():
    assert study.find(RUN, "scale", "n = 1,024")["seconds"] == 1.0
    assert study.find(RUN, "scale", peer="another")["work"].startswith("ΣT")
    with pytest.raises(ValueError, match="suite scale: found no row with 'n = 7'"):
        study.find(RUN, "scale", "n = 7")


def test_ratios_leave_out_rows_without_a_peer():
    assert study.ratios(RUN)["Capacity by octaves"] == {"C1  fit_large": 2.0}
    assert list(study.ratios(RUN)["Capacity of every input, at length"].values()) == [0.5, 0.5, 5.0, 5.0]


def test_an_absent_run_is_named():
    with pytest.raises(ValueError, match="threads: found 3, expected one of 1, 2"):
        study.run_with({"values": {"1": RUN, "2": RUN}}, 3)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.000999, "1.0 ms"), (0.00996, "10 ms"), (0.9996, "1.0 s"), (9.96, "10 s"), (1234, "1,234 s")],
)
def test_durations_do_not_round_into_the_next_unit(seconds, text):
    assert study.duration(seconds) == text


@pytest.mark.parametrize(("value", "text"), [(0.996, "1.0"), (9.96, "10"), (67404.8, "67,405"), (0.00412, "0.0041")])
def test_multiples(value, text):
    assert study.multiple(value) == text


def test_a_run_comes_in_the_order_of_the_titles():
    backwards = dict(reversed(RUN.items()))
    assert list(study.run_with({"values": {"1": backwards}}, 1)) == ["lengths", "scale", "octaves"]


def test_every_suite_has_its_setting():
    found = study.setting(RUN)
    assert list(found) == [study.TITLES[name] for name in RUN]
    assert found["Capacity by octaves"] == {
        "processor": "a processor, 2 cores",
        "load average at its start": "0.5",
        "versions": "numpy 2.4, sympy absent",
    }


@pytest.mark.parametrize("threads", [1, 2])
def test_the_stored_file_holds_full_runs_in_which_both_sides_agreed(threads):
    run = study.run_with(stored("benchmarks"), threads)
    assert list(run) == list(study.TITLES)
    assert not any(suite["quick"] for suite in run.values())
    assert all(each["holds"] and each["seconds"] > 0 for each in study.tags(run).values())
    assert all(set(suite["environment"]) == set(ENVIRONMENT) for suite in run.values())
    curves = study.curves(run)
    assert all(len(curves[name].n) >= 3 for name in curves)
    assert max(curves["octaves"].n) >= 2**30 and max(curves["fast"].n) >= 2**20
