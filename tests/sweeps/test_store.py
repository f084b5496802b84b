"""Files of results: whole or not there, the first of a name stays, and a name leads nowhere else."""

import subprocess
import sys
from pathlib import Path

import pytest

from capcore.sweeps import read_row
from chapters.sweeps.job import Job
from chapters.sweeps.store import Store

KEY = "ab" * 16
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def row(**found):
    return Job(KEY, "t", "c", {"n": 1}).row(**found)


def test_the_first_result_of_a_name_stays(store):
    assert store.row(KEY) is None
    store.keep(row(values={"x": 1}))
    store.keep(row(values={"x": 2}))
    assert store.row(KEY)["values"] == {"x": 1}
    assert [path.name for path in (store.folder / "runs" / "ab").iterdir()] == [f"{KEY}.json"]


@pytest.mark.parametrize("cut", [0, 1, 40, -1, -2, -20])
def test_a_file_cut_short_is_no_result_and_is_replaced(store, cut):
    store.keep(row(values={"x": 1}))
    (path,) = (store.folder / "runs").glob("*/*.json")
    whole = path.read_bytes()
    path.write_bytes(whole[:cut].rstrip(b"\n"))
    assert store.row(KEY) is None or cut == -1  # the last byte is the end of the line
    store.keep(row(values={"x": 1}))
    assert store.row(KEY) == row(values={"x": 1})


def test_a_changed_file_or_one_under_another_name_is_no_result(store):
    store.keep(row(values={"x": 1}))
    (path,) = (store.folder / "runs").glob("*/*.json")
    copy = path.with_name("cd" * 16 + ".json")
    copy.write_bytes(path.read_bytes())
    path.write_text(path.read_text().replace('"x":1', '"x":2'))
    assert read_row(path) is None and read_row(copy) is None


def test_an_error_is_no_result_and_goes_with_the_first_one(store):
    store.keep(row(error="ValueError: no"), "{}")
    assert store.row(KEY) is None and len(list(store.folder.glob("failed/ab/*"))) == 2
    store.keep(row())
    assert store.row(KEY) and not list(store.folder.glob("failed/ab/*"))


@pytest.mark.parametrize("key", ["../x", "a" * 31 + "/", "A" * 32, "", "ab" * 17])
def test_a_name_leads_nowhere_else(store, key):
    with pytest.raises(ValueError, match="hexadecimal"):
        store.keep({**row(), "run": {**row()["run"], "key": key}})


def test_one_sweep_at_a_time_and_a_killed_one_holds_nothing(store):
    program = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
from chapters.sweeps.store import Store
with Store({str(store.folder)!r}).alone():
    print("in", flush=True); sys.stdin.read()
"""
    first = subprocess.Popen([sys.executable, "-P", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert first.stdout.readline() == b"in\n"
    second = subprocess.Popen(
        [sys.executable, "-P", "-c", program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert b"another sweep writes here" in second.stderr.readline()
    draft = store.folder / "runs" / "ab" / ".draft-x"
    draft.parent.mkdir(parents=True)
    draft.write_text("")
    first.kill()
    first.wait()
    assert second.communicate(timeout=60)[0] == b"in\n" and not draft.exists()
    first.stdin.close()
    first.stdout.close()
