"""The loop of a sweep, with workers that answer and fail as they are told; answers, and the table of results."""

import errno
import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from chapters.sweeps import engine
from chapters.sweeps.command import for_csv
from chapters.sweeps.job import Job, answer, canonical, read_answer
from chapters.sweeps.notebooks import NotebookError
from chapters.sweeps.store import OWN, Store, digest

TARGET = "tests.sweeps.toys:square"
KEY = "ab" * 16


class Obedient:
    """Workers that do what a function says of n."""

    slots = 2

    def __init__(self, does):
        self.does, self.seen, self.closed = does, [], False

    def perform(self, job):
        self.seen.append(job.settings["n"])
        return self.does(job.settings["n"])

    def close(self):
        self.closed = True


def done(n):
    return answer(values={"square": n * n}, seconds=0.1)


def swept(folder, does, n=20):
    jobs = engine.plan(TARGET, {"product": {"n": list(range(n))}})
    workers = Obedient(does)
    engine.run(jobs, Store(folder), workers)
    return workers, Store(folder).table(jobs)


def row(settings=None, **findings):
    return Job(target="t", code="c", key=KEY, settings=settings or {"n": 1}).row(**findings)


def test_each_run_is_done_once_and_none_again(tmp_path):
    workers, table = swept(tmp_path, done)
    assert sorted(workers.seen) == list(range(20)) and workers.closed
    assert table["square"].tolist() == [n * n for n in table["n"]] and set(table["n"]) == set(range(20))
    assert swept(tmp_path, done)[0].seen == []
    more, table = swept(tmp_path, done, 23)
    assert sorted(more.seen) == [20, 21, 22] and len(table) == 23


def test_folders_of_several_machines_are_copied_together(tmp_path):
    for part, numbers in (("one", range(4)), ("other", range(4, 9))):
        jobs = engine.plan(TARGET, {"product": {"n": [*numbers]}})
        engine.run(jobs, Store(tmp_path / part), Obedient(done))
        shutil.copytree(tmp_path / part / "runs", tmp_path / "both" / "runs", dirs_exist_ok=True)
    workers, table = swept(tmp_path / "both", done, 9)
    assert workers.seen == [] and table["square"].tolist() == [n * n for n in range(9)]


def test_errors_stay_in_the_table_and_are_tried_again(tmp_path):
    _, table = swept(tmp_path, lambda n: answer("{}", error="ValueError: odd") if n % 2 else done(n))
    assert (table["error"] != "").sum() == 10 and len(list(tmp_path.glob("failed/*/*.ipynb"))) == 10
    again, table = swept(tmp_path, done)
    assert sorted(again.seen) == list(range(1, 20, 2)) and (table["error"] == "").all() and len(table) == 20
    assert not list(tmp_path.glob("failed/*/*"))


def test_a_full_disk_stops_the_sweep_and_keeps_what_there_was(tmp_path, monkeypatch):
    keep, written = Store.keep, []

    def full(self, row, notebook=""):
        if len(written) == 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(row.key)
        keep(self, row, notebook)

    monkeypatch.setattr(Store, "keep", full)
    with pytest.raises(OSError, match="No space"):
        swept(tmp_path, done)
    monkeypatch.setattr(Store, "keep", keep)
    workers, table = swept(tmp_path, done)
    assert len(table) == 20 and len(workers.seen) == 15


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"findings": {"values": []}, "notebook": ""}',
        '{"findings": 1, "notebook": ""}',
        '{"findings": {"values": {"a": "\\ud800"}}, "notebook": ""}',
        '{"findings": {"values": {"a": ' + "[" * 5000 + "]" * 5000 + '}}, "notebook": ""}',
        '{"findings": {"values": ' + "9" * 5000 + '}, "notebook": ""}',
    ],
    ids=lambda text: text[:40],
)
def test_an_answer_that_is_none_is_an_error_that_can_be_written(text, tmp_path):
    read, notebook = read_answer(Job(target="t", code="c", key=KEY), text)
    assert read.error.startswith("answer: cannot be read") and notebook == ""
    Store(tmp_path).keep(read)


def test_an_answer_does_not_say_which_run_it_is_of():
    text = answer(key="f" * 32, settings={"n": 99}, more=1, values={"x": 1})
    read, _ = read_answer(Job(target="t", code="c", key=KEY, settings={"n": 2}), text)
    assert read == row({"n": 2}, values={"x": 1})


@pytest.mark.parametrize(
    ("settings", "message"), [([{"nn": 1}], "Did you mean 'n'"), ([{"n": 1.5}], r"n: found 1\.5, expected int")]
)
def test_what_cannot_be_swept_is_refused(settings, message):
    with pytest.raises(NotebookError, match=message):
        engine.plan(TARGET, settings)


NAMES = [*OWN, "n", "python", "error_set", "error_found", "self"]


def test_a_value_or_parameter_may_have_any_name(tmp_path):
    """Also ``error``, which made a good run a failure, and ``key``, which was overwritten."""
    settings, values = ({name: f"{part} {name}" for name in NAMES} for part in ("set", "value"))
    Store(tmp_path).keep(row(settings, values={**values, "list": [1, 2]}, claims={"P1.01.gap": 0.5}))
    table = Store(tmp_path).table([Job(target="t", code="c", key=KEY)])
    assert table["error"].tolist() == [""] and table["key"].tolist() == [KEY] and table["seconds"].isna().all()
    assert table.columns.is_unique and len(table.columns) == 2 * len(NAMES) + 2 + len(OWN)
    assert table["seconds_set"].item() == "set seconds" and table["n"].item() == "set n"
    assert table["n_found"].item() == "value n" and table["list"].item() == "[1,2]"
    for_csv(table)


@pytest.mark.parametrize(
    "text",
    [
        "",
        1,
        40,
        -3,
        -20,
        "[1, 2]",
        "[" * 100_000,
        "9" * 5000,
        '{"digest": "", "row": {"settings": {"a": "\\ud800"}}}',
        '{"row": {}}',
    ],
    ids=lambda text: str(text)[:20],
)
def test_what_is_no_result_is_done_again(tmp_path, text):
    swept(tmp_path, done, 4)
    first, *_ = sorted(tmp_path.glob("runs/*/*.json"))
    first.write_text(text if isinstance(text, str) else first.read_text()[:text])
    again, table = swept(tmp_path, done, 4)
    assert len(again.seen) == 1 and sorted(table["n"]) == [0, 1, 2, 3]


@pytest.mark.parametrize("change", [{"energy": 1.5}, {"seconds": "1.5 s"}], ids=["more", "another type"])
def test_a_row_of_another_version_is_refused_and_not_overwritten(tmp_path, change):
    swept(tmp_path, done, 2)
    first, *_ = sorted(tmp_path.glob("runs/*/*.json"))
    text = canonical(json.loads(first.read_text("utf8"))["row"] | change)
    first.write_text(f'{{"digest":"{digest(text)}","row":{text}}}')
    before = first.read_bytes()
    with pytest.raises(
        NotebookError, match=rf"{first}: found a row with another .{next(iter(change))}.*another folder"
    ):
        swept(tmp_path, done, 2)
    assert first.read_bytes() == before


@pytest.mark.parametrize(("step", "code"), [("replace", errno.ENOSPC), ("write_text", errno.EACCES)])
def test_a_writer_that_fails_leaves_no_draft_and_names_the_folder(tmp_path, monkeypatch, step, code):
    def fails(path, *_, **__):
        raise OSError(code, "no", path)

    monkeypatch.setattr(Path, step, fails)
    with pytest.raises(OSError, match="no") as caught:
        Store(tmp_path).keep(row())
    assert caught.value.filename == str(tmp_path / "runs" / KEY[:2]) and caught.value.errno == code
    assert not list(tmp_path.rglob(".draft-*"))


def test_a_changed_file_or_one_under_another_name_is_no_result(tmp_path):
    store = Store(tmp_path)
    store.keep(row(values={"x": 1}))
    (path,) = tmp_path.glob("runs/*/*.json")
    path.with_name("abcd" * 8 + ".json").write_bytes(path.read_bytes())
    path.write_text(path.read_text().replace('"x":1', '"x":2'))
    assert store.row(KEY) is None and store.row("abcd" * 8) is None


def test_files_have_the_rights_that_the_umask_gives(tmp_path):
    before = os.umask(0o022)
    try:
        Store(tmp_path).keep(row())
        with Store(tmp_path).alone():
            pass
    finally:
        os.umask(before)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o644} and len(files) == 2


def test_a_value_has_one_text_in_whatever_order_it_comes(tmp_path):
    for values in ({"b": 1, "a": [2], "α": 3}, {"α": 3, "a": [2], "b": 1}):
        Store(tmp_path / str(len(os.listdir(tmp_path)))).keep(row(values=values))
    one, other = (path.read_text("utf8") for path in tmp_path.rglob("*.json"))
    assert one == other and json.loads(one)["row"]["values"]["α"] == 3
