"""The benchmarks' two sides do the same work: every row's agreement holds at small sizes. No times are tested."""

import json
import sys

import numpy as np
import pytest

from benchmarks import measure, ranks, store, tangent
from benchmarks.__main__ import SUITES, main
from benchmarks.measure import Row, Skipped
from chapters.performance import study

pytestmark = pytest.mark.ci

LONG = {"octaves", "fitting", "fitting_at_scale", "scale"}


@pytest.mark.parametrize("suite", [pytest.param(s, marks=pytest.mark.slow if s in LONG else ()) for s in SUITES])
def test_both_sides_agree(suite):
    for row in SUITES[suite](quick=True):
        if isinstance(row, Skipped):
            continue
        assert row.holds, f"{row.work}: {row.agreement}"
        assert row.seconds > 0 and (row.peer_seconds is None or row.peer_seconds > 0)


def test_the_page_has_a_title_for_every_suite():
    assert list(study.TITLES) == list(SUITES)


def test_a_failed_row_is_shown_and_fails_the_command(monkeypatch, capsys):
    bad = Row("some work", "a peer", 1.0, 2.0, "1 against 2", holds=False)
    alone = Row("more work", "none", 1.0, None, "sum 1", holds=True)
    monkeypatch.setattr("benchmarks.__main__.SUITES", {"fitting": lambda quick: [alone, bad]})
    assert main(["--quick"]) == 1
    shown = capsys.readouterr().out
    assert shown.count("** FAILED **") == 1 and "some work | a peer | 1 against 2  ** FAILED **" in shown


def test_an_absent_peer_is_named_and_fails_nothing(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.tangent.peer", lambda module: None)
    monkeypatch.setattr("benchmarks.ranks.peer", lambda module: None)
    monkeypatch.setattr("benchmarks.__main__.SUITES", {"tangent": tangent.rows, "ranks": ranks.rows})
    assert main(["--quick"]) == 0
    shown = capsys.readouterr().out
    for package in ("teneva", "sympy"):
        assert f"Found no package {package}, expected it as a peer" in shown


def test_peers_are_looked_up_and_not_required():
    assert measure.peer("numpy") is sys.modules["numpy"]
    assert measure.peer("no_such_package.module") is None


def test_suites_are_stored_by_threads_and_replaced_one_by_one(monkeypatch, tmp_path, capsys):
    row = Row("work, n = 4,096, κ = 144", "a peer", 0.123456789, None, "1 against 1", holds=np.bool_(True))
    monkeypatch.setattr("benchmarks.__main__.SUITES", dict.fromkeys(("fitting", "ranks"), lambda quick: [row]))
    path = tmp_path / "rows.json"
    for arguments in (["--threads", "2"], ["--threads", "1"], ["--threads", "2", "--suite", "ranks"]):
        assert main(["--quick", *arguments, "--save", str(path)]) == 0
    content = json.loads(path.read_text("utf8"))
    assert list(content["values"]) == ["1", "2"] and content["settings"]["note"] == store.NOTE
    run = study.suites_with(content, 2)
    assert run["fitting"]["quick"] and run["fitting"]["command"].endswith(f"--quick --threads 2 --save {path}")
    assert run["ranks"]["command"].endswith(f"--threads 2 --suite ranks --save {path}")
    (kept,) = run["fitting"]["rows"]
    assert (kept["seconds"], kept["peer_seconds"], kept["holds"]) == (0.1235, None, True)
    rows = study.rows_of(run)
    assert rows.loc["A1", ["n", "kappa"]].tolist() == [4096, 144]
    assert study.table(rows).loc["B1", "ratio"] == "–"
    assert not {"host", "node", "hostname"} & set(run["fitting"]["environment"])


def test_peak_memory_sees_what_a_row_takes():
    measure.forget_peak_memory()
    before = measure.peak_memory_gb()
    assert len(bytes(bytearray(b"x") * 200_000_000)) and measure.peak_memory_gb() >= before + 0.15


@pytest.mark.parametrize(
    ("rows", "expected"), [([[1, 2], [2, 4]], 1), ([[0, 0], [0, 0]], 0), ([[0, 3], [5, 0]], 2), ([[2**31 - 1, 1]], 1)]
)
def test_the_peers_elimination(rows, expected):
    assert ranks.numpy_rank(np.array(rows)) == expected
