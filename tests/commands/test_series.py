"""Files of series that readers have: what is read, and what is refused by name."""

import numpy as np
import pytest

from capcore.commands.series import read_series

VALUES = [1.5, 2.0, 3.0, 4.0]
DAYS = ["2026-01-29", "2026-01-30", "2026-01-31", "2026-02-01"]


def table(dates, values=VALUES, sep=",", title="day{}price\n"):
    return title.format(sep) + "".join(f"{day}{sep}{value}\n" for day, value in zip(dates, values, strict=True))


GOOD = {
    "one column": "price\n1.5\n2.0\n3.0\n4.0\n\n",
    "no header": "1.5\n2.0\n3.0\n4.0\n",
    "days": table(DAYS),
    "semicolons": table(DAYS, sep=";"),
    "day first": table(["28.02.2026", "01.03.2026", "02.03.2026", "03.03.2026"]),
    "month first": table(["02/28/2026", "03/01/2026", "03/02/2026", "03/03/2026"]),
    "ends of months": table(["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]),
    "months in words": table(["30-Jan-26", "31-Jan-26", "01-Feb-26", "02-Feb-26"]),
    "the 15th": table(["2026-01-15", "2026-02-15", "2026-03-15", "2026-04-15"]),
    "business days": table(["2026-01-29", "2026-01-30", "2026-02-02", "2026-02-03"]),
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_values_come_as_they_stand_there(text, tmp_path):
    (tmp_path / "a.csv").write_text(text, "utf8")
    assert read_series(tmp_path / "a.csv").tolist() == VALUES


def test_a_blank_line_is_a_missing_value(tmp_path):
    (tmp_path / "a.csv").write_text("price\n1.5\n\n3.0\n", "utf8")
    np.testing.assert_array_equal(read_series(tmp_path / "a.csv"), [1.5, np.nan, 3.0])


def test_decimal_commas(tmp_path):
    (tmp_path / "a.csv").write_text("Tag;Pegel\n01.02.2026;1,5\n02.02.2026;2\n03.02.2026;3\n04.02.2026;4\n", "utf8")
    assert read_series(tmp_path / "a.csv", decimal=",").tolist() == VALUES
    with pytest.raises(ValueError, match=r"'1,5' in row 0.*--decimal ,"):
        read_series(tmp_path / "a.csv")


BAD = {
    "newest first": (table(DAYS[::-1]), "ascending dates"),
    "newest first, months in words": (
        table([f"{day} Feb 2026" for day in (4, 3, 2, 1)]),
        "ascending dates.*--no-dates",
    ),
    "newest first, words first": (table([f'"February {day}, 2026"' for day in (4, 3, 2, 1)]), "ascending dates"),
    "newest first, quarters": (table([f"2026Q{i}" for i in (4, 3, 2, 1)]), "ascending dates"),
    "newest first, times": (table([f"09:{i}0:00" for i in (4, 3, 2, 1)]), "ascending dates"),
    "newest first, day first": (table(["03.04.2026", "02.04.2026", "01.04.2026", "31.03.2026"]), "ascending dates"),
    "a date twice": (table([DAYS[0], *DAYS[:3]]), "expected ascending dates"),
    "a day left out": (table([*DAYS[:3], "2026-02-03"]), "equal steps.*asfreq.*--no-dates"),
    "one unreadable date": (table([*DAYS[:2], "soon", DAYS[3]]), "found 'soon' in row 2, expected a date"),
    "one missing date": (table([*DAYS[:2], "", DAYS[3]]), "in row 2, expected a date"),
    "two columns": ("a,b\n1,2\n3,4\n", "expected one of 'a', 'b'"),
    "text": ("a\nx\ny\n", "has the text 'x' in row 0"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_used_is_refused_by_name(text, message, tmp_path):
    (tmp_path / "a.csv").write_text(text, "utf8")
    with pytest.raises(ValueError, match=message):
        read_series(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "dates", [[2026, 2025, 2024, 2023], [20260202, 20260201, 20260131, 20260130], [3.5, 3, 2.5, 2]]
)
def test_dates_that_are_numbers_ascend(dates, tmp_path):
    """A column that is not asked for and falls in every row: years, days, or times."""
    path = tmp_path / "a.csv"
    path.write_text(table(dates), "utf8")
    with pytest.raises(ValueError, match=r"'day': found .*on top, expected the oldest first.*--no-dates"):
        read_series(path, "price")
    assert read_series(path, "price", dates=False).tolist() == VALUES
    assert read_series(path, "day").tolist() == dates
    path.write_text(table(dates[::-1]), "utf8")
    assert read_series(path, "price").tolist() == VALUES


def test_dates_need_not_count(tmp_path):
    (tmp_path / "a.csv").write_text(table(DAYS[::-1]), "utf8")
    assert read_series(tmp_path / "a.csv", dates=False).tolist() == VALUES


def test_arrays_and_their_fields(tmp_path):
    records = np.array([(1, 1.5), (2, 2.0)], [("day", int), ("price", float)])
    np.savez(tmp_path / "a.npz", records)
    np.save(tmp_path / "a.npy", VALUES)
    assert read_series(tmp_path / "a.npz", "price").tolist() == VALUES[:2]
    assert read_series(tmp_path / "a.npy").tolist() == VALUES


def test_nothing_is_executed_and_no_archive_fills_the_memory(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(ValueError, match="could execute code"):
        read_series(tmp_path / "a.npy")
    np.savez_compressed(tmp_path / "b.npz", np.zeros(10**6))
    monkeypatch.setattr("capcore.checkpoints.files.ALWAYS", 1000)
    with pytest.raises(ValueError, match="expand to"):
        read_series(tmp_path / "b.npz")


def test_other_files(tmp_path):
    (tmp_path / "a.xlsx").write_text("")
    for name, message in {"absent.csv": "found no file", "a.xlsx": "type of file: found '.xlsx'"}.items():
        with pytest.raises(ValueError, match=message):
            read_series(tmp_path / name)
