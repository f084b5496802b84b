"""Tables of results: names keep apart, and what is no result is named and hinders nothing."""

import json
import os
import stat
import warnings

import pandas as pd
import pytest

import capcore
from capcore.sweeps import OWN, canonical, columns_of, digest
from chapters.sweeps import engine
from chapters.sweeps.command import for_csv, main
from chapters.sweeps.job import Job, answer, read_answer
from chapters.sweeps.store import Store
from tests.sweeps.test_engine import done, swept

CODE = "c"


def kept(folder, n=4, **found):
    """Some results."""
    store = Store(folder)
    store.describe({"code": CODE})
    for i in range(n):
        store.keep(Job(f"{i:02x}" * 16, "t", CODE, {"n": i}).row(values={"x": i}, **found))
    return sorted(folder.glob("runs/*/*.json"))


def written(path, row):
    path.write_text(canonical({"digest": digest(canonical(row)), "row": row}))


NAMES = [*OWN, "n", "python", "error_set", "error_found", "self", "schema", "run"]


def test_a_value_or_parameter_may_have_any_name(tmp_path):
    """Also ``error``, which made a good run a failure, and ``key``, which was overwritten."""
    store = Store(tmp_path)
    store.describe({"code": CODE})
    settings, values = ({name: f"{part} {name}" for name in NAMES} for part in ("set", "value"))
    store.keep(Job("ab" * 16, "t", CODE, settings).row(values=values, versions={"python": "3", "n": "4"}))
    table = capcore.load_sweep(tmp_path)
    assert table["error"].tolist() == [""] and table["key"].tolist() == ["ab" * 16]
    assert table["seconds"].isna().all() and table.columns.is_unique
    assert len(table.columns) == 2 * len(NAMES) + 2 + len(OWN)
    columns = columns_of(settings)
    assert [table[columns[name]].item() for name in NAMES] == [f"set {name}" for name in NAMES]
    assert columns["n"] == "n" and table["n_found"].item() == "value n" and table["python_version"].item() == "3"
    for_csv(table)


def test_a_value_called_error_is_no_failure(tmp_path, capsys):
    _, _, table = swept(tmp_path, lambda n, _: answer({"values": {"error": 0.25, "key": n}}), 2)
    assert table["error"].tolist() == ["", ""] and table["error_found"].tolist() == [0.25, 0.25]
    assert table["key"].str.len().tolist() == [32, 32] and table["key_found"].tolist() == [0, 1]


def test_rows_of_the_first_schema_are_read(tmp_path):
    (path,) = kept(tmp_path, 1)
    row = json.loads(path.read_text())["row"]
    flat = {**row["run"], **{name: row[name] for name in ("settings", "values", "claims")}}
    written(path, flat)
    assert capcore.load_sweep(tmp_path)["x"].tolist() == [0] and Store(tmp_path).row(path.stem) == row
    written(path, {**row, "schema": 3})
    with pytest.warns(UserWarning, match="of schema 3"):
        assert capcore.load_sweep(tmp_path).empty


def folder(path):
    path.mkdir()


def zero(path):
    path.symlink_to("/dev/zero")


def without_code(path):
    row = {"settings": {}, "key": path.stem}
    written(path, row)


def wrong_type(path):
    row = Job(path.stem, "t", CODE, {}).row()
    written(path, {**row, "settings": [1]})


def no_object(path):
    written(path, [1, 2])


def deep(path):
    path.write_text("[" * 100_000)


def deep_value(path):
    nested = "[" * 5_000 + "]" * 5_000
    path.write_text(f'{{"digest": "", "row": {{"values": {nested}}}}}')


def huge(path):
    with open(path, "w") as file:
        file.truncate(10**12)


def digits(path):
    path.write_text("9" * 5000)


def binary(path):
    path.write_bytes(b"\x80\x04cos\nsystem\n")


def surrogate(path):
    path.write_text('{"digest": "", "row": {"settings": {"a": "\\ud800"}}}')


BAD = [folder, os.mkfifo, zero, without_code, wrong_type, no_object, deep, deep_value, huge, digits, binary, surrogate]


@pytest.mark.parametrize("make", BAD, ids=lambda make: make.__name__)
def test_what_is_no_result_is_named_and_the_others_are_read(tmp_path, make):
    first, *_ = kept(tmp_path)
    first.unlink()
    make(first)
    with pytest.warns(UserWarning, match=rf"1 of 4 results that cannot be read: runs/00/{first.name} \("):
        table = capcore.load_sweep(tmp_path)
    assert sorted(table["n"]) == [1, 2, 3]


@pytest.mark.parametrize("make", BAD, ids=lambda make: make.__name__)
@pytest.mark.parametrize("part", ["runs", "failed"])
def test_a_sweep_moves_it_aside_and_runs_again(tmp_path, make, part, capsys):
    (job, *_) = engine.plan("tests.sweeps.toys:square", {"product": {"n": [0, 1]}})
    place = tmp_path / part / job.key[:2] / f"{job.key}.json"
    place.parent.mkdir(parents=True)
    make(place)
    _, _, table = swept(tmp_path, done, 2)
    assert sorted(table["n"]) == [0, 1]
    assert f"{part}/{job.key[:2]}/{job.key}.json: cannot be read" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "unreadable").iterdir()] == [f"{job.key}.json.0"]


@pytest.mark.parametrize("text", ["[]", '{"codes": 1}', "", "[" * 100_000])
def test_a_description_that_is_none_is_refused(tmp_path, text):
    kept(tmp_path)
    (tmp_path / "sweep.json").write_text(text)
    with pytest.raises(ValueError, match=r"sweep\.json cannot be read"):
        capcore.load_sweep(tmp_path)


@pytest.mark.parametrize(
    "found",
    ['{"values": {"a": "\\ud800"}', '{"values": {"a": ' + "[" * 5000 + "]" * 5000 + "}", '{"values": ' + "9" * 5000],
)
def test_an_answer_that_cannot_be_written_is_an_error(tmp_path, found):
    rest = '"claims": {}, "versions": {}, "error": "", "seconds": 1.0, "memory_mb": 1.0'
    row, _ = read_answer(Job("0" * 32, "t", "c", {}), f'{{"found": {found}, {rest}}}, "notebook": ""}}'.encode())
    assert row["run"]["error"].startswith("answer: cannot be read")
    Store(tmp_path).keep(row)


def test_files_have_the_rights_that_the_umask_gives(tmp_path):
    before = os.umask(0o022)
    try:
        paths = kept(tmp_path, 1)
        with Store(tmp_path).alone():
            pass
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (*paths, tmp_path / "sweep.json", tmp_path / ".lock")}
    assert modes == {0o644}


def test_failures_of_another_grid_are_not_this_grids(tmp_path, capsys):
    results, grid = tmp_path / "results", tmp_path / "grid.yml"
    jobs = engine.plan("tests.sweeps.toys:troubled", [{"what": "raise"}])
    Store(results).keep(jobs[0].row(error="ValueError: of another grid"))
    grid.write_text("product: {what: [none]}")
    command = ["tests.sweeps.toys:troubled", "--grid", str(grid), "-o", str(results), "--workers", "1"]
    assert main([*command, "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "1 runs, 0 failed" in said and "with 1 runs of other grids" in said


FINE = ["-1.5", "+3", "", "a=b", "1e-3", "-2", None, "x"]


def test_cells_that_would_be_formulas_are_text(tmp_path):
    bad = ["=1+1", "+cmd", "-x", "@sum", "\t=1", "\r=1", "\n=1", "＝1"]
    table = pd.DataFrame(
        {"=name": bad, "n": range(len(bad)), "fine": ["-1.5", "+3", "", "a=b", "1e-3", "-2", None, "x"]}
    )
    for_csv(table).to_csv(tmp_path / "table.csv", index=False)
    lines = (tmp_path / "table.csv").read_text("utf8").splitlines()
    assert lines[0] == "'=name,n,fine" and len(lines) == len(bad) + 1
    assert all(line[0] in "'\\" for line in lines) and lines[1] == "'=1+1,0,-1.5" and lines[2].endswith(",+3")
    assert table["=name"].tolist() == bad


def test_a_folder_without_faults_warns_of_nothing(tmp_path):
    kept(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(capcore.load_sweep(tmp_path)) == 4
