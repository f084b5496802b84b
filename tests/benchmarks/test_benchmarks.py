"""The benchmarks' two sides do the same work: every row's agreement holds at small sizes. No times are tested."""

import pytest

from benchmarks import fitting, ranks
from benchmarks.__main__ import main
from benchmarks.measure import Row


@pytest.mark.parametrize("row", [*fitting.rows(quick=True), *ranks.rows(quick=True)], ids=lambda row: row.work[:40])
def test_both_sides_agree(row: Row) -> None:
    assert row.holds, row.agreement
    assert row.seconds > 0 and row.peer_seconds > 0


def test_a_failed_row_is_shown_and_fails_the_command(monkeypatch, capsys) -> None:
    bad = Row("some work", "a peer", 1.0, 2.0, "1 against 2", holds=False)
    monkeypatch.setattr("benchmarks.__main__.SUITES", {"fitting": lambda quick: [bad]})
    assert main(["--quick"]) == 1
    assert "** FAILED **" in capsys.readouterr().out
