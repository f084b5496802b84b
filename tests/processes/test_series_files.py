"""One column of a file: other separators, decimal commas, dates, gaps; and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest

from capcore.processes.series_files import load_series
from capcore.processes.time_series import load_series as at_its_earlier_path

VALUES = [0.0, 1.5, 3.0]
READABLE = {
    "plain.csv": ("price\n0.0\n1.5\n3.0\n", {}),
    "no_header.csv": ("0.0\n1.5\n3.0\n", {}),
    "no_header_comma.csv": ("0,0\n1,5\n3,0\n", {"decimal": ","}),
    "semicolon.csv": ("day;price\n2020-01-01;0,0\n2020-01-02;1,5\n2020-01-03;3,0\n", {"decimal": ","}),
    "tabs.tsv": ("day\tprice\na\t0.0\nb\t1.5\nc\t3.0\n", {}),
    "bars.csv": ("day|price\na|0.0\nb|1.5\nc|3.0\n", {}),
    "quoted.csv": ('"day, or night";price\na;0.0\nb;1.5\nc;3.0\n', {}),
    "spaces.csv": ("day price\na 0.0\nb 1.5\nc 3.0\n", {"sep": " "}),
    "mark.csv": ("\ufeffprice,day\n0.0,a\n1.5,b\n3.0,c\n", {"column": "price"}),
    "several.csv": ("day,price,volume\n2020-01-01,0.0,0\n2020-01-02,1.5,1\n2020-01-03,3.0,2\n", {"column": "price"}),
    "years.csv": ("year,price\n1900,0.0\n1901,1.5\n1902,3.0\n", {"dates": "year"}),
    "months.csv": ("day,price\n2020-01-31,0.0\n2020-02-29,1.5\n2020-03-31,3.0\n", {}),
    "weekend.csv": ("day,price\n2020-01-02,0.0\n2020-01-03,1.5\n2020-01-06,3.0\n", {"dates": False}),
    "german.csv": ("Tag;Preis\n30.01.2020;0,0\n31.01.2020;1,5\n01.02.2020;3,0\n", {"decimal": ","}),
    "british.csv": ("day,price\n01/02/2020,0.0\n02/02/2020,1.5\n03/02/2020,3.0\n", {}),
    "american.csv": ("day,price\n02/01/2020,0.0\n02/02/2020,1.5\n02/03/2020,3.0\n", {}),
    "hours.csv": ("at,price\n2020-01-01 10:00,0.0\n2020-01-01 11:00,1.5\n2020-01-01 12:00,3.0\n", {}),
}


@pytest.mark.parametrize("name", READABLE)
def test_a_text_file(tmp_path, name):
    text, options = READABLE[name]
    (tmp_path / name).write_text(text, "utf8")
    found = load_series(tmp_path / name, **options)
    assert found.tolist() == VALUES and found.dtype == float
    assert load_series(str(tmp_path / name), **options).tolist() == VALUES


def test_missing_values_come_as_nan(tmp_path):
    (tmp_path / "holes.csv").write_text("day,price\n2020-01-01,1\n2020-01-02,\n2020-01-03,NA\n2020-01-04,4\n")
    np.save(tmp_path / "holes.npy", [1.0, np.nan, np.nan, 4.0])
    for name in ("holes.csv", "holes.npy"):
        assert np.array_equal(load_series(tmp_path / name), [1, np.nan, np.nan, 4], equal_nan=True)


@pytest.fixture
def files(tmp_path):
    """The same series in several kinds of file, and files that are none."""
    day = np.array(["2020-01-01", "2020-01-02", "2020-01-06"], dtype="M8[D]")  # a weekend, which .npy may have
    table = np.array(
        [(day[i], 1.5 * i, i) for i in range(3)], dtype=[("day", "M8[D]"), ("price", float), ("volume", int)]
    )
    np.save(tmp_path / "one.npy", table["price"])
    np.save(tmp_path / "table.npy", table)
    np.savez(tmp_path / "several.npz", table=table, image=np.ones((2, 2)))
    text = {
        "table.csv": "day,price,volume\n2020-01-01,0.0,0\n2020-01-02,1.5,1\n2020-01-03,3.0,2\n",
        "text.csv": "price\none\ntwo\n",
        "infinite.csv": "price\n1.0\ninf\n",
        "ragged.csv": "price\n1.0\n2.0,3.0\n",
        "empty.csv": "",
        "commas.csv": "day;price\n2020-01-01;0,5\n2020-01-02;1,5\n",
        "weekend.csv": "day,price\n2020-01-02,0.0\n2020-01-03,1.5\n2020-01-06,3.0\n2020-01-08,3.5\n",
        "twice.csv": "day,price\n2020-01-01,0.0\n2020-01-02,1.5\n2020-01-02,3.0\n",
        "backwards.csv": "day,price\n2020-01-03,0.0\n2020-01-02,1.5\n2020-01-01,3.0\n",
        "undated.csv": "day,price\n2020-01-01,0.0\n,1.5\n2020-01-03,3.0\n",
        "years.csv": "year,price\n1900,0.0\n1901,1.5\n1903,3.0\n1904,3.5\n",
        "text.npy": "1 2 3",
        "table.parquet": "no table",
        "notes.txt": "1 2 3",
    }
    for name, content in text.items():
        (tmp_path / name).write_text(content, "utf8")
    (tmp_path / "latin.csv").write_bytes("Größe\n1.0\n".encode("latin1"))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "column"), [("one.npy", None), ("table.npy", "price"), ("several.npz", "price"), ("table.csv", "price")]
)
def test_a_column_of_a_file(files, name, column):
    assert load_series(files / name, column).tolist() == VALUES


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("absent.csv", {}, "series: found no file .*absent.csv.*expected the path of a file of .csv, .tsv, .parquet"),
        ("notes.txt", {}, "type of file: found '.txt', expected one of '.csv', '.npy', '.npz', '.parquet', '.tsv'"),
        ("table.csv", {}, "column: not given, expected one of 'price', 'volume'"),
        ("table.csv", {"column": "volumes"}, "column: found 'volumes'.*Did you mean 'volume'"),
        ("table.csv", {"column": "day"}, r"column 'day': found an array of shape \(3,\).*one-dimensional numbers"),
        ("table.csv", {"column": "price", "dates": "days"}, "dates: found 'days'.*Did you mean 'day'"),
        ("table.csv", {"column": "price", "dates": "volume", "sep": ";"}, "column: found 'price'"),
        ("several.npz", {"column": "image"}, r"column 'image': found an array of shape \(2, 2\)"),
        ("several.npz", {"column": "day"}, "column 'day': .*expected one-dimensional numbers"),
        ("table.npy", {"column": "price", "dates": "day"}, "2020-01-06 after 2020-01-02"),
        ("ragged.csv", {}, "series: found .*ragged.csv', which could not be read"),
        ("empty.csv", {}, "series: found .*empty.csv', which could not be read"),
        ("latin.csv", {}, "series: found .*latin.csv', which could not be read"),
        ("text.npy", {}, "series: found .*text.npy', which could not be read"),
        (
            "text.csv",
            {},
            "column: not given, expected a numeric one. Column 'price' has the text 'one' at value 0",
        ),
        ("infinite.csv", {}, r"column 'price': found 1 value\(s\) that are NaN or infinite .*\(1,\)"),
        ("commas.csv", {}, "Column 'price' has the text '0,5' at value 0. For decimal commas give decimal=','"),
        ("commas.csv", {"column": "price"}, "column 'price': .*'0,5' at value 0. For decimal commas"),
        ("weekend.csv", {}, "dates 'day': found 2020-01-06 after 2020-01-03, expected equal steps.*dates=False"),
        ("twice.csv", {}, "dates 'day': found 2020-01-02 twice"),
        ("backwards.csv", {}, "dates 'day': found 2020-01-03 before 2020-01-02.*oldest first"),
        ("undated.csv", {"dates": "day"}, "dates 'day': found .*expected dates such as 2026-01-31"),
        ("years.csv", {"dates": "year"}, "dates 'year': found 1903 after 1901, expected equal ascending steps, as of"),
        ("table.csv", {"sep": "."}, "sep, decimal, dates: found '.', '.'"),
        ("table.csv", {"sep": ""}, "sep, decimal, dates: found ''"),
        ("table.csv", {"decimal": ";"}, "decimal: found ';', expected one of ',', '.'"),
        ("table.csv", {"dates": True}, "and True, expected two different signs, and the name of a column or False"),
    ],
)
def test_bad_files(files, name, options, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        load_series(files / name, **options)


def test_nothing_in_a_file_is_executed(tmp_path):
    class Touch:
        def __reduce__(self):
            return (type(tmp_path).touch, (tmp_path / "executed",))

    for name in ("pickled.npy", "pickled.npz", "pickled.csv", "pickled.parquet"):
        (tmp_path / name).write_bytes(pickle.dumps(Touch()))
    np.save(tmp_path / "objects.npy", np.array([Touch()], object), allow_pickle=True)
    np.savez(tmp_path / "objects.npz", np.array([Touch()], object))
    for path in sorted(tmp_path.glob("*.*")):
        with pytest.raises((ValueError, ModuleNotFoundError)):
            load_series(path)
    assert not (tmp_path / "executed").exists()


def test_tables_of_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    days = pd.date_range("2020-01-01", periods=3)
    frame = pd.DataFrame({"price": VALUES, "count": pd.array([1, None, 3], "Int64"), "word": ["a", "b", "c"]}, days)
    frame.to_parquet(tmp_path / "table.parquet")
    assert load_series(tmp_path / "table.parquet", "price").tolist() == VALUES
    assert np.array_equal(load_series(tmp_path / "table.parquet", "count"), [1, np.nan, 3], equal_nan=True)
    frame.set_index(days[[0, 1, 1]]).to_parquet(tmp_path / "twice.parquet")
    with pytest.raises(ValueError, match="found 2020-01-02 twice"):
        load_series(tmp_path / "twice.parquet", "price")
    (tmp_path / "broken.parquet").write_text("no table")
    with pytest.raises(ValueError, match=r"broken.parquet', which could not be read"):
        load_series(tmp_path / "broken.parquet", "price")


def test_without_a_library_for_parquet(files, monkeypatch):
    monkeypatch.setattr("capcore.processes.series_files.find_spec", lambda name: None)
    monkeypatch.setattr("capcore.architectures.derivatives.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pyarrow: not installed.*pip install pyarrow"):
        load_series(files / "table.parquet")


def test_matplotlibs_sample_can_be_read():
    from matplotlib.cbook import get_sample_data

    volume = load_series(get_sample_data("goog.npz", asfileobj=False), "volume")
    assert volume.size == 1047 and volume[0] == 22351900
    assert at_its_earlier_path is load_series
