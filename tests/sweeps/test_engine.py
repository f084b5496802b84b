"""The loop of a sweep, with workers that answer, fail and vanish as they are told."""

import errno
import json

import pytest

import capcore
from chapters.sweeps import engine
from chapters.sweeps.declared import NotebookError
from chapters.sweeps.job import Job, answer, read_answer
from chapters.sweeps.store import Store
from chapters.sweeps.workers import LostError

TARGET = "tests.sweeps.toys:square"


class Told:
    """Workers that do what a function says of a job and of how often it came."""

    def __init__(self, does):
        self.does, self.seen, self.closed = does, [], False

    def slots(self):
        return 2

    def submit(self, job):
        self.seen.append(job.settings["n"])
        return job.settings["n"], self.seen.count(job.settings["n"])

    def answered(self, run):
        return self.does(*run)

    def close(self):
        self.closed = True


def done(n, _=1):
    return answer({"values": {"square": n * n}, "seconds": 0.1})


def swept(tmp_path, does, n=20):
    jobs = engine.plan(TARGET, {"product": {"n": list(range(n))}})
    workers, notes = Told(does), []
    engine.run(jobs, Store(tmp_path), lambda: workers, lambda *note: notes.append(note))
    return workers, notes, capcore.load_sweep(tmp_path)


def test_each_run_is_done_once_and_none_again(tmp_path):
    workers, notes, table = swept(tmp_path, done)
    assert sorted(workers.seen) == list(range(20)) and workers.closed
    assert sum(count for count, _ in notes) == 20
    assert table["square"].tolist() == [n * n for n in table["n"]] and set(table["n"]) == set(range(20))
    again, notes, _ = swept(tmp_path, done)
    assert again.seen == [] and notes == [(20, False)]
    more, _, table = swept(tmp_path, done, 23)
    assert sorted(more.seen) == [20, 21, 22] and len(table) == 23


def test_a_run_that_is_lost_is_submitted_again(tmp_path):
    def does(n, times):
        if n % 3 == 0 and times <= 2:
            raise LostError
        return done(n)

    workers, _, table = swept(tmp_path, does)
    assert len(table) == 20 and (table["error"] == "").all() and len(workers.seen) == 20 + 2 * 7


def test_one_that_is_always_lost_is_an_error(tmp_path):
    def does(n, times):
        if n == 3:
            raise LostError
        return done(n)

    workers, _, table = swept(tmp_path, does)
    assert workers.seen.count(3) == engine.LOSSES + 1
    assert table.loc[table["n"] == 3, "error"].item().startswith("Lost")


def test_errors_stay_in_the_table_and_are_tried_again(tmp_path):
    _, notes, table = swept(tmp_path, lambda n, _: answer({"error": "ValueError: odd"}) if n % 2 else done(n))
    assert (table["error"] != "").sum() == 10 == sum(failed for _, failed in notes)
    again, _, table = swept(tmp_path, done)
    assert sorted(again.seen) == list(range(1, 20, 2)) and (table["error"] == "").all() and len(table) == 20


def test_a_full_disk_stops_the_sweep_and_keeps_what_there_was(tmp_path, monkeypatch):
    keep, kept = Store.keep, []

    def full(self, row, notebook=""):
        if len(kept) == 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        kept.append(row["run"]["key"])
        keep(self, row, notebook)

    monkeypatch.setattr(Store, "keep", full)
    with pytest.raises(OSError, match="No space"):
        swept(tmp_path, done)
    monkeypatch.setattr(Store, "keep", keep)
    workers, notes, table = swept(tmp_path, done)
    assert len(table) == 20 and len(workers.seen) == 15 and notes[0] == (5, False)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"\x80\x04cos\nsystem\n",
        b'{"found": {"values": []}, "notebook": ""}',
        json.dumps({"found": 1}).encode(),
    ],
)
def test_an_answer_that_is_none_is_an_error(text):
    row, notebook = read_answer(Job("0" * 32, "t", "c", {}), text)
    assert row["run"]["error"].startswith("answer: cannot be read") and notebook == ""


def test_an_answer_does_not_say_which_run_it_is_of():
    text = json.loads(done(2))
    text["found"] |= {"key": "f" * 32, "settings": {"n": 99}, "more": 1}
    row, _ = read_answer(Job("0" * 32, "t", "c", {"n": 2}), json.dumps(text).encode())
    assert row["run"]["key"] == "0" * 32 and row["settings"] == {"n": 2} and "more" not in row["run"]


def test_values_called_like_parameters_keep_apart(tmp_path):
    _, _, table = swept(
        tmp_path, lambda n, _: answer({"values": {"n": -n, "list": [n, 1]}, "claims": {"P1.01.gap": 0.5}}), 2
    )
    assert (
        sorted(table["n_found"]) == [-1, 0]
        and set(table["list"]) == {"[0,1]", "[1,1]"}
        and set(table["P1.01.gap"]) == {0.5}
    )


def test_what_cannot_be_swept_is_refused(tmp_path):
    with pytest.raises(NotebookError, match="Did you mean 'n'"):
        engine.plan(TARGET, [{"nn": 1}])
    with pytest.raises(NotebookError, match=r"n: found 1\.5, expected a whole number"):
        engine.plan(TARGET, [{"n": 1.5}])
    with pytest.raises(NotebookError, match="cannot be imported as a function"):
        engine.plan("tests.sweeps.toys:cube", [{}])
    with pytest.raises(NotebookError, match="keep"):
        engine.plan(TARGET, [{}], keep="some")
    with pytest.raises(NotebookError, match="no settings"):
        engine.sweep(TARGET, [], tmp_path)
    with pytest.raises(FileNotFoundError, match=r"sweep\.json"):
        capcore.load_sweep(tmp_path / "none")
